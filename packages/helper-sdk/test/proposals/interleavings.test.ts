// Everything that can happen to one card at once, in random orders: confirmed by two people, refused by one, timed out,
// superseded, cancelled, its session gone, the CLI gone, the Helper stopping. One winner, at most one order, one end for all.
import {
  type Responder,
  Proposals,
  encodeRequest,
  newInstance,
  terminalAgentPolicy,
} from "@acp-master/proposal-channel";
import { expect, test } from "vitest";
import { FakeClock } from "../../../proposal-channel/test/fake-clock.ts";
import { Cards } from "../../src/proposals/cards.ts";
import { decide } from "../../src/proposals/decisions.ts";
import { dryRun } from "../../src/proposals/dry-run.ts";
import type { Executor } from "../../src/proposals/executor.ts";
import type { DecisionEnd, DecisionRequest, ReviewEvent } from "../../src/proposals/review-messages.ts";

const runs = 10_000;
const payload =
  '{"schema_version":1,"origin":"o","choices":[{"choice":1,"title":"T","actions":[{"type":"send","input":"x"}]}]}';

/** Small and fast; a failing run is named by its seed. */
function randomSource(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) | 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 1 | state) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

/** A connection that remembers what it was told; a line may take a moment to leave. */
class Connection implements Responder {
  readonly lines: { status: string }[] = [];
  closes = 0;
  gone: (() => void) | undefined;
  readonly #hops: number;

  constructor(hops: number) {
    this.#hops = hops;
  }

  async send(line: string): Promise<boolean> {
    await hop(this.#hops);
    this.lines.push(JSON.parse(line));
    return true;
  }

  close(): void {
    this.closes += 1;
  }

  onGone(gone: () => void): void {
    this.gone = gone;
  }
}

async function hop(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await Promise.resolve();
}

async function run(seed: number): Promise<{ orders: number; end: string | undefined; winners: number }> {
  const random = randomSource(seed);
  const clock = new FakeClock();
  const told: ReviewEvent[] = [];
  const isBusy: boolean[] = [];
  let orders = 0;
  const executor: Executor = {
    ...dryRun(() => {}),
    isThere: async () => {
      await hop(random(4));
      return true;
    },
    dispatch: async () => {
      orders += 1;
      await hop(random(4));
      return random(5) > 0;
    },
  };
  const policies = [{ ...terminalAgentPolicy, name: "o" }];
  const cards: Cards = new Cards({
    executor,
    policies,
    session: (sessionId) => ({
      agent: "a",
      cwd: "/",
      runningTurn: proposals.runningTurn(sessionId),
      trigger: undefined,
    }),
    isUp: () => true,
    places: () => [],
    tell: (event) => told.push(event),
    present: ({ proposalId }) => void hop(random(6)).then(() => cards.seen(proposalId)),
    busy: (_sessionId, busy) => isBusy.push(busy),
  });
  const proposals = new Proposals({ instance: newInstance(), surface: cards, log: () => {}, clock });
  const turn = { sessionId: "s", origin: "o", target: "%1", trigger: undefined, arming: "preflight" } as const;
  const channel = proposals.startTurn({ ...turn, turnId: "t" }, true);
  if (channel === undefined) throw new Error("no channel");
  const connection = new Connection(random(4));
  proposals.serve(Buffer.from(encodeRequest(channel, payload)), connection);
  await hop(random(40));

  const ends: Promise<DecisionEnd>[] = [];
  const person =
    (decision: Omit<Extract<DecisionRequest, { decision: "confirm" }>, "proposalId"> | { decision: "cancel" }) =>
    () => {
      const [card] = cards.all;
      if (card === undefined) return;
      ends.push(decide({ proposalId: card.proposalId, ...decision }, "p", { cards, proposals, executor }));
    };
  const events: (() => void)[] = [
    person({ decision: "confirm", choice: 1, mode: "run" }),
    person({ decision: "confirm", choice: 1, mode: "insert" }),
    person({ decision: "cancel" }),
    () => clock.pass(600_000),
    () => void proposals.startTurn({ ...turn, turnId: "t2" }, true),
    () =>
      proposals.sessionChanged(
        "s",
        (["cancelled", "replaced", "closed", "agent_exited"] as const)[random(4)] ?? "closed",
      ),
    () => proposals.endSession("s"),
    () => connection.gone?.(),
    () => proposals.endTurn("s", "t"),
    () => proposals.lose(),
  ];
  for (let count = 2 + random(6); count > 0; count -= 1) {
    events[random(count > 4 ? 3 : events.length)]?.();
    await hop(random(12));
  }
  await proposals[Symbol.asyncDispose]();
  const decided = await Promise.all(ends);

  const where = `seed ${seed}`;
  const [validation, final, more] = connection.lines;
  expect(connection.closes, where).toBeGreaterThan(0);
  expect(more, where).toBeUndefined();
  expect(validation, where).toBeDefined();
  expect(final !== undefined, where).toBe(validation?.status === "accepted");
  const winners = decided.filter((end) => end !== "lost");
  expect(winners.length, where).toBeLessThanOrEqual(1);
  expect(orders, where).toBeLessThanOrEqual(1);
  if (winners.length === 1) expect(final?.status, where).toBe(winners[0]);
  else expect(final?.status, where).not.toBe("confirmed");
  if (final?.status === "confirmed") expect(orders, where).toBe(1);
  if (orders === 1) expect(["confirmed", "unavailable"], where).toContain(final?.status);
  const shown = told.filter((event) => event.type === "card").length > 0;
  expect(told.filter((event) => event.type === "over").length, where).toBe(shown ? 1 : 0);
  expect(isBusy, where).toEqual(shown ? [true, false] : []);
  expect([cards.all.length, clock.pendingTimers], where).toEqual([0, 0]);
  return { orders, end: final?.status, winners: winners.length };
}

test(`one winner and one end over ${runs} random orders`, { timeout: 300_000 }, async () => {
  const ends = new Map<string | undefined, number>();
  let orders = 0;
  let winners = 0;
  for (let seed = 1; seed <= runs; seed += 1) {
    const ran = await run(seed);
    ends.set(ran.end, (ends.get(ran.end) ?? 0) + 1);
    orders += ran.orders;
    winners += ran.winners;
  }
  // Each end there is came about, so each race was run.
  for (const end of [
    "confirmed",
    "cancelled",
    "superseded",
    "session_replaced",
    "timed_out",
    "unavailable",
    undefined,
  ]) {
    expect(ends.get(end) ?? 0, String(end)).toBeGreaterThan(runs / 1000);
  }
  expect(orders).toBeGreaterThan(runs / 10);
  expect(winners).toBeGreaterThan(runs / 10);
});
