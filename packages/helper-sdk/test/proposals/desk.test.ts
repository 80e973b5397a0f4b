// The proposals of one Helper with real sockets on both sides (whoever proposes and whoever decides) and a clock that the
// test moves.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Channel, autofixPolicy, encodeRequest, isChannel, render } from "@acp-master/proposal-channel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../proposal-channel/test/fake-clock.ts";
import { RawClient } from "../../../proposal-channel/test/raw-client.ts";
import { HelperSession } from "../../src/helper-session.ts";
import { dryRun } from "../../src/proposals/dry-run.ts";
import type { Executor, Order } from "../../src/proposals/executor.ts";
import { ProposalDesk } from "../../src/proposals/proposal-desk.ts";
import { type Card, type ReviewClient, type ReviewEvent, openReview } from "../../src/proposals/review-client.ts";

let folder: string;
let clock: FakeClock;
let orders: Order[];
let voice: string[];
let isThere: (target: string | undefined) => boolean | Promise<boolean>;
let place: string | undefined;
let trigger: number | undefined;
let desk: ProposalDesk;
let session: HelperSession;
const open: { close(): void }[] = [];

const executor: Executor = {
  ...dryRun(() => {}),
  bind: () => place,
  isThere: (target) => isThere(target),
  dispatch: (order) => {
    orders.push(order);
    return Promise.resolve(true);
  },
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "acp-desk-"));
  for (const name of ["p", "r"]) mkdirSync(join(folder, name), { mode: 0o700 });
  clock = new FakeClock();
  orders = [];
  voice = [];
  isThere = () => true;
  place = "%1";
  trigger = undefined;
  const origins = [
    {
      policy: autofixPolicy,
      applies: () => (trigger === undefined ? undefined : { trigger, target: "%9" }),
      trigger: () => trigger,
    },
  ];
  desk = new ProposalDesk({ executor, origins, program: "/bin/acp-propose" }, clock);
  await desk.open({ socketDir: join(folder, "p"), reviewDir: join(folder, "r") }, "test");
  session = started("s");
});

afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await desk[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  expect(clock.pendingTimers).toBe(0);
  expect(voice.join("\n")).not.toMatch(/canary|v1\.[0-9a-f]{32}/);
});

function started(sessionId: string, agent = "unknown"): HelperSession {
  const start = {
    sessionId,
    agent: { name: agent },
    cwd: "/w",
    roots: ["/w"],
    preset: "ask",
    arming: "required",
  } as const;
  const one = new HelperSession(
    { ...start, roots: [...start.roots] },
    {
      log: (level, message, fields) => voice.push(`${level} ${message} ${JSON.stringify(fields)}`),
      busy: (busy) => voice.push(`busy ${busy}`),
      unavailable: (reason) => voice.push(`unavailable ${reason}`),
      impaired: (reason) => voice.push(reason),
    },
  );
  desk.sessionStarted(one);
  return one;
}

async function turn(turnId = "t1"): Promise<Channel> {
  const blocks = await desk.turnStarted({ session, turnId, mayPropose: true }, new AbortController().signal);
  const channel = /--channel (v1\.[0-9a-f.]{65})/.exec(blocks.join("\n"))?.[1];
  if (channel === undefined || !isChannel(channel)) throw new Error("the turn got no channel");
  return channel;
}

const json = (actions: readonly object[] = [{ type: "send", input: "canary" }], origin = "terminal_agent"): string =>
  JSON.stringify({ schema_version: 1, origin, choices: [{ choice: 1, title: "T", actions }] });

const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" as const },
  { optionId: "no", name: "No", kind: "reject_once" as const },
];

/** The agent asks for this command. */
function asked(rawInput: unknown, by: { of?: HelperSession; desk?: ProposalDesk; kind?: "execute" | undefined } = {}) {
  const { of = session, desk: at = desk, kind } = { kind: "execute" as const, ...by };
  const toolCall = { toolCallId: "c", ...(kind === undefined ? {} : { kind }), rawInput };
  const _meta = { "acp-master": { approvalId: "a" } };
  return at.permission({ sessionId: of.sessionId, toolCall, options, _meta }, of);
}

const commandOf = (channel: Channel, text = json()) =>
  render("sh", { channel, payload: Buffer.from(text), spelling: "json" });

const ask = (channel: Channel, text = json()) => asked({ command: commandOf(channel, text) });

async function send(channel: Channel, text = json()): Promise<RawClient> {
  const [socket = ""] = readdirSync(join(folder, "p"));
  const client = await RawClient.open(join(folder, "p", socket));
  open.push({ close: () => client.socket.destroy() });
  return client.send(`${encodeRequest(channel, text)}\n`);
}

async function propose(channel: Channel, text = json()): Promise<RawClient> {
  expect(ask(channel, text)).toEqual({ outcome: "selected", optionId: "yes" });
  return await send(channel, text);
}

/** A person with a user interface. */
class Person {
  readonly client: ReviewClient;
  readonly events: ReviewEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(shown = true, at?: string) {
    this.client = openReview({
      path: desk.reviewPath ?? "",
      name: "p",
      ...(at === undefined ? {} : { place: at }),
      onEvent: (event) => {
        if (event.type === "card" && shown) this.client.shown(event.card.proposalId);
        this.events.push(event);
        for (const wake of this.#waiting) wake();
      },
      onClose: () => {},
    });
    open.push(this.client);
  }

  async until<Found>(find: (event: ReviewEvent) => Found | undefined | false): Promise<Found> {
    for (;;) {
      for (const event of this.events) {
        const found = find(event);
        if (found !== undefined && found !== false) return found;
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  card(): Promise<Card> {
    return this.until((event) => event.type === "card" && event.card);
  }

  /** Everything that was told before this call has been heard. */
  async welcome(): Promise<void> {
    await this.until((event) => event.type === "welcome");
  }
}

async function person(shown = true, at?: string): Promise<Person> {
  const one = new Person(shown, at);
  await one.welcome();
  return one;
}

/** A proposal that waits for this person. */
async function waiting(): Promise<{ channel: Channel; cli: RawClient; card: Card; who: Person }> {
  const who = await person();
  const channel = await turn();
  const cli = await propose(channel);
  expect(await cli.lines(1)).toMatchObject([{ status: "accepted" }]);
  return { channel, cli, card: await who.card(), who };
}

const confirm = (who: Person, { proposalId }: Card, mode: "run" | "insert" = "run", choice = 1) =>
  who.client.decide({ proposalId, decision: "confirm", choice, mode });

describe("what ends a proposal that waits for its person", () => {
  test.each([
    ["a lost transport", "unavailable", () => desk.sessionChanged("s", "transport_lost")],
    ["an agent that is gone", "unavailable", () => desk.sessionChanged("s", "agent_exited")],
    ["a replaced agent process", "session_replaced", () => desk.sessionChanged("s", "replaced")],
    ["a closed session", "session_replaced", () => desk.sessionChanged("s", "closed")],
    ["the end of the session", "session_replaced", () => desk.sessionEnded("s")],
    ["a cancel", "cancelled", () => desk.sessionChanged("s", "cancelled")],
    ["the next turn", "superseded", () => void turn("t2")],
    ["ten minutes", "timed_out", () => clock.pass(600_000)],
    ["a lost proposal socket", "unavailable", () => loseSocket("p")],
    ["a lost review endpoint", "unavailable", () => loseSocket("r")],
    ["the end of the Helper", "unavailable", () => void desk[Symbol.asyncDispose]()],
  ])("%s: %s", async (_name, status, end) => {
    const { cli, card, who } = await waiting();
    end();
    expect((await cli.all())[1]).toEqual({ phase: "final", status, proposal_id: card.proposalId });
    expect(await who.until((event) => event.type === "over" && event.status)).toBe(status);
    expect(await confirm(who, card)).toBe("lost");
    expect(orders).toEqual([]);
    expect(voice.filter((line) => line.startsWith("busy"))).toEqual(["busy true", "busy false"]);
  });

  test("the person's no: cancelled, and a replay says that it is used", async () => {
    const { cli, card, who, channel } = await waiting();
    expect(await who.client.decide({ proposalId: card.proposalId, decision: "cancel" })).toBe("cancelled");
    expect((await cli.all())[1]).toMatchObject({ status: "cancelled" });
    expect(await (await send(channel)).all()).toMatchObject([{ status: "already_consumed" }]);
  });

  test("an executor that does not take it", async () => {
    const { cli, card, who } = await waiting();
    isThere = (target) => target === undefined;
    expect(await confirm(who, card)).toBe("unavailable");
    expect((await cli.all())[1]).toMatchObject({ status: "unavailable" });
    expect(orders).toEqual([]);
  });
});

describe("what ends a proposal before a person decides", () => {
  test("no user interface that shows it: response and replay say unavailable", async () => {
    const who = await person(false);
    const channel = await turn();
    const cli = await propose(channel);
    await who.card();
    clock.pass(10_000);
    expect(await cli.all()).toMatchObject([{ status: "unavailable", retryable: false }]);
    expect(await who.until((event) => event.type === "over" && event.status)).toBe("refused");
    expect(await (await send(channel)).all()).toMatchObject([{ status: "unavailable" }]);
  });

  test("an executor that does not answer", async () => {
    const channel = await turn();
    const asked = new Promise<void>((resolve) => {
      isThere = () => {
        resolve();
        return new Promise(() => {});
      };
    });
    const cli = await propose(channel);
    await asked;
    clock.pass(10_000);
    expect(await cli.all()).toMatchObject([{ status: "unavailable", retryable: false }]);
    expect(await (await send(channel)).all()).toMatchObject([{ status: "unavailable" }]);
  });

  test("an executor that is gone, and one that throws", async () => {
    for (const [turnId, gone] of [
      ["t1", () => false],
      ["t2", () => Promise.reject(new Error("canary"))],
    ] as const) {
      isThere = () => true;
      const channel = await turn(turnId);
      isThere = gone;
      expect(await (await propose(channel)).all()).toMatchObject([{ status: "unavailable" }]);
    }
  });

  test("a review endpoint that was lost: nothing is issued any more", async () => {
    const channel = await turn();
    loseSocket("r");
    await expect.poll(() => desk.reviewPath).toBeUndefined();
    expect(ask(channel)).toEqual({ outcome: "selected", optionId: "no" });
    await expect(turn("t2")).rejects.toThrow("no channel");
    expect(voice).toContainEqual(expect.stringContaining("Agents cannot propose: Their socket was lost"));
  });

  test("an accepted line that nobody reads", async () => {
    const who = await person(false);
    const channel = await turn();
    const cli = await propose(channel);
    const card = await who.card();
    cli.socket.destroy();
    await cli.all();
    who.client.shown(card.proposalId);
    // Gone before the line was written, or after: in the one case it is over, in the other the card stays without it.
    const end = await who.until(
      (event) =>
        (event.type === "over" && event.status) || (event.type === "card" && event.card.detached && "detached"),
    );
    expect(["unavailable", "detached"]).toContain(end);
  });

  test("three wrong payloads: true, true, false, and it is over", async () => {
    const channel = await turn();
    for (const retryable of [true, true, false]) {
      ask(channel);
      const cli = await send(channel, json([{ type: "send", input: "other" }]));
      expect(await cli.all()).toMatchObject([{ status: "digest_mismatch", retryable }]);
    }
    expect(await (await send(channel)).all()).toMatchObject([{ status: "already_consumed" }]);
    const who = await person();
    const notices = await who.until((event) => event.type === "welcome" && event.notices);
    expect(notices).toMatchObject([{ sessionId: "s", why: "digest_mismatch", count: 3 }]);
  });
});

test("other bytes once and a wrong form twice: the last is final", async () => {
  const channel = await turn();
  const wrong = JSON.stringify({ schema_version: 1, origin: "terminal_agent", choices: [] });
  for (const [approved, sent, status, retryable] of [
    [json(), wrong, "digest_mismatch", true],
    [wrong, wrong, "invalid_schema", true],
    [wrong, wrong, "invalid_schema", false],
  ] as const) {
    expect(ask(channel, approved)).toEqual({ outcome: "selected", optionId: "yes" });
    expect(await (await send(channel, sent)).all()).toMatchObject([{ status, retryable }]);
  }
  expect(ask(channel)).toEqual({ outcome: "selected", optionId: "no" });
});

describe("a card", () => {
  test("stays without whoever proposed, marked, and can be confirmed", async () => {
    const { cli, card, who } = await waiting();
    cli.socket.destroy();
    await who.until((event) => event.type === "card" && event.card.detached);
    expect(await confirm(who, card)).toBe("confirmed");
    expect(orders).toEqual([
      {
        sessionId: "s",
        proposalId: card.proposalId,
        cwd: "/w",
        origin: "terminal_agent",
        target: "%1",
        mode: "run",
        actions: [{ type: "send", input: "canary" }],
      },
    ]);
  });

  test("is decided once, by whoever is first; the others hear by whom", async () => {
    const { card, who } = await waiting();
    const other = await person();
    const ends = await Promise.all([confirm(who, card), confirm(other, card), confirm(who, card, "insert")]);
    expect(ends.toSorted()).toEqual(["confirmed", "lost", "lost"]);
    expect(orders).toHaveLength(1);
    expect(await other.until((event) => event.type === "over" && event)).toMatchObject({
      status: "confirmed",
      by: "p",
    });
  });

  test("takes no other choice and no insert that would execute; it stays for a valid decision", async () => {
    const who = await person();
    const channel = await turn();
    const cli = await propose(channel, json([{ type: "send", input: "one\ntwo" }]));
    const card = await who.card();
    expect(card.choices).toMatchObject([{ modes: ["run"], actions: [{ lines: ["one", "two"] }] }]);
    expect(await confirm(who, card, "insert")).toBe("invalid");
    expect(await confirm(who, card, "run", 2)).toBe("invalid");
    expect(await confirm(who, card, "run")).toBe("confirmed");
    expect((await cli.all())[1]).toMatchObject({ status: "confirmed" });
  });

  test("never offers to type where a user interface shows it", async () => {
    await person(true, "%1");
    const channel = await turn();
    const [line] = await (await propose(channel)).all();
    expect(line).toMatchObject({ status: "rejected" });
    expect(line?.["reason"]).toContain("shows the proposals");
  });

  test("a decision in the same instant as the first sight of it counts", async () => {
    const who = await person(false);
    const cli = await propose(await turn());
    const card = await who.card();
    who.client.shown(card.proposalId);
    expect(await confirm(who, card)).toBe("confirmed");
    expect(await cli.all()).toMatchObject([{ status: "accepted" }, { status: "confirmed" }]);
  });
});

describe("a turn of another origin", () => {
  test("is bound to what failed, and stale once something else has", async () => {
    trigger = 1;
    const who = await person();
    const text = json([{ type: "send", input: "git status" }], "autofix");
    const cli = await propose(await turn(), text);
    const card = await who.card();
    expect(card).toMatchObject({ origin: "autofix", target: "%9" });
    expect(await confirm(who, card)).toBe("confirmed");
    expect(await cli.all()).toHaveLength(2);
    const channel = await turn("t2");
    trigger = 2;
    expect(await (await propose(channel, text)).all()).toMatchObject([{ status: "stale" }]);
  });

  test("is not what an ordinary turn may claim to be", async () => {
    const text = json([{ type: "send", input: "x" }], "autofix");
    expect(await (await propose(await turn(), text)).all()).toMatchObject([{ status: "rejected" }]);
  });
});

describe("refused commands", () => {
  test("are one log line each and one notice for each session, with the newest class", async () => {
    const who = await person();
    const other = started("other");
    asked({ command: '"$ACP_PROPOSE" canary' });
    asked({ command: '"$ACP_PROPOSE" canary', more: 1 });
    asked({ command: '"$ACP_PROPOSE" canary' }, { of: other });
    asked({ command: "ls" });
    await who.until((event) => event.type === "notice" && event.notice.sessionId === "other");
    const notices = who.events.flatMap((event) => (event.type === "notice" ? [event.notice] : []));
    expect(notices.map(({ sessionId, why, count }) => [sessionId, why, count])).toEqual([
      ["s", "other_start", 1],
      ["s", "unwrapped", 2],
      ["other", "other_start", 1],
    ]);
    expect(desk.state().notices).toHaveLength(2);
    expect(voice.filter((line) => line.includes("proposal_mismatch"))).toHaveLength(3);
  });

  test("of a kind that only the announced call names are recognised", async () => {
    const channel = await turn();
    const command = commandOf(channel);
    const update = { sessionUpdate: "tool_call", toolCallId: "c", title: "T", kind: "execute" } as const;
    expect(desk.row({ sessionId: "s", update }, session)).toEqual({ verdict: "pass" });
    expect(asked({ command }, { kind: undefined })).toMatchObject({ optionId: "yes" });
    const more = { sessionUpdate: "tool_call_update", toolCallId: "c", rawInput: { command } } as const;
    expect(desk.row({ sessionId: "s", update: more }, session)).toEqual({ verdict: "hide", final: true });
  });
});

describe("without a private place", () => {
  test.each([
    ["no folder at all", "", "Agents cannot propose: The master has no place"],
    [
      "a folder that is not there",
      "/nowhere/acp",
      "Agents cannot propose: Cannot read the folder /nowhere/acp (ENOENT)",
    ],
  ])("%s: no channel, the reason told, commands refused", async (_name, socketDir, reason) => {
    const off = new ProposalDesk({ executor });
    await off.open({ socketDir, reviewDir: join(folder, "r") }, "test");
    off.sessionStarted(session);
    expect(off.reviewPath).toBeUndefined();
    const blocks = await off.turnStarted({ session, turnId: "t", mayPropose: true }, new AbortController().signal);
    expect(blocks).toEqual([]);
    expect(voice).toContainEqual(expect.stringContaining(reason));
    const channel = await turn();
    expect(asked({ command: commandOf(channel) }, { desk: off })).toMatchObject({ optionId: "no" });
    await off[Symbol.asyncDispose]();
  });

  test("of its review endpoint: the proposal socket is closed again", async () => {
    const off = new ProposalDesk({ executor });
    const before = readdirSync(join(folder, "p"));
    await off.open({ socketDir: join(folder, "p"), reviewDir: "/nowhere" }, "test");
    expect(readdirSync(join(folder, "p"))).toEqual(before);
    await off[Symbol.asyncDispose]();
  });
});

test("an executor that is slow or fails at the start of a turn delays it by a second and no more", async () => {
  const slow = new ProposalDesk({
    executor: { ...executor, bind: () => new Promise(() => {}), context: () => "never" },
    program: "/bin/acp-propose",
  });
  await slow.open({ socketDir: join(folder, "p"), reviewDir: join(folder, "r") }, "test");
  slow.sessionStarted(session);
  const begin = { session, turnId: "t", mayPropose: true };
  const blocks = await slow.turnStarted(begin, new AbortController().signal);
  expect(blocks).toHaveLength(1);
  expect(blocks[0]).toContain("--channel v1.");
  await slow[Symbol.asyncDispose]();
});

test("a turn that is over before its executor has answered gets no channel", async () => {
  let answer: ((there: boolean) => void) | undefined;
  isThere = () => new Promise((resolve) => (answer = resolve));
  const blocks = desk.turnStarted({ session, turnId: "t1", mayPropose: true }, new AbortController().signal);
  desk.turnEnded("s", "t1");
  answer?.(true);
  expect(await blocks).toEqual([]);
});

/** What a server says when its listening socket is gone, which nothing outside of this process can make it lose. */
function loseSocket(name: "p" | "r"): void {
  const handles: unknown = Reflect.get(process, "_getActiveHandles");
  const all: unknown[] = typeof handles === "function" ? handles.call(process) : [];
  const isAt = (address: unknown) => typeof address === "string" && address.startsWith(join(folder, name));
  const server = all.find((each) => each instanceof Server && isAt(each.address()));
  if (!(server instanceof Server)) throw new Error("there is no such server");
  server.emit("close");
}
