// A decision to record; everything in it follows from its number.
import type { DecisionLine } from "../../src/audit/record.ts";

export function decisionNumber(number: number, changes: Partial<DecisionLine> = {}): DecisionLine {
  return {
    approvalId: `approval-${number}`,
    sessionId: "session-1",
    agent: "demo",
    toolCallId: `call-${number}`,
    paramsDigest: "ab".repeat(32),
    options: [
      { optionId: "yes", kind: "allow_once" },
      { optionId: "no", kind: "reject_once" },
    ],
    shownTo: ["client-1", "client-2"],
    outcome: { result: "selected", optionId: "yes" },
    by: { kind: "client", name: "editor" },
    preset: "ask",
    askedAt: 1_700_000_000_000 + number,
    latencyMs: number,
    ...changes,
  };
}
