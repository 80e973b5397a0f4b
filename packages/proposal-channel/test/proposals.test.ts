// The owner with a real socket, real clients and a clock that the test moves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refusal } from "../src/begin.ts";
import type { FinalStatus, ProposalRef } from "../src/book.ts";
import { type Channel, newInstance } from "../src/channel.ts";
import { cardMs, decisionMs, dispatchMs, personMs } from "../src/limits.ts";
import { ProposalServer } from "../src/proposal-server.ts";
import { Proposals } from "../src/proposals.ts";
import type { OpenProposal, ReviewSurface } from "../src/review-surface.ts";
import { encodeRequest } from "../src/request.ts";
import type { Refusal } from "../src/responses.ts";
import { bytes, channel, instance } from "./channels.ts";
import { FakeClock } from "./fake-clock.ts";
import { RawClient } from "./raw-client.ts";

const json = '{"a":"canary"}';
const turn = { origin: "terminal_agent", target: "%1", trigger: undefined, arming: "required" } as const;

/** A surface that does what the test says, and keeps what it was told. */
class Surface implements ReviewSurface {
  up = true;
  readonly cards = new Set<string>();
  readonly overs: [string, FinalStatus | "refused"][] = [];
  readonly detachedCards: string[] = [];
  readonly decidables: string[] = [];
  onDecide: (proposal: OpenProposal, signal: AbortSignal) => Promise<"accept" | Refusal | undefined> = () =>
    Promise.resolve("accept");
  onCard: (signal: AbortSignal) => Promise<boolean> = () => Promise.resolve(true);
  onDetached = (): void => {};

  isUp(): boolean {
    return this.up;
  }

  async decide(proposal: OpenProposal, signal: AbortSignal): Promise<"accept" | Refusal | undefined> {
    return await this.onDecide(proposal, signal);
  }

  async showCard({ proposalId }: ProposalRef, signal: AbortSignal): Promise<boolean> {
    this.cards.add(proposalId);
    return await this.onCard(signal);
  }

  decidable({ proposalId }: ProposalRef): void {
    this.decidables.push(proposalId);
  }

  over({ proposalId }: ProposalRef, status: FinalStatus | "refused"): void {
    this.cards.delete(proposalId);
    this.overs.push([proposalId, status]);
  }

  detached({ proposalId }: ProposalRef): void {
    this.detachedCards.push(proposalId);
    this.onDetached();
  }
}

let folder: string;
let surface: Surface;
let clock: FakeClock;
let proposals: Proposals;
let server: ProposalServer;
let logged: string[];
let ids: number;
let channels: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "proposals-"));
  surface = new Surface();
  clock = new FakeClock();
  logged = [];
  ids = 0;
  channels = 0;
  const log = (event: string, fields: object) => logged.push(`${event} ${JSON.stringify(fields)}`);
  proposals = new Proposals({
    instance,
    surface,
    log,
    clock,
    newProposalId: () => idOf((ids += 1)),
    newChannel: () => channel((channels += 1)),
  });
  const opened = await ProposalServer.open({
    folder,
    instance,
    serve: proposals.serve,
    onLost: () => proposals.lose(),
    log,
  });
  if (!opened.ok) throw new Error(opened.message);
  server = opened.server;
});

afterEach(async () => {
  await proposals[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  expect(clock.pendingTimers).toBe(0);
  const log = logged.join("\n");
  expect(log).not.toContain("canary");
  for (let n = 1; n <= channels; n += 1) expect(log).not.toContain(channel(n));
});

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

function start(sessionId = "s", turnId = "t1"): Channel {
  const issued = proposals.startTurn({ ...turn, sessionId, turnId }, true);
  if (issued === undefined) throw new Error("expected a channel");
  return issued;
}

function arm(of: Channel, sessionId = "s", payload = json): void {
  expect(proposals.arm(sessionId, { channel: of, payload: bytes(payload), spelling: "json" })).toEqual({ ok: true });
}

async function send(of: Channel, payload = json): Promise<RawClient> {
  return (await RawClient.open(server.path)).send(`${encodeRequest(of, payload)}\n`);
}

/** A proposal whose card is up, and its waiting client. */
async function shown(): Promise<{ client: RawClient; ref: ProposalRef; channel: Channel }> {
  const issued = start();
  arm(issued);
  const client = await send(issued);
  const [line] = await client.lines(1);
  expect(line).toEqual({ phase: "validation", status: "accepted", proposal_id: idOf(ids), retryable: false });
  return { client, ref: { sessionId: "s", proposalId: idOf(ids) }, channel: issued };
}

async function final(client: RawClient): Promise<unknown> {
  const lines = await client.all();
  expect(lines).toHaveLength(2);
  expect(lines[1]?.["phase"]).toBe("final");
  return lines[1]?.["status"];
}

async function replay(of: Channel): Promise<unknown> {
  const [line, more] = await (await send(of)).all();
  expect(more).toBeUndefined();
  return line?.["status"];
}

async function validating(): Promise<{ client: RawClient; channel: Channel; signal: AbortSignal }> {
  const issued = start();
  arm(issued);
  const signal = new Promise<AbortSignal>((resolve) => {
    surface.onDecide = async (_proposal, given) => {
      resolve(given);
      return await new Promise<never>(() => {});
    };
  });
  const client = await send(issued);
  return { client, channel: issued, signal: await signal };
}

async function refused(client: RawClient): Promise<unknown> {
  const lines = await client.all();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ phase: "validation", retryable: false });
  return lines[0]?.["status"];
}

async function rawStatus(text: string): Promise<unknown> {
  return (await (await RawClient.open(server.path)).send(text).all())[0]?.["status"];
}

describe("a person's answer", () => {
  test("yes: dispatched once, then confirmed; the replay names it", async () => {
    const { client, ref, channel: used } = await shown();
    let dispatched = 0;
    const dispatch = () => {
      dispatched += 1;
      return Promise.resolve(true);
    };
    const answers = await Promise.all([proposals.confirm(ref, dispatch), proposals.confirm(ref, dispatch)]);
    expect(answers).toEqual(["confirmed", "lost"]);
    expect(proposals.reject(ref)).toBe(false);
    expect(await final(client)).toBe("confirmed");
    expect(dispatched).toBe(1);
    expect(surface.overs).toEqual([[ref.proposalId, "confirmed"]]);
    const [line] = await (await send(used)).all();
    expect(line).toMatchObject({ status: "already_consumed", reason: expect.stringContaining("confirmed") });
  });

  test("no: cancelled, and nothing is dispatched", async () => {
    const { client, ref, channel: used } = await shown();
    expect(proposals.reject(ref)).toBe(true);
    expect(await proposals.confirm(ref, () => Promise.reject(new Error("dispatched")))).toBe("lost");
    expect(await final(client)).toBe("cancelled");
    expect(await replay(used)).toBe("already_consumed");
  });

  test("none for ten minutes: timed out", async () => {
    const { client, ref } = await shown();
    clock.pass(personMs - 1);
    expect(proposals.isWaiting(ref)).toBe(true);
    clock.pass(1);
    expect(await final(client)).toBe("timed_out");
    expect(surface.overs).toEqual([[ref.proposalId, "timed_out"]]);
  });

  test("yes after ten minutes when the timer is late: timed out, and nothing is dispatched", async () => {
    const { client, ref } = await shown();
    clock.passLate(personMs);
    expect(await proposals.confirm(ref, () => Promise.reject(new Error("dispatched")))).toBe("lost");
    expect(await final(client)).toBe("timed_out");
  });

  test.each([
    ["says no", () => Promise.resolve(false)],
    ["throws", () => Promise.reject(new Error("canary"))],
  ])("yes with an executor that %s: unavailable", async (_what, dispatch) => {
    const { client, ref, channel: used } = await shown();
    expect(await proposals.confirm(ref, dispatch)).toBe("unavailable");
    expect(await final(client)).toBe("unavailable");
    expect(await replay(used)).toBe("unavailable");
  });

  test("yes with an executor that hangs: unavailable after its time, and it is told to stop", async () => {
    const { client, ref, channel: used } = await shown();
    let isStopped = false;
    const confirming = proposals.confirm(ref, async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isStopped = true;
      return true;
    });
    expect(await replay(used)).toBe("unavailable");
    clock.pass(dispatchMs);
    expect(await confirming).toBe("unavailable");
    expect(isStopped).toBe(true);
    expect(await final(client)).toBe("unavailable");
  });
});

describe("a waiting command is told the end when", () => {
  test.each<[string, string, () => unknown, string, string]>([
    ["a new turn starts", "superseded", () => start("s", "t2"), "superseded", "superseded"],
    [
      "a new turn starts without a channel",
      "superseded",
      () => proposals.startTurn({ ...turn, sessionId: "s", turnId: "t2" }, false),
      "superseded",
      "superseded",
    ],
    [
      "any client cancels",
      "cancelled",
      () => proposals.sessionChanged("s", "cancelled"),
      "cancelled",
      "already_consumed",
    ],
    [
      "the session is replaced",
      "session_replaced",
      () => proposals.sessionChanged("s", "replaced"),
      "session_replaced",
      "stale",
    ],
    [
      "the session is closed",
      "session_replaced",
      () => proposals.sessionChanged("s", "closed"),
      "session_replaced",
      "stale",
    ],
    ["the session ends", "session_replaced", () => proposals.endSession("s"), "session_replaced", "stale"],
    [
      "the agent exits",
      "unavailable",
      () => proposals.sessionChanged("s", "agent_exited"),
      "unavailable",
      "unavailable",
    ],
    [
      "the transport is lost",
      "unavailable",
      () => proposals.sessionChanged("s", "transport_lost"),
      "unavailable",
      "unavailable",
    ],
  ])("%s: %s", async (_what, _status, happen, status, replayed) => {
    const { client, ref, channel: used } = await shown();
    happen();
    expect(await final(client)).toBe(status);
    expect(surface.overs).toEqual([[ref.proposalId, status]]);
    expect(surface.cards.size).toBe(0);
    expect(await proposals.confirm(ref, () => Promise.reject(new Error("dispatched")))).toBe("lost");
    expect(await replay(used)).toBe(replayed);
  });

  test("the proposal socket or the executor is lost: unavailable, and nothing is issued from then on", async () => {
    const { client, channel: used } = await shown();
    proposals.lose();
    expect(await final(client)).toBe("unavailable");
    expect(await replay(used)).toBe("unavailable");
    expect(proposals.isUp).toBe(false);
    expect(proposals.startTurn({ ...turn, sessionId: "s", turnId: "t2" }, true)).toBeUndefined();
  });

  test("the Helper stops or is swapped: unavailable, before the end is reached", async () => {
    const { client } = await shown();
    await proposals[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    expect(await final(client)).toBe("unavailable");
  });

  test("the Helper stops while the executor works: unavailable", async () => {
    const { client, ref } = await shown();
    const confirming = proposals.confirm(ref, async () => await new Promise<never>(() => {}));
    await proposals[Symbol.asyncDispose]();
    expect(await confirming).toBe("unavailable");
    await server[Symbol.asyncDispose]();
    expect(await final(client)).toBe("unavailable");
  });

  test("another session's news do nothing to it", async () => {
    const { client, ref } = await shown();
    start("other");
    proposals.sessionChanged("other", "closed");
    proposals.endSession("third");
    proposals.endTurn("s", "t1");
    expect(proposals.isWaiting(ref)).toBe(true);
    proposals.reject(ref);
    expect(await final(client)).toBe("cancelled");
  });
});

describe("a command that is being validated is told", () => {
  test("unavailable when no decision comes in ten seconds, and so is a replay", async () => {
    const { client, channel: used, signal } = await validating();
    clock.pass(decisionMs - 1);
    expect(signal.aborted).toBe(false);
    clock.pass(1);
    expect(await refused(client)).toBe("unavailable");
    expect(signal.aborted).toBe(true);
    expect(await replay(used)).toBe("unavailable");
    expect(surface.overs).toEqual([[idOf(1), "refused"]]);
  });

  test("stale when that happens after its turn ended", async () => {
    const { client } = await validating();
    proposals.endTurn("s", "t1");
    clock.pass(decisionMs);
    expect(await refused(client)).toBe("stale");
  });

  test.each<[string, () => unknown, string]>([
    ["a new turn starts", () => start("s", "t2"), "stale"],
    ["the session is replaced", () => proposals.sessionChanged("s", "replaced"), "stale"],
    ["a client cancels", () => proposals.sessionChanged("s", "cancelled"), "stale"],
    ["the agent exits", () => proposals.sessionChanged("s", "agent_exited"), "unavailable"],
    ["the socket is lost", () => proposals.lose(), "unavailable"],
  ])("when %s", async (_what, happen, status) => {
    const { client, signal } = await validating();
    happen();
    expect(await refused(client)).toBe(status);
    expect(signal.aborted).toBe(true);
  });

  test.each<[string, () => void]>([
    ["dropped", () => (surface.onDecide = () => Promise.resolve(undefined))],
    ["lost by a throw", () => (surface.onDecide = () => Promise.reject(new Error("canary")))],
    ["without a card", () => (surface.onCard = () => Promise.resolve(false))],
    ["without a card by a throw", () => (surface.onCard = () => Promise.reject(new Error("canary")))],
  ])("unavailable when the decision is %s, and so is a replay", async (_what, prepare) => {
    const issued = start();
    arm(issued);
    prepare();
    expect(await refused(await send(issued))).toBe("unavailable");
    expect(await replay(issued)).toBe("unavailable");
    expect(surface.cards.size).toBe(0);
  });

  test("unavailable when the card is not up in ten seconds", async () => {
    const issued = start();
    arm(issued);
    const asked = new Promise<void>((resolve) => {
      surface.onCard = async () => {
        resolve();
        return await new Promise<never>(() => {});
      };
    });
    const client = await send(issued);
    await asked;
    clock.pass(cardMs);
    expect(await refused(client)).toBe("unavailable");
    expect(await replay(issued)).toBe("unavailable");
    expect(surface.cards.size).toBe(0);
  });

  test("unavailable at once when the surface is gone; the channel stays", async () => {
    const issued = start();
    arm(issued);
    surface.up = false;
    expect(await replay(issued)).toBe("unavailable");
    surface.up = true;
    const client = await send(issued);
    expect((await client.lines(1))[0]).toMatchObject({ status: "accepted" });
    proposals.reject({ sessionId: "s", proposalId: idOf(ids) });
    expect(await final(client)).toBe("cancelled");
  });

  test("a duplicate while it is validated and while its card is up", async () => {
    const { client, channel: used } = await validating();
    expect(await replay(used)).toBe("already_consumed");
    proposals.lose();
    await refused(client);
  });
});

describe("a refusal", () => {
  test("of the schema may be corrected twice, with a new permission each time", async () => {
    const issued = start();
    surface.onDecide = () => Promise.resolve(refusal("invalid_schema", true, "choices: missing"));
    for (const retryable of [true, true, false]) {
      arm(issued);
      expect(await (await send(issued)).all()).toEqual([
        { phase: "validation", status: "invalid_schema", reason: "choices: missing", retryable },
      ]);
    }
    expect(await replay(issued)).toBe("already_consumed");
  });

  test("of the policy is final", async () => {
    const issued = start();
    arm(issued);
    surface.onDecide = () => Promise.resolve(refusal("rejected", false, "no active pane"));
    expect(await (await send(issued)).all()).toEqual([
      { phase: "validation", status: "rejected", reason: "no active pane", retryable: false },
    ]);
    expect(await replay(issued)).toBe("already_consumed");
  });

  test("of the frame leaves every channel as it is", async () => {
    const issued = start();
    expect(await rawStatus("{}\n")).toBe("rejected");
    expect(await rawStatus(`${encodeRequest(issued, json).replace('"version":1', '"version":2')}\n`)).toBe("rejected");
    expect(await rawStatus('{"version":1,"channel":"v1","payload":"{}"}\n')).toBe("unknown_channel");
    expect(await replay(issued)).toBe("not_armed");
    expect(surface.cards.size).toBe(0);
  });

  test("of a payload that is too large counts as section and state say", async () => {
    const issued = start();
    const large = `"${"x".repeat(8192)}"`;
    const once = async () => (await (await send(issued, large)).all())[0];
    expect(await once()).toMatchObject({ status: "invalid_schema", retryable: true });
    for (const retryable of [true, true, false]) {
      arm(issued);
      expect(await once()).toMatchObject({ status: "invalid_schema", retryable });
    }
    expect(await once()).toMatchObject({ status: "already_consumed", retryable: false });
  });
});

describe("one turn's channel (FF-168)", () => {
  test("takes the first valid frame; all else gets its own refusal and shows no card", async () => {
    const issued = start();
    arm(issued);
    const other = await (await send(issued, '{"a":"changed"}')).all();
    expect(other[0]).toMatchObject({ status: "digest_mismatch", retryable: true });
    arm(issued);
    const client = await send(issued);
    await client.lines(1);
    expect(await replay(issued)).toBe("already_consumed");
    const foreign = channel(1, newInstance());
    expect(await replay(foreign)).toBe("helper_mismatch");
    expect(surface.cards.size).toBe(1);
    proposals.reject({ sessionId: "s", proposalId: [...surface.cards][0] ?? "" });
    expect(await final(client)).toBe("cancelled");
    proposals.endTurn("s", "t1");
    const next = start("s", "t2");
    proposals.endTurn("s", "t2");
    expect(await replay(next)).toBe("stale");
  });
});

describe("a client that goes away", () => {
  test("leaves its card, marked detached, and the person may still decide", async () => {
    const { client, ref, channel: used } = await shown();
    const detached = new Promise<void>((resolve) => (surface.onDetached = resolve));
    client.socket.destroy();
    await detached;
    expect(surface.detachedCards).toEqual([ref.proposalId]);
    expect(surface.cards.has(ref.proposalId)).toBe(true);
    expect(await proposals.confirm(ref, () => Promise.resolve(true))).toBe("confirmed");
    const [line] = await (await send(used)).all();
    expect(line?.["reason"]).toContain("confirmed");
  });

  test("before its accepted line ends the channel as unavailable and its card is removed", async () => {
    const issued = start();
    arm(issued);
    const asked = new Promise<(isShown: boolean) => void>((resolve) => {
      surface.onCard = async () => await new Promise<boolean>((done) => resolve(done));
    });
    const over = new Promise<void>((resolve) => {
      const before = surface.over.bind(surface);
      surface.over = (ref, status) => {
        before(ref, status);
        resolve();
      };
    });
    const client = await send(issued);
    const show = await asked;
    client.socket.destroy();
    await client.all();
    show(true);
    await over;
    expect(surface.overs).toEqual([[idOf(1), "unavailable"]]);
    expect(surface.cards.size).toBe(0);
    expect(await replay(issued)).toBe("unavailable");
  });
});

test("two sessions of one Helper have a card each and do not meet (FF-171)", async () => {
  const [first, second] = [start("a"), start("b")];
  expect(proposals.arm("b", { channel: first, payload: bytes(json), spelling: "json" })).toMatchObject({
    ok: false,
    refusal: { status: "stale" },
  });
  arm(first, "a");
  arm(second, "b");
  const clients = [await send(first), await send(second)];
  for (const client of clients) expect((await client.lines(1))[0]).toMatchObject({ status: "accepted" });
  expect(surface.cards.size).toBe(2);
  proposals.sessionChanged("a", "replaced");
  proposals.reject({ sessionId: "b", proposalId: idOf(2) });
  const ends = await Promise.all(clients.map(async (client) => await final(client)));
  expect(new Set(ends)).toEqual(new Set(["cancelled", "session_replaced"]));
  expect(proposals.arm("a", { channel: first, payload: bytes(json), spelling: "json" })).toMatchObject({ ok: false });
});

test("what the surface sees are the bytes and the binding, nothing of it is logged", async () => {
  const issued = start();
  arm(issued);
  const seen: OpenProposal[] = [];
  surface.onDecide = (proposal) => {
    seen.push(proposal);
    return Promise.resolve(refusal("rejected"));
  };
  await (await send(issued)).all();
  expect(seen).toEqual([
    {
      sessionId: "s",
      proposalId: idOf(1),
      binding: { ...turn, sessionId: "s", turnId: "t1", epoch: 0 },
      payload: Buffer.from(json),
    },
  ]);
});
