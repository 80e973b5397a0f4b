// What a person reads of an agent's text.
import { type Binding, type SendAction, type OpenAction, terminalActions } from "@acp-master/proposal-channel";
import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { cardOf, modesOf } from "../../src/proposals/card.ts";
import { visibleLines } from "../../src/proposals/visible-text.ts";

const binding: Binding = {
  sessionId: "s",
  epoch: 0,
  turnId: "t",
  origin: "terminal_agent",
  target: "%1",
  trigger: undefined,
  arming: "required",
};
const choiceOf = (...actions: (SendAction | OpenAction)[]) => ({
  choice: 2,
  title: "T\u200b",
  rationale: "a\nb",
  actions,
});

test("every text of a card is visible as it is, and cut at line feeds where it would be typed", () => {
  const typed = { type: "send", input: "echo \u2066a\u00adb\u{e0041}\nls" } as const;
  const opened = { type: "open", target: "panel", title: "x\u200d", direction: "right" } as const;
  const staged = {
    proposal: { origin: "x", recommended: undefined, choices: [choiceOf(typed, opened)] },
    highlighted: 2,
  };
  const facts = { sessionId: "s", proposalId: "p", binding, staged, agent: "a\u0007", cwd: "/w\u202e", deadline: 5 };
  expect(cardOf(facts, terminalActions)).toEqual({
    proposalId: "p",
    sessionId: "s",
    agent: "a\\u{7}",
    cwd: "/w\\u{202E}",
    origin: "terminal_agent",
    target: "%1",
    choices: [
      {
        choice: 2,
        title: "T\\u{200B}",
        rationale: "a\\u{A}b",
        actions: [
          { type: "send", lines: ["echo \\u{2066}a\\u{AD}b\\u{E0041}", "ls"] },
          { type: "open", lines: ['open a panel named "x\\u{200D}" (right)'] },
        ],
        modes: ["run"],
      },
    ],
    recommended: 2,
    deadline: 5,
    detached: false,
  });
});

test("whatever an agent writes, no control, format or direction character is left in a line", () => {
  assert(
    property(string({ unit: "binary" }), (text) => {
      for (const line of visibleLines(text)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u);
    }),
  );
});

const send = (input: string): SendAction => ({ type: "send", input });

test("inserting is offered for one line that is typed, and for nothing else", () => {
  const open = { type: "open", target: "tab" } as const;
  expect(modesOf(choiceOf(send("ls")), terminalActions)).toEqual(["run", "insert"]);
  expect(modesOf(choiceOf(open, send("ls")), terminalActions)).toEqual(["run", "insert"]);
  expect(modesOf(choiceOf(send("ls"), send("a\nb")), terminalActions)).toEqual(["run"]);
  expect(modesOf(choiceOf(open), terminalActions)).toEqual(["run"]);
});
