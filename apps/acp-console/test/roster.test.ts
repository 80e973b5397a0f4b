// The roster's order of things: an answer that was on its way brings nothing back that is over.
import { expect, it } from "vitest";
import { Roster } from "../src/daemon/roster.ts";
import type { ServerMessage } from "../src/protocol.ts";

interface Told {
  readonly roster: Roster;
  readonly told: ServerMessage[];
  /** The answers that are awaited, by approval. */
  readonly answers: Map<string, (row: unknown) => void>;
}

function roster(): Told {
  const told: ServerMessage[] = [];
  const answers = new Map<string, (row: unknown) => void>();
  const made = new Roster({
    tell: (message) => told.push(message),
    approval: (approvalId) => new Promise((resolve) => answers.set(approvalId, resolve)),
    removed: () => {},
    reviewsChanged: () => {},
  });
  made.load([], []);
  return { roster: made, told, answers };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const row = (approvalId: string): object => ({ approvalId, sessionId: "s", options: [], params: {} });
const requested = (approvalId: string): { [member: string]: unknown } => ({ type: "approval_requested", approvalId });
const resolved = (approvalId: string): { [member: string]: unknown } => ({
  type: "approval_resolved",
  approvalId,
  sessionId: "s",
  outcome: { result: "expired" },
  by: { kind: "expiry", name: "" },
});

it("tells of an approval when its contents are there", async () => {
  const { roster: own, told, answers } = roster();
  own.event(requested("1"));
  own.event(requested("1"));
  expect(told).toEqual([]);
  answers.get("1")?.(row("1"));
  await turn();
  expect(told.map(({ type }) => type)).toEqual(["approval"]);
  expect(own.approval("1")).toMatchObject({ approvalId: "1" });
});

it("keeps one that was resolved before its contents came away", async () => {
  const { roster: own, told, answers } = roster();
  own.event(requested("1"));
  own.event(resolved("1"));
  answers.get("1")?.(row("1"));
  await turn();
  expect(told.map(({ type }) => type)).toEqual(["approval_resolved"]);
  expect(own.approvals).toEqual([]);
});

it("takes nothing of an earlier generation over", async () => {
  const { roster: own, told, answers } = roster();
  own.load([{ sessionId: "s", review: "/r" }], [row("old")]);
  own.event(requested("late"));
  const listed = own.listed("never");
  own.end();
  await listed;
  expect(own.approvals).toEqual([]);
  expect(own.sessions.map(({ sessionId }) => sessionId)).toEqual(["s"]);
  expect(own.reviewPaths.size).toBe(0);
  answers.get("late")?.(row("late"));
  await turn();
  own.load([], []);
  answers.get("late")?.(row("late"));
  await turn();
  expect(told).toEqual([]);
  expect(own.approvals).toEqual([]);
  expect(own.sessions).toEqual([]);
});
