// The order in which updates may be shown.
import { expect, it } from "vitest";
import { TranscriptOrder } from "../src/sessions/transcript-order.ts";

const taken = (order: TranscriptOrder, ...updates: object[]): object[] =>
  updates.flatMap((update) => order.take({ update }));
const user = (text: string): object => ({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
const call = (sessionUpdate: string, status: string | undefined, more: object = {}): object => ({
  sessionUpdate,
  toolCallId: "t",
  ...(status === undefined ? {} : { status }),
  ...more,
});

it("a prompt of several blocks ends the turn before it once; calls left open are told as failed", () => {
  const order = new TranscriptOrder();
  taken(order, user("1"), call("tool_call", "in_progress", { title: "T" }));
  expect(taken(order, user("2"), user("3"))).toEqual([
    { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" },
    user("2"),
    user("3"),
  ]);
  // The next turn's call of that id is a new one.
  expect(taken(order, call("tool_call_update", "completed"))).toMatchObject([
    { sessionUpdate: "tool_call", title: "t" },
  ]);
});

it("statuses never go back, and the first last one stays", () => {
  const order = new TranscriptOrder();
  const shown = taken(
    order,
    call("tool_call", "in_progress", { title: "T" }),
    call("tool_call_update", "pending"),
    call("tool_call_update", undefined, { title: "U" }),
    call("tool_call_update", "completed"),
    call("tool_call_update", "failed"),
    call("tool_call", "pending", { title: "again" }),
  );
  expect(shown.map((each) => ("status" in each ? each.status : undefined))).toEqual([
    "in_progress",
    "in_progress",
    "in_progress",
    "completed",
    "completed",
    "pending",
  ]);
});

it("what is no tool call, or none that has an id, passes as it is", () => {
  const order = new TranscriptOrder();
  const odd = [
    { sessionUpdate: "tool_call", toolCallId: 7 },
    { sessionUpdate: "tool_call_update" },
    { sessionUpdate: "new", a: [1] },
    { sessionUpdate: "plan", entries: null },
  ];
  expect(taken(order, ...odd)).toEqual(odd);
  expect(order.take({ update: "none" })).toEqual([{ sessionUpdate: "" }]);
  expect(order.take({})).toEqual([{ sessionUpdate: "" }]);
});
