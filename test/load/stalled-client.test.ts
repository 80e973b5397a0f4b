// Clients that read late, slowly or never while much is written. Sizes are real: no bound is met here that a setting made
// small.
import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as elapsed } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { residentBytesOf } from "../harness/processes.ts";
import { demoAgentProgram } from "../harness/program.ts";
import { Reader, Recorder } from "./readers.ts";
import { StreamClient } from "./stream-client.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** An update of a flood is its text and some 170 bytes around it. */
const AROUND = 170;
const ROUNDS = 8;
const ROUND_BYTES = GIB / ROUNDS;
const TEXT_BYTES = 1000;
const PER_ROUND = Math.ceil(ROUND_BYTES / (TEXT_BYTES + AROUND));

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function journalOf(master: Master, sessionId: string): string {
  const sessions = join(master.home, "state", "sessions");
  const folder = readdirSync(sessions)
    .map((name) => join(sessions, name))
    .find((path) => JSON.parse(readFileSync(join(path, "session.json"), "utf8")).sessionId === sessionId);
  return join(folder ?? "", "journal.ndjson");
}

async function hashOfFile(path: string, start = 0): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { start, highWaterMark: MIB })) hash.update(chunk);
  return hash.digest("hex");
}

interface Round {
  readonly ms: number;
  /** How long each of the bystander's turns took. */
  readonly turns: readonly number[];
  readonly peakBytes: number;
}

interface Measured {
  readonly peakBytes: number;
  readonly turnMs: number;
  readonly floodMs: number;
}

const shown = ({ peakBytes, turnMs, floodMs }: Measured): string =>
  `at most ${Math.round(peakBytes / MIB)} MiB, a bystander's turn ${turnMs.toFixed(1)} ms, a flood ${Math.round(floodMs)} ms`;

function measured(rounds: readonly Round[]): Measured {
  return {
    peakBytes: Math.max(...rounds.map(({ peakBytes }) => peakBytes)),
    turnMs: median(rounds.flatMap(({ turns }) => turns)),
    floodMs: median(rounds.map(({ ms }) => ms)),
  };
}

describe("a client that stops reading", () => {
  it("costs no memory and nobody's time while 1 GiB goes by, and then gets all of it", async () => {
    // The bystander talks to an agent process of its own.
    const agents = { calm: { command: process.execPath, args: [demoAgentProgram] } };
    await using master = await startMaster({ agents, config: { defaultAgent: "demo" } });
    const prompting = await Reader.connect(master);
    const reading = await Reader.connect(master);
    const bystander = await StreamClient.connect(master, { agent: "calm" });
    const calm = await bystander.newSession();
    const newSession = async (): Promise<string> => {
      const sessionId = await prompting.client.newSession();
      await reading.client.load(sessionId);
      return sessionId;
    };
    const round = async (sessionId: string): Promise<Round> => {
      const turns: number[] = [];
      let peakBytes = 0;
      const state = { over: false };
      const began = performance.now();
      const flood = prompting.client
        .prompt(sessionId, `/flood ${PER_ROUND} ${TEXT_BYTES}`)
        .finally(() => (state.over = true));
      do {
        const from = performance.now();
        await bystander.prompt(calm, "hello");
        turns.push(performance.now() - from);
        peakBytes = Math.max(peakBytes, residentBytesOf(master.pid));
      } while (!state.over);
      expect(await flood).toEqual({ stopReason: "end_turn" });
      return { ms: performance.now() - began, turns, peakBytes };
    };

    const withStall = await newSession();
    const without = await newSession();
    const stalled = await Recorder.attach(master, withStall);
    // Buffers, caches and compiled code of all that is measured.
    await round(without);
    await round(without);
    await eventually(() => reading.seen === prompting.seen, "nobody lags", 120_000);
    stalled.client.pause();
    const before = { prompting: prompting.seen, reading: reading.seen };
    const rounds = { with: [] as Round[], without: [] as Round[] };
    for (let n = 0; n < ROUNDS; n++) {
      rounds.without.push(await round(without));
      rounds.with.push(await round(withStall));
    }
    await eventually(() => reading.seen - before.reading === 2 * ROUNDS * PER_ROUND, "all is read", 120_000);
    expect(prompting.seen - before.prompting).toBe(2 * ROUNDS * PER_ROUND);
    expect([prompting.fault, reading.fault]).toEqual([undefined, undefined]);

    const stall = measured(rounds.with);
    const plain = measured(rounds.without);
    console.log("with a stalled client:", shown(stall), "\nwithout:", shown(plain));
    expect(stall.peakBytes - plain.peakBytes).toBeLessThan(32 * MIB);
    expect(stall.turnMs).toBeLessThan(2 * plain.turnMs);
    expect(stall.floodMs).toBeLessThan(3 * plain.floodMs);

    const journal = journalOf(master, withStall);
    const { size } = statSync(journal);
    expect(size).toBeGreaterThan(GIB);
    stalled.client.resume();
    let catchingUp = 0;
    const hasRead = (): boolean => {
      catchingUp = Math.max(catchingUp, residentBytesOf(master.pid));
      return stalled.bytes >= size;
    };
    await eventually(hasRead, "what was missed is read", 300_000);
    expect(catchingUp - plain.peakBytes).toBeLessThan(32 * MIB);
    expect(stalled.bytes).toBe(size);
    expect(stalled.hash.digest("hex")).toBe(await hashOfFile(journal));
  }, 900_000);

  it("is let go when it is more than 2 GiB behind, and what only it had still to read is given back", async () => {
    await using master = await startMaster({ config: { defaultAgent: "demo" } });
    const prompting = await Reader.connect(master);
    const session = await prompting.client.newSession();
    const stalled = await Recorder.attach(master, session);
    stalled.client.pause();
    const clients = async (): Promise<number> => {
      const { sessions } = await prompting.client.call("_acp-master/sessions", {});
      return sessions[0].clients.length;
    };
    const lettingGo = () => master.logLines().find(({ msg }) => msg === "client let go");
    const TEXT = 64 * 1024;
    const flood = (bytes: number) =>
      prompting.client.prompt(session, `/flood ${Math.ceil(bytes / (TEXT + AROUND))} ${TEXT}`);
    await flood(1.9 * GIB);
    expect([await clients(), lettingGo()]).toEqual([2, undefined]);
    await flood(0.3 * GIB);
    expect(await clients()).toBe(1);
    expect(lettingGo()).toMatchObject({ reason: "this client is more than 2 GiB behind" });
    expect(prompting.fault).toBeUndefined();
    await flood(MIB);
    const journal = journalOf(master, session);
    await eventually(() => statSync(journal).size < 0.4 * GIB, "the journal is short again", 120_000);
    stalled.client.resume();
    await stalled.client.closed;

    const late = await Recorder.attach(master, session);
    const { size } = statSync(journal);
    // What is forgotten stays in the file until there is as much of it as of the rest.
    expect(late.bytes).toBeGreaterThan(MIB);
    expect(late.hash.digest("hex")).toBe(await hashOfFile(journal, size - late.bytes));
  }, 600_000);
});

describe("a client that reads slowly", () => {
  it("is not let go, however long one message takes", async () => {
    const stalledSeconds = 4;
    await using master = await startMaster({ config: { defaultAgent: "demo", limits: { stalledSeconds } } });
    const prompting = await Reader.connect(master);
    const session = await prompting.client.newSession();
    const slow = await Recorder.attach(master, session);
    slow.client.pause();
    await prompting.client.prompt(session, `/flood 1 ${8 * MIB}`);
    const { size } = statSync(journalOf(master, session));
    const began = performance.now();
    // The time itself is what is tested.
    while (slow.client.bytes < size) {
      await slow.client.sip();
      await elapsed(100);
    }
    expect(performance.now() - began).toBeGreaterThan(2 * stalledSeconds * 1000);
    await eventually(() => slow.bytes >= size, "all is read");
    expect(slow.hash.digest("hex")).toBe(await hashOfFile(journalOf(master, session)));
  });
});
