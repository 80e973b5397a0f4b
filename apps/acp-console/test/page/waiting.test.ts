// What waits for a person: the page's view of it, its order, and how a session's row says so.
import { describe, expect, it } from "vitest";
import type { ApprovalRow, Card, ServerMessage, SessionRow } from "../../src/protocol.ts";
import { dotOf, onceOption, placeOf, queueOf, sessionGroups, waitingCount } from "../../page/src/model/queue.ts";
import { emptyView, nextView, type Happening, type View } from "../../page/src/model/view.ts";

const row = (sessionId: string, fields: Partial<SessionRow> = {}): SessionRow => ({
  sessionId,
  agent: "demo",
  cwd: "/w",
  title: null,
  state: "running",
  preset: "ask",
  clients: [],
  approvals: 0,
  review: false,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  ...fields,
});
const approval = (approvalId: string, sessionId: string, fields: Partial<ApprovalRow> = {}): ApprovalRow => ({
  approvalId,
  sessionId,
  agent: "demo",
  toolCallId: "1",
  options: [{ optionId: "allow", name: "Allow", kind: "allow_once" }],
  askedAt: "2026-01-01T00:00:00Z",
  expiresAt: null,
  params: {},
  ...fields,
});
const card = (proposalId: string, sessionId: string): Card => ({
  proposalId,
  sessionId,
  agent: "demo",
  cwd: "/w",
  origin: "terminal_agent",
  target: null,
  choices: [],
  recommended: 1,
  deadline: 0,
  detached: false,
});
const question = (elicitation: string, sessionId: string) =>
  ({ type: "elicitation", elicitation, sessionId, params: {} }) as const;
const resolved = (approvalId: string) =>
  ({
    type: "approval_resolved",
    approvalId,
    sessionId: "a",
    toolCallId: "1",
    outcome: { result: "selected", optionId: "allow" },
    by: { kind: "client", name: "editor" },
  }) as const;

const begin: readonly ServerMessage[] = [
  { type: "hello", version: "1", role: "controller", maxMessageBytes: 1 },
  { type: "daemon", state: "connected", generation: 1 },
  { type: "sessions", sessions: [row("a"), row("b")], stale: false },
  { type: "approvals", approvals: [] },
  { type: "cards", cards: [], notices: [] },
];
const after = (...messages: readonly (ServerMessage | Happening)[]): View =>
  [...begin, ...messages].reduce(nextView, emptyView);
const keys = (view: View, sessionId: string): string[] => queueOf(view, sessionId).map((each) => each.key);

describe("the view", () => {
  it("knows the sessions and that they are current", () => {
    const view = after();
    expect([...view.sessions.keys()]).toEqual(["a", "b"]);
    expect(view.isStale).toBe(false);
  });

  it("removes an approval when it is resolved, and nothing else removes it", () => {
    const asked = { type: "approval", approval: approval("1", "a") } as const;
    expect(after(asked).approvals).toHaveLength(1);
    expect(after(asked, { type: "reply", id: 1, ok: true, result: {} }).approvals).toHaveLength(1);
    expect(after(asked, resolved("2")).approvals).toHaveLength(1);
    expect(after(asked, resolved("1")).approvals).toHaveLength(0);
  });

  it("never doubles an approval that is told twice", () => {
    const view = after(
      { type: "approval", approval: approval("1", "a") },
      { type: "approval", approval: approval("1", "a", { agent: "other" }) },
    );
    expect(view.approvals.map((each) => each.agent)).toEqual(["other"]);
  });

  it("takes a whole list for the truth", () => {
    const view = after(
      { type: "approval", approval: approval("1", "a") },
      { type: "approvals", approvals: [approval("2", "a")] },
      { type: "sessions", sessions: [row("b")], stale: false },
    );
    expect(keys(view, "a")).toEqual(["approval 2"]);
    expect([...view.sessions.keys()]).toEqual(["b"]);
  });

  it.each([
    ["the connection to the console", { type: "disconnected" }],
    ["the console's link to the daemon", { type: "daemon", state: "offline", generation: 1, problem: "gone" }],
  ] as const)("drops every question when %s ends, and calls its rows stale", (_name, end) => {
    const view = after(
      { type: "approval", approval: approval("1", "a") },
      question("q", "a"),
      { type: "card", card: card("p", "a") },
      end,
    );
    expect(keys(view, "a")).toEqual([]);
    expect(view.isStale).toBe(true);
    expect([...view.sessions.keys()]).toEqual(["a", "b"]);
    const again = nextView(view, end);
    expect(waitingCount(again)).toBe(0);
  });

  it("is current again only with the new lists", () => {
    const offline = after({ type: "daemon", state: "offline", generation: 1 });
    const connected = nextView(offline, { type: "daemon", state: "connected", generation: 2 });
    expect(connected.isStale).toBe(true);
    expect(nextView(connected, { type: "sessions", sessions: [], stale: false }).isStale).toBe(false);
  });

  it("forgets what belonged to a session that is gone", () => {
    const view = after(
      { type: "approval", approval: approval("1", "a") },
      { type: "approval", approval: approval("2", "b") },
      question("q", "a"),
      { type: "card", card: card("p", "a") },
      { type: "session_removed", sessionId: "a" },
    );
    expect(waitingCount(view)).toBe(1);
    expect([...view.sessions.keys()]).toEqual(["b"]);
  });

  it("forgets the forms of a session that is not shown any more", () => {
    const view = after(question("q", "a"), question("r", "b"), { type: "left", sessionId: "a" });
    expect(view.elicitations.map((each) => each.elicitation)).toEqual(["r"]);
  });
});

describe("the queue of a session", () => {
  it("shows questions before permissions and permissions before proposals, each first come, first shown", () => {
    const view = after(
      { type: "card", card: card("p", "a") },
      { type: "approval", approval: approval("1", "a") },
      { type: "approval", approval: approval("x", "b") },
      { type: "approval", approval: approval("2", "a") },
      question("q", "a"),
    );
    expect(keys(view, "a")).toEqual(["question q", "approval 1", "approval 2", "card p"]);
  });

  it("stays at what a person turned to, until it is over", () => {
    const view = after(
      { type: "approval", approval: approval("1", "a") },
      { type: "approval", approval: approval("2", "a") },
    );
    expect(placeOf(queueOf(view, "a"), "approval 2")).toBe(1);
    expect(placeOf(queueOf(nextView(view, resolved("2")), "a"), "approval 2")).toBe(0);
    expect(placeOf(queueOf(view, "a"), undefined)).toBe(0);
  });
});

describe("a session's dot", () => {
  it("says that a person is waited for before it says that work goes on", () => {
    const view = after({ type: "approval", approval: approval("1", "a") });
    expect(dotOf(view, "a")).toEqual({ dot: "waiting", count: 1 });
    expect(dotOf(view, "b")).toEqual({ dot: "running", count: 0 });
    expect(dotOf(nextView(view, resolved("1")), "a")).toEqual({ dot: "running", count: 0 });
  });

  it("lights up for cards and forms, too", () => {
    expect(dotOf(after({ type: "card", card: card("p", "b") }), "b")).toEqual({ dot: "waiting", count: 1 });
    expect(dotOf(after(question("q", "b")), "b")).toEqual({ dot: "waiting", count: 1 });
  });

  it("goes out with the generation", () => {
    const view = after({ type: "approval", approval: approval("1", "a") }, { type: "disconnected" });
    expect(dotOf(view, "a").dot).toBe("running");
  });

  it("says what the row says of a session at rest", () => {
    const view = after({ type: "session", session: row("a", { state: "parked" }) });
    expect(dotOf(view, "a").dot).toBe("parked");
  });
});

const ids = (view: View): string[] => sessionGroups(view).open.map(({ sessionId }) => sessionId);

describe("the list of sessions", () => {
  it("has those with an agent first, the newest on top, and does not move one because something happens in it", () => {
    const rows = [
      row("old", { createdAt: "2026-01-01T00:00:00Z" }),
      row("past", { createdAt: "2026-01-03T00:00:00Z", state: "parked" }),
      row("new", { createdAt: "2026-01-02T00:00:00Z", state: "idle" }),
    ];
    const view = after({ type: "sessions", sessions: rows, stale: false });
    expect(ids(view)).toEqual(["new", "old"]);
    expect(ids(nextView(view, { type: "approval", approval: approval("1", "old") }))).toEqual(["new", "old"]);
    expect(sessionGroups(view).past.map(({ sessionId }) => sessionId)).toEqual(["past"]);
  });
});

describe("allowing several at once", () => {
  it("takes the only option that allows once, and never an always or one of two", () => {
    const once = { kind: "allow_once", optionId: "a" };
    const always = { kind: "allow_always", optionId: "b" };
    expect(onceOption([always, once])).toBe(once);
    expect(onceOption([once, { ...once, optionId: "c" }])).toBeUndefined();
    expect(onceOption([always])).toBeUndefined();
  });
});
