// What a page's frame is taken for.
import { expect, it } from "vitest";
import { readRequest } from "../src/browsers/read-request.ts";

const read = (value: unknown): unknown => readRequest(typeof value === "string" ? value : JSON.stringify(value));

it.each([
  { id: 0, op: "ping" },
  { id: 1, op: "attach", sessionId: "s" },
  {
    id: 2,
    op: "prompt",
    sessionId: "s",
    content: [
      { type: "text", text: "x" },
      { type: "image", data: "AA==" },
    ],
  },
  {
    id: 3,
    op: "answer",
    answers: [
      { approvalId: "a", optionId: "" },
      { approvalId: "b", refuse: true },
    ],
  },
  { id: 4, op: "elicitation", elicitation: "e", action: "accept", content: { a: "x", b: 1, c: true, d: ["y"] } },
  { id: 5, op: "card.decide", proposalId: "p", decision: "confirm", choice: 1, mode: "insert" },
  { id: 6, op: "card.decide", proposalId: "p", decision: "cancel" },
  { id: 7, op: "preset", sessionId: "s", preset: "p", confirm: true },
])("takes %j", (request) => {
  expect(read(request)).toEqual({ ok: true, request });
});

it.each([
  ["", undefined],
  ["{", undefined],
  ["null", undefined],
  ["[]", undefined],
  ['"x"', undefined],
  [{ op: "ping" }, undefined],
  [{ id: "1", op: "ping" }, undefined],
  [{ id: -1, op: "ping" }, undefined],
  [{ id: 1.5, op: "ping" }, undefined],
  [{ id: 2 ** 60, op: "ping" }, undefined],
  [{ id: 1 }, 1],
  [{ id: 1, op: "none" }, 1],
  [{ id: 1, op: "ping", more: 1 }, 1],
  [{ id: 1, op: "attach" }, 1],
  [{ id: 1, op: "attach", sessionId: "" }, 1],
  [{ id: 1, op: "prompt", sessionId: "s", content: [] }, 1],
  [{ id: 1, op: "prompt", sessionId: "s", content: ["x"] }, 1],
  [{ id: 1, op: "answer", answers: [] }, 1],
  [{ id: 1, op: "answer", answers: [{ approvalId: "a", optionId: "x", refuse: true }] }, 1],
  [{ id: 1, op: "answer", answers: [{ approvalId: "a", refuse: false }] }, 1],
  [{ id: 1, op: "card.decide", proposalId: "p", decision: "confirm" }, 1],
  [{ id: 1, op: "card.decide", proposalId: "p", decision: "cancel", choice: 1 }, 1],
  [{ id: 1, op: "preset", sessionId: "s", preset: "p", confirm: "true" }, 1],
])("does not take %j, and knows whom to tell", (frame, id) => {
  expect(read(frame)).toEqual({ ok: false, id });
});
