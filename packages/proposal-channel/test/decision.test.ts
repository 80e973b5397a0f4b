import { describe, expect, test } from "vitest";
import { terminalActions } from "../src/action-type.ts";
import type { Binding } from "../src/book.ts";
import { type Abilities, type Situation, autofixPolicy, decideProposal, terminalAgentPolicy } from "../src/decision.ts";
import { bytes } from "./channels.ts";

const binding: Binding = {
  sessionId: "s",
  epoch: 0,
  turnId: "t",
  origin: "terminal_agent",
  target: "%1",
  trigger: undefined,
  arming: "required",
};
const situation = { isCardUp: false, runningTurn: "t", trigger: undefined };
const abilities: Abilities = {
  actionTypes: terminalActions,
  origins: [terminalAgentPolicy, autofixPolicy],
  hasDelegate: false,
  profiles: ["dev"],
  ownTarget: "%9",
};

const send = { type: "send", input: "ls" };
function payload(choices: object[], changes: object = {}): Uint8Array {
  const numbered = choices.map((actions, index) => ({ choice: index + 1, title: `c${index + 1}`, actions }));
  return bytes(JSON.stringify({ schema_version: 1, origin: "terminal_agent", choices: numbered, ...changes }));
}

function decide(
  of: Uint8Array,
  changes: { binding?: Partial<Binding>; situation?: Situation | "unknown"; abilities?: Partial<Abilities> } = {},
): unknown {
  const decision = decideProposal(of, {
    binding: { ...binding, ...changes.binding },
    situation: changes.situation === "unknown" ? undefined : (changes.situation ?? situation),
    abilities: { ...abilities, ...changes.abilities },
  });
  if (decision.ok)
    return {
      choices: decision.staged.proposal.choices.map((each) => each.choice),
      highlighted: decision.staged.highlighted,
    };
  const { status, retryable, reason } = decision.refusal;
  return [status, retryable, reason];
}

const good = payload([[send]]);

test("the order of the checks: session, card, turn, trigger, form, policy", () => {
  const bad = bytes("{");
  expect(decide(bad, { situation: "unknown" })).toEqual(["unavailable", false, expect.any(String)]);
  expect(decide(bad, { situation: { ...situation, isCardUp: true, runningTurn: "u" } })).toEqual([
    "already_consumed",
    false,
    expect.any(String),
  ]);
  expect(decide(bad, { situation: { ...situation, runningTurn: "u" } })).toEqual(["stale", false, expect.any(String)]);
  expect(decide(bad, { situation: { ...situation, runningTurn: undefined } })).toEqual([
    "stale",
    false,
    expect.any(String),
  ]);
  expect(decide(bad)).toEqual(["invalid_schema", true, expect.any(String)]);
  expect(decide(payload([[send]], { schema_version: 2 }))).toEqual([
    "invalid_schema",
    true,
    "schema_version must be 1",
  ]);
  expect(decide(payload([[send]], { origin: "autofix" }))).toEqual([
    "rejected",
    false,
    "the origin is not that of this turn",
  ]);
});

test("an origin without a policy is rejected", () => {
  expect(decide(payload([[send]], { origin: "other" }), { binding: { origin: "other" } })).toEqual([
    "rejected",
    false,
    expect.any(String),
  ]);
});

describe("terminal_agent", () => {
  test("highlights the recommended choice, or the first", () => {
    const two = [[send], [send]];
    expect(decide(payload(two, { recommended_choice: 2 }))).toEqual({ choices: [1, 2], highlighted: 2 });
    expect(decide(payload(two, { recommended_choice: 3 }))).toEqual({ choices: [1, 2], highlighted: 1 });
    expect(decide(payload(two, { recommended_choice: null }))).toEqual({ choices: [1, 2], highlighted: 1 });
    expect(decide(good)).toEqual({ choices: [1], highlighted: 1 });
  });

  test("needs the bound target for send and every panel, and none for tabs", () => {
    const none = { binding: { target: undefined } };
    const noPane = ["rejected", false, "no active pane"];
    expect(decide(good, none)).toEqual(noPane);
    expect(decide(payload([[{ type: "open", target: "panel" }]]), none)).toEqual(noPane);
    expect(decide(payload([[{ type: "open_and_send", target: "panel", input: "x" }]]), none)).toEqual(noPane);
    expect(decide(payload([[{ type: "open", target: "tab" }], [send]]), none)).toEqual(noPane);
    expect(decide(payload([[{ type: "open", target: "tab" }]]), none)).toMatchObject({ choices: [1] });
    expect(decide(payload([[{ type: "open_and_send", target: "tab", input: "x" }]]), none)).toMatchObject({
      choices: [1],
    });
  });

  test("knows delegates and profiles only as configured", () => {
    const delegate = payload([[{ type: "open_and_send", target: "tab", input: "x", delegate: true }]]);
    expect(decide(delegate)).toEqual(["rejected", false, expect.any(String)]);
    expect(decide(delegate, { abilities: { hasDelegate: true } })).toMatchObject({ choices: [1] });
    expect(decide(payload([[{ type: "open", target: "tab", profile: "dev" }]]))).toMatchObject({ choices: [1] });
    expect(decide(payload([[{ type: "open", target: "tab", profile: "root" }]]))).toEqual([
      "rejected",
      false,
      expect.any(String),
    ]);
  });

  test("takes out choices that would type into the Helper's own pane, and rejects when none is left", () => {
    const own = { binding: { target: "%9" } };
    expect(decide(payload([[send], [{ type: "open", target: "panel" }]], { recommended_choice: 1 }), own)).toEqual({
      choices: [2],
      highlighted: 2,
    });
    expect(decide(good, own)).toEqual(["rejected", false, expect.any(String)]);
    expect(decide(good, { binding: { target: undefined }, abilities: { ownTarget: undefined } })).toEqual([
      "rejected",
      false,
      "no active pane",
    ]);
  });
});

const ofAutofix = (choices: object[], changes: object = {}) => payload(choices, { origin: "autofix", ...changes });

describe("autofix", () => {
  const fix = { binding: { origin: "autofix", trigger: 3 }, situation: { ...situation, trigger: 3 } };

  test("takes exactly one choice with one line to send, and recommends it", () => {
    expect(decide(ofAutofix([[send]], { recommended_choice: 3 }), fix)).toEqual({ choices: [1], highlighted: 1 });
    for (const choices of [
      [[send], [send]],
      [[send, send]],
      [[{ type: "open", target: "tab" }]],
      [[{ type: "send", input: "a\nb" }]],
    ]) {
      expect(decide(ofAutofix(choices), fix)).toEqual(["rejected", false, expect.any(String)]);
    }
  });

  test("is stale once another failure is the current one", () => {
    expect(decide(ofAutofix([[send]]), { ...fix, situation: { ...situation, trigger: 4 } })).toEqual([
      "stale",
      false,
      expect.any(String),
    ]);
  });
});
