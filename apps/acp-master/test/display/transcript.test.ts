import { describe, expect, test } from "vitest";
import { Transcript } from "../../src/display/transcript.ts";

function recorded(options: { exact?: boolean; prompts?: boolean } = {}) {
  const out = { text: "", notes: "" };
  const transcript = new Transcript({
    text: (text) => (out.text += text),
    notes: (text) => (out.notes += text),
    exact: options.exact ?? false,
    prompts: options.prompts ?? true,
    surface: {},
  });
  return { out, transcript };
}

const says = (text: string, sessionUpdate = "agent_message_chunk") => ({
  sessionUpdate,
  content: { type: "text", text },
});

describe("Transcript", () => {
  test("joins the chunks of an answer and begins a new line after a tool call", () => {
    const { out, transcript } = recorded();
    for (const text of ["Hel", "lo"]) transcript.update(says(text));
    transcript.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "ls", kind: "execute", status: "pending" });
    transcript.update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
    transcript.update(says("Done"));
    transcript.end();
    expect(out).toEqual({ text: "Hello\nDone\n", notes: "○ ls [execute] pending\n✓ ls completed\n" });
  });

  test("says a status once, however often it is repeated", () => {
    const { out, transcript } = recorded();
    transcript.update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress" });
    transcript.update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress", content: [] });
    expect(out.notes).toBe("… t in_progress\n");
  });

  test("makes hidden characters visible in everything, and leaves an answer alone that must be exact", () => {
    const visible = recorded();
    visible.transcript.update(says("a\u001b[2J\nb"));
    visible.transcript.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "rm\u202e\nx" });
    expect(visible.out).toEqual({ text: "a\\u{1B}[2J\nb\n", notes: "○ rm\\u{202E}\\u{A}x pending\n" });
    const exact = recorded({ exact: true });
    exact.transcript.update(says("a\u001b[2J"));
    exact.transcript.update(says("\u001b", "agent_thought_chunk"));
    expect(exact.out).toEqual({ text: "a\u001b[2J\n", notes: "\\u{1B}" });
  });

  test("shows prompts only where they are wanted", () => {
    const shown = recorded();
    shown.transcript.update(says("do it", "user_message_chunk"));
    shown.transcript.end();
    expect(shown.out.notes).toBe("> do it\n");
    const left = recorded({ prompts: false });
    left.transcript.update(says("do it", "user_message_chunk"));
    expect(left.out.notes).toBe("");
  });

  test("takes any value for an update without failing", () => {
    const { out, transcript } = recorded();
    for (const update of [null, 7, [], {}, { sessionUpdate: "plan", entries: [null] }, says("", "new_kind")]) {
      transcript.update(update);
    }
    expect(out).toEqual({ text: "", notes: "Plan:\n  · \n" });
  });
});
