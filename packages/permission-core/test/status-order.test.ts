// Statuses never run backwards and the first terminal one stays.
import { describe, expect, it } from "vitest";
import { isTerminal, nextStatus, statusAfter, statusRank } from "../src/status-order.ts";

describe("nextStatus", () => {
  it.each([
    [undefined, "pending", "pending"],
    [undefined, undefined, undefined],
    ["pending", "in_progress", "in_progress"],
    ["in_progress", "pending", "in_progress"],
    ["in_progress", "later", "in_progress"],
    [undefined, "later", "later"],
    ["later", "pending", "pending"],
    ["pending", "completed", "completed"],
    ["pending", "constructor", "pending"],
  ])("after %s comes %s: %s is shown", (last, incoming, shown) => {
    expect(nextStatus(last, incoming)).toBe(shown);
  });

  it("completed never becomes failed, nor the other way round", () => {
    for (const incoming of ["pending", "in_progress", "completed", "failed", "later", "", undefined]) {
      expect(nextStatus("completed", incoming)).toBe("completed");
      expect(nextStatus("failed", incoming)).toBe("failed");
    }
  });

  it("an empty status is not a step back", () => {
    expect(nextStatus("in_progress", "")).toBe("in_progress");
    expect(nextStatus("in_progress", undefined)).toBe("in_progress");
  });

  it("never lowers the rank, whatever the order of five statuses", () => {
    const words = [undefined, "", "later", "pending", "in_progress", "completed", "failed"];
    for (const one of words)
      for (const two of words)
        for (const three of words) {
          let last = nextStatus(nextStatus(undefined, one), two);
          const before = statusRank(last);
          last = nextStatus(last, three);
          expect(statusRank(last)).toBeGreaterThanOrEqual(before);
        }
  });
});

describe("statusAfter", () => {
  it("a new tool_call after a terminal status begins a new call under that id", () => {
    expect(statusAfter("failed", { sessionUpdate: "tool_call", status: "pending" })).toBe("pending");
    expect(statusAfter("completed", { sessionUpdate: "tool_call", status: undefined })).toBeUndefined();
  });

  it("a tool_call in mid-call and an update after the end begin nothing", () => {
    expect(statusAfter("in_progress", { sessionUpdate: "tool_call", status: "pending" })).toBe("in_progress");
    expect(statusAfter("completed", { sessionUpdate: "tool_call_update", status: "pending" })).toBe("completed");
  });
});

it("isTerminal knows the two last statuses", () => {
  expect(["completed", "failed"].every(isTerminal)).toBe(true);
  expect(["pending", "in_progress", "", undefined, "later"].some(isTerminal)).toBe(false);
});
