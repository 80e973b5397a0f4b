// Cards for tests.
import type { Card, CardChoice } from "@acp-master/helper-sdk/review";

export const choice = (over: Partial<CardChoice> = {}): CardChoice => ({
  choice: 1,
  title: "List the files",
  rationale: "You asked for them.",
  actions: [{ type: "send", lines: ["ls -l"] }],
  modes: ["run", "insert"],
  ...over,
});

export const card = (over: Partial<Card> = {}): Card => ({
  proposalId: "4c5a1f8e-8a55-4a2f-9d3b-0f6a3f1c2d11",
  sessionId: "s1",
  agent: "claude",
  cwd: "/work",
  origin: "terminal_agent",
  target: "%3@77",
  choices: [choice()],
  recommended: 1,
  deadline: 1_900_000_000_000,
  detached: false,
  ...over,
});
