import { describe, expect, test } from "vitest";
import { terminalActions } from "../src/action-type.ts";
import { readPayload } from "../src/payload.ts";
import { bytes } from "./channels.ts";

const send = { type: "send", input: "ls" };
const choice = { choice: 1, title: "List", actions: [send] };
const good = { schema_version: 1, origin: "terminal_agent", choices: [choice] };

function read(value: unknown): string {
  const result = readPayload(bytes(typeof value === "string" ? value : JSON.stringify(value)), terminalActions);
  return result.ok ? "ok" : result.status;
}

function withAction(action: object): object {
  return { ...good, choices: [{ ...choice, actions: [action] }] };
}

test("a proposal is read with its defaults", () => {
  const value = {
    ...good,
    recommended_choice: null,
    choices: [choice, { ...choice, choice: 2, actions: [{ type: "open_and_send", target: "tab", input: "x" }] }],
  };
  expect(readPayload(bytes(JSON.stringify(value)), terminalActions)).toEqual({
    ok: true,
    proposal: {
      origin: "terminal_agent",
      recommended: undefined,
      choices: [
        { choice: 1, title: "List", rationale: "", actions: [send] },
        {
          choice: 2,
          title: "List",
          rationale: "",
          actions: [{ type: "open_and_send", target: "tab", input: "x", delegate: false }],
        },
      ],
    },
  });
});

test.each<[string, unknown]>([
  ["send", good],
  ["open a tab", withAction({ type: "open", target: "tab" })],
  [
    "all members",
    withAction({
      type: "open_and_send",
      target: "panel",
      input: "x",
      delegate: true,
      cwd: "/",
      title: "t",
      direction: "right",
      profile: "p",
    }),
  ],
  ["a direction on a tab", withAction({ type: "open", target: "tab", direction: "up" })],
  ["line feeds", withAction({ type: "send", input: "a\nb" })],
  [
    "other spellings of numbers",
    '{"schema_version":1.0,"origin":"o","choices":[{"choice":1e0,"title":"t","actions":[{"type":"send","input":"x"}]}]}',
  ],
  [
    "any order",
    '{"choices":[{"actions":[{"input":"x","type":"send"}],"title":"t","choice":3}],"origin":"o","schema_version":1}',
  ],
  ["an unmatched recommendation", { ...good, recommended_choice: 7 }],
  ["200 characters of two units each", { ...good, choices: [{ ...choice, title: "😀".repeat(200) }] }],
])("%s is a proposal", (_what, value) => {
  expect(read(value)).toBe("ok");
});

describe("no proposal", () => {
  test.each<[string, unknown]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["white space", '{"schema_version": 1}'],
    ["no object", "[]"],
    ["another version", { ...good, schema_version: 2 }],
    ["no version", { origin: "o", choices: [choice] }],
    ["a version as text", { ...good, schema_version: "1" }],
    ["no origin", { schema_version: 1, choices: [choice] }],
    ["no choices", { ...good, choices: [] }],
    ["four choices", { ...good, choices: [1, 2, 3, 4].map((n) => ({ ...choice, choice: n })) }],
    ["a choice twice", { ...good, choices: [choice, choice] }],
    ["choice 0", { ...good, choices: [{ ...choice, choice: 0 }] }],
    ["choice 4", { ...good, choices: [{ ...choice, choice: 4 }] }],
    ["choice 1.5", { ...good, choices: [{ ...choice, choice: 1.5 }] }],
    ["a blank title", { ...good, choices: [{ ...choice, title: " \n" }] }],
    ["a title of 201", { ...good, choices: [{ ...choice, title: "x".repeat(201) }] }],
    ["a rationale of 2001", { ...good, choices: [{ ...choice, rationale: "x".repeat(2001) }] }],
    ["no actions", { ...good, choices: [{ ...choice, actions: [] }] }],
    ["four actions", { ...good, choices: [{ ...choice, actions: [send, send, send, send] }] }],
    ["a blank input", withAction({ type: "send", input: " " })],
    ["an input of 8001", withAction({ type: "send", input: "x".repeat(8001) })],
    ["no input", withAction({ type: "send" })],
    ["an unknown type", withAction({ type: "run", input: "x" })],
    ["a type of Object", withAction({ type: "constructor", input: "x" })],
    ["no type", withAction({ input: "x" })],
    ["an unknown target", withAction({ type: "open", target: "window" })],
    ["an empty direction", withAction({ type: "open", target: "panel", direction: "" })],
    ["an unknown direction", withAction({ type: "open", target: "panel", direction: "north" })],
    ["an empty direction on a tab", withAction({ type: "open", target: "tab", direction: "" })],
    ["delegate as text", withAction({ type: "open_and_send", target: "tab", input: "x", delegate: "yes" })],
    ["delegate on send", withAction({ ...send, delegate: false })],
    ["a recommendation of 1.5", { ...good, recommended_choice: 1.5 }],
  ])("%s", (_what, value) => {
    expect(read(value)).toBe("invalid_schema");
  });

  test.each(["session_id", "pane", "pane_id", "window", "tab_id", "parent", "agent", "helper", "id", "extra"])(
    "with %s at any level",
    (key) => {
      expect(read({ ...good, [key]: "x" })).toBe("invalid_schema");
      expect(read({ ...good, choices: [{ ...choice, [key]: "x" }] })).toBe("invalid_schema");
      expect(read(withAction({ ...send, [key]: "x" }))).toBe("invalid_schema");
      expect(read(withAction({ type: "open", target: "tab", [key]: "x" }))).toBe("invalid_schema");
    },
  );

  test("with __proto__ at any level", () => {
    const text = JSON.stringify(good);
    expect(read(text.replace('"input"', '"__proto__":{},"input"'))).toBe("invalid_schema");
    expect(read(text.replace('"origin"', '"__proto__":{"x":1},"origin"'))).toBe("invalid_schema");
  });

  test("as deep as it is long", () => {
    expect(read(`{"schema_version":1,"origin":"o","choices":${"[".repeat(4000)}${"]".repeat(4000)}}`)).toBe(
      "invalid_schema",
    );
  });
});

test.each(["\r", "\t", "\u0000", "\u001b[31m", "\u007f", "\u009b31m", "\u202e", "\u2066", "\u200f", "\u061c"])(
  "a text with %j is rejected wherever it is",
  (control) => {
    const text = `a${control}b`;
    expect(read({ ...good, choices: [{ ...choice, title: text }] })).toBe("rejected");
    expect(read({ ...good, choices: [{ ...choice, rationale: text }] })).toBe("rejected");
    expect(read(withAction({ type: "send", input: text }))).toBe("rejected");
    for (const key of ["cwd", "title", "profile"]) {
      expect(read(withAction({ type: "open", target: "tab", [key]: text }))).toBe("rejected");
    }
  },
);

test("what is said to the agent names the place and is short", () => {
  const result = readPayload(bytes(JSON.stringify(withAction({ type: "send", input: 5 }))), terminalActions);
  expect(result).toMatchObject({ ok: false, reason: expect.stringMatching(/^choices\.0\.actions\.0\.input: /) });
  const long = readPayload(bytes(JSON.stringify({ ...good, ["x".repeat(5000)]: 1 })), terminalActions);
  expect(long.ok ? "" : long.reason.length).toBeLessThanOrEqual(300);
});

test("kinds of actions can be added", () => {
  const [first] = terminalActions;
  if (first === undefined) throw new Error("expected kinds");
  expect(readPayload(bytes(JSON.stringify(withAction({ type: "open", target: "tab" }))), [first]).ok).toBe(false);
});
