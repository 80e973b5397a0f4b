// Which option automatic deciders may take.
import { describe, expect, it } from "vitest";
import { allowOption, checkHelperChoice, grants, refuse } from "../src/choice.ts";
import type { TicketOption } from "../src/choice.ts";

/** "a:allow_once n:reject_once" */
function list(text: string): TicketOption[] {
  return text.split(" ").map((part) => {
    const [optionId = "", kind = ""] = part.split(":");
    return { optionId, kind };
  });
}

describe("allowOption", () => {
  it.each([
    ["a:allow_once n:reject_once", "a"],
    ["A:allow_always a:allow_once n:reject_once", "a"],
    ["p:allow_persistent a:allow_once", "a"],
    [":allow_once a:allow_once", "a"],
    ["a:allow_once b:allow_once", undefined],
    ["A:allow_always n:reject_once", undefined],
    ["p:allow_persistent", undefined],
    [":allow_once", undefined],
    ["a:allow_once a:reject_once", undefined],
    ["a:ALLOW_ONCE", undefined],
  ])("of %s takes %s", (options, expected) => {
    expect(allowOption(list(options))).toBe(expected);
  });
});

describe("refuse", () => {
  it.each([
    ["a:allow_once n:reject_once", "n"],
    ["N:reject_always n:reject_once", "n"],
    ["a:allow_once N:reject_always", "N"],
    ["n:reject_once m:reject_once N:reject_always", "N"],
    ["n:reject_once m:reject_once", undefined],
    ["m:reject_once n:reject_once", undefined],
    ["a:allow_once A:allow_always", undefined],
    [":reject_once", undefined],
    ["n:reject_once n:allow_once", undefined],
    ["n:reject_once n:surprise N:reject_always", "N"],
  ])("of %s takes %s", (options, expected) => {
    const answer = expected === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: expected };
    expect(refuse(list(options))).toEqual(answer);
  });

  it("of no options at all is cancelled", () => {
    expect(refuse([])).toEqual({ outcome: "cancelled" });
  });
});

describe("checkHelperChoice", () => {
  const options = list("a:allow_once A:allow_always n:reject_once N:reject_always p:surprise");

  it.each([
    ["a", { ok: true, grants: true }],
    ["n", { ok: true, grants: false }],
    ["N", { ok: true, grants: false }],
    ["A", { ok: false, fault: "allow_is_not_the_only_allow_once" }],
    ["p", { ok: false, fault: "allow_is_not_the_only_allow_once" }],
    ["x", { ok: false, fault: "option_not_offered" }],
    ["", { ok: false, fault: "option_not_offered" }],
  ])("judges %s", (optionId, expected) => {
    expect(checkHelperChoice(options, optionId)).toEqual(expected);
  });

  it("takes one of two allow_once for a fault", () => {
    expect(checkHelperChoice(list("a:allow_once b:allow_once"), "a").ok).toBe(false);
  });
});

describe("grants", () => {
  it("calls only what is known to be a reject no grant", () => {
    const options = list("a:allow_once n:reject_once p:surprise d:reject_once d:allow_once");
    expect(["a", "p", "d", "unknown"].filter((optionId) => grants(options, optionId))).toHaveLength(4);
    expect(grants(options, "n")).toBe(false);
  });
});
