// A session's updates as rows.
import { describe, expect, it } from "vitest";
import { Transcript, type Row } from "../../page/src/model/transcript.ts";

const text = (kind: string, value: string, messageId?: string) => ({
  sessionUpdate: kind,
  content: { type: "text", text: value },
  ...(messageId === undefined ? {} : { messageId }),
});
const call = (fields: object) => ({ sessionUpdate: "tool_call", toolCallId: "1", title: "run", ...fields });
const more = (fields: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "1", ...fields });

function rowsOf(...updates: object[]): readonly Row[] {
  const transcript = new Transcript();
  for (const update of updates) transcript.add(update);
  return transcript.rows;
}
const short = (rows: readonly Row[]) =>
  rows.map((row) =>
    row.type === "text"
      ? `${row.speaker}${row.begins ? "*" : ""}: ${row.text}`
      : row.type === "call"
        ? `call ${row.call.status}`
        : row.type,
  );

const plan = (content: string) => ({
  sessionUpdate: "plan",
  entries: [{ content, status: "pending", priority: "high" }],
});

describe("a transcript", () => {
  it("joins the chunks of one message", () => {
    const rows = rowsOf(text("agent_message_chunk", "Hel"), text("agent_message_chunk", "lo"));
    expect(short(rows)).toEqual(["agent*: Hello"]);
  });

  it("replaces a row that grows, so that others need no second look", () => {
    const transcript = new Transcript();
    transcript.add(text("agent_message_chunk", "one\n\ntwo\n"));
    const [first, second] = transcript.rows;
    transcript.add(text("agent_message_chunk", " more"));
    expect(transcript.rows[0]).toBe(first);
    expect(transcript.rows[1]).not.toBe(second);
    expect(short(transcript.rows)).toEqual(["agent*: one\n\n", "agent: two\n more"]);
  });

  it("begins a message where the speaker or the message's id changes", () => {
    const rows = rowsOf(
      text("user_message_chunk", "go"),
      text("agent_thought_chunk", "hm"),
      text("agent_message_chunk", "a", "m1"),
      text("agent_message_chunk", "b", "m1"),
      text("agent_message_chunk", "c", "m2"),
    );
    expect(short(rows)).toEqual(["person*: go", "thought*: hm", "agent*: ab", "agent*: c"]);
  });

  it("begins a message behind a tool call", () => {
    const rows = rowsOf(
      text("agent_message_chunk", "a"),
      call({ status: "pending" }),
      text("agent_message_chunk", "b"),
    );
    expect(short(rows)).toEqual(["agent*: a", "call pending", "agent*: b"]);
  });

  it("changes a call's row in its place", () => {
    const rows = rowsOf(
      call({ status: "pending", rawInput: { a: 1 } }),
      text("agent_message_chunk", "x"),
      more({ status: "completed" }),
    );
    expect(short(rows)).toEqual(["call completed", "agent*: x"]);
    expect(rows[0]).toMatchObject({ call: { title: "run", input: { a: 1 } } });
  });

  it("takes an announcement after the end as another call, and a later word as the same", () => {
    const rows = rowsOf(
      call({ status: "completed" }),
      more({ rawOutput: "out" }),
      call({ status: "pending", title: "again" }),
      more({ status: "failed" }),
    );
    expect(short(rows)).toEqual(["call completed", "call failed"]);
    expect(rows[0]).toMatchObject({ call: { output: "out" } });
  });

  it("keeps one plan for a turn", () => {
    const rows = rowsOf(
      text("user_message_chunk", "1"),
      plan("a"),
      plan("b"),
      text("agent_message_chunk", "x"),
      text("user_message_chunk", "2"),
      plan("c"),
    );
    expect(short(rows)).toEqual(["person*: 1", "plan", "agent*: x", "person*: 2", "plan"]);
    expect(rows[1]).toMatchObject({ entries: [{ content: "b" }] });
  });

  it("gives pictures rows of their own and goes on behind them", () => {
    const picture = {
      sessionUpdate: "agent_message_chunk",
      content: { type: "image", data: "AA==", mimeType: "image/png" },
    };
    const rows = rowsOf(text("agent_message_chunk", "a"), picture, text("agent_message_chunk", "b"));
    expect(short(rows)).toEqual(["agent*: a", "block", "agent: b"]);
  });

  it("leaves out what is no part of the conversation, and survives nonsense", () => {
    const rows = rowsOf(
      { sessionUpdate: "usage_update", used: 1 },
      { sessionUpdate: "what_is_this" },
      { sessionUpdate: "agent_message_chunk" },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: 7 } },
      { sessionUpdate: "plan", entries: "no" },
      { sessionUpdate: "tool_call", toolCallId: 3, content: [null, 5, { type: "diff" }] },
    );
    expect(rows.map((row) => row.type)).toEqual(["block", "plan", "call"]);
  });

  it("finds the call that was last announced under an id", () => {
    const transcript = new Transcript();
    transcript.add(call({ status: "completed", title: "first" }));
    transcript.add(call({ status: "pending", title: "second" }));
    expect(transcript.callOf("1")?.title).toBe("second");
    expect(transcript.callOf("2")).toBeUndefined();
  });

  it("keeps a bounded number of rows, and changes those that are left in their place", () => {
    const transcript = new Transcript({ rows: 100, characters: 1_000_000 });
    for (let at = 0; at < 1_000; at += 1)
      transcript.add(call({ toolCallId: `c${at}`, status: "pending", title: `${at}` }));
    expect(transcript.rows.length).toBeLessThanOrEqual(100);
    expect(transcript.left + transcript.rows.length).toBe(1_000);
    transcript.add(more({ toolCallId: "c999", status: "completed" }));
    expect(transcript.rows.at(-1)).toMatchObject({ call: { title: "999", status: "completed" } });
    const before = transcript.rows.length;
    transcript.add(more({ toolCallId: "c1", status: "completed" }));
    expect(transcript.rows.length).toBe(before + 1);
  });

  it("keeps a bounded number of characters", () => {
    const transcript = new Transcript({ rows: 1_000, characters: 100_000 });
    for (let at = 0; at < 2_000; at += 1) transcript.add(text("agent_message_chunk", `${"word ".repeat(20)}\n\n`));
    const kept = transcript.rows.reduce((sum, row) => sum + (row.type === "text" ? row.text.length : 0), 0);
    expect(kept).toBeLessThanOrEqual(100_000);
    expect(kept).toBeGreaterThan(50_000);
  });
});
