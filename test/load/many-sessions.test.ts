// A million updates over 100 sessions with a Helper and two open questions each, while clients die and come back all the
// time: nothing is lost, doubled or out of order. UPDATES=… changes the number, SEED=… repeats a run as far as one can.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { residentBytesOf } from "../harness/processes.ts";
import { Random } from "../harness/random.ts";
import { numberOf, sessionOf } from "./numbered.ts";
import { Recorder } from "./readers.ts";
import { StreamClient } from "./stream-client.ts";

const SESSIONS = 100;
/** Of each client; 300 in all. */
const ATTACHMENTS = 3;
const QUESTIONS = 2;
const LAST = Math.ceil(Number(process.env["UPDATES"] ?? 1_000_000) / SESSIONS);
const seed = Number(process.env["SEED"] ?? Date.now() % 1e9);
const random = new Random(seed);

type Manner = "load" | "resume" | "after";

/** One attachment, and those before it that it goes on from. */
interface Track {
  /** It began with the session's first update and has all of them, but for what its client wrote itself. */
  readonly whole: boolean;
  /** The next number; undefined: whatever comes first. */
  due: number | undefined;
  bytes: number;
  readonly place: Place;
  readonly questions: Map<string, Message>;
}

/** Where in the session's log the client is, as it is told and as it counts. */
interface Place {
  run: string | undefined;
  at: number;
  /** What the next update takes it to, however long it is. */
  next: number | undefined;
}

const nowhere = (): Place => ({ run: undefined, at: 0, next: undefined });

/** What went wrong anywhere. */
const faults: string[] = [];
/** Sessions whose last number somebody has seen. */
const streamed = new Set<string>();

/** A place at which one client after the other sits, each with the same sessions. */
class Seat {
  readonly #master: Master;
  readonly sessions: string[] = [];
  readonly tracks = new Map<string, Track>();
  client!: StreamClient;
  dying = false;

  constructor(master: Master) {
    this.#master = master;
  }

  async connect(): Promise<void> {
    this.client = await StreamClient.connect(this.#master, {
      positions: true,
      onUpdate: (...line) => this.#update(...line),
      onRequest: (message) => this.#question(message),
      onNotification: (message) => this.#told(message),
    });
  }

  /** Its own session. */
  async make(): Promise<string> {
    const sessionId = await this.client.newSession();
    this.sessions.push(sessionId);
    this.tracks.set(sessionId, { whole: false, due: 1, bytes: 0, place: nowhere(), questions: new Map() });
    return sessionId;
  }

  async attach(sessionId: string, manner: Manner): Promise<void> {
    const { client } = this;
    const former = this.tracks.get(sessionId);
    const after = manner === "after" && former?.place.run !== undefined ? former : undefined;
    const method = manner === "resume" || after ? "session/resume" : "session/load";
    const track = after ?? {
      whole: method === "session/load",
      due: method === "session/load" ? 1 : undefined,
      bytes: 0,
    };
    this.tracks.set(sessionId, { ...track, place: nowhere(), questions: new Map() });
    const place = after && { run: after.place.run, position: after.place.at };
    const meta = place ? { _meta: { "acp-master": { after: place } } } : {};
    try {
      await client.call(method, { sessionId, cwd: client.cwd, mcpServers: [], ...meta });
    } catch (error) {
      if (client === this.client && !this.dying) faults.push(`${sessionId}: ${String(error)}`);
    }
  }

  /** The next client takes the place; with all its sessions, or still on the way to them. */
  async replace(): Promise<void> {
    this.dying = true;
    await this.client.kill();
    await this.connect();
    this.dying = false;
    const attached = this.sessions.map((id) => this.attach(id, random.pick(["load", "after", "after", "resume"])));
    if (random.below(4) > 0) await Promise.all(attached);
  }

  #update(bytes: Buffer, start: number, end: number): void {
    const sessionId = sessionOf(bytes, start);
    const track = this.tracks.get(sessionId);
    if (track === undefined) return; // its commands, before its own session is known
    const { place } = track;
    track.bytes += end - start;
    place.at = place.next ?? place.at + end - start;
    place.next = undefined;
    const number = numberOf(bytes, start, end);
    if (number === undefined) return;
    if (track.due !== undefined && number !== track.due) {
      faults.push(`${sessionId}: ${number} came where ${track.due} was due`);
    }
    track.due = number + 1;
    if (number === LAST) streamed.add(sessionId);
  }

  #told({ method, params }: Message): void {
    const place = method === "_acp-master/position" ? this.tracks.get(params.sessionId)?.place : undefined;
    if (place) Object.assign(place, { run: params.run, at: params.at, next: params.next });
  }

  #question({ method, id, params }: Message): void {
    const { approvalId } = params._meta["acp-master"];
    const { questions } = this.tracks.get(params.sessionId)!;
    if (method !== "session/request_permission" || questions.has(approvalId)) {
      faults.push(`${params.sessionId}: ${method} ${approvalId} came twice`);
    }
    questions.set(approvalId, { id: id!, params });
  }
}

/** Many at once, but not all. */
async function forEach<Item>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function keepDying(seats: readonly Seat[]): Promise<number> {
  let deaths = 0;
  const one = async (): Promise<void> => {
    while (streamed.size < SESSIONS) {
      await random.pick(seats.filter(({ dying }) => !dying)).replace();
      deaths++;
    }
  };
  await Promise.all(Array.from({ length: 12 }, one));
  return deaths;
}

function journals(master: Master): Map<string, Buffer> {
  const sessions = join(master.home, "state", "sessions");
  return new Map(
    readdirSync(sessions).map((name) => [
      JSON.parse(readFileSync(join(sessions, name, "session.json"), "utf8")).sessionId,
      readFileSync(join(sessions, name, "journal.ndjson")),
    ]),
  );
}

it("loses, doubles and reorders nothing over sessions, questions and clients that die and come back", async () => {
  console.log(`seed ${seed}, ${SESSIONS * LAST} updates`);
  await using master = await startMaster({ config: { defaultAgent: "demo" } });
  const seats = Array.from({ length: SESSIONS }, () => new Seat(master));
  const made: string[] = [];
  await forEach(seats, 8, async (seat) => {
    await seat.connect();
    made.push(await seat.make());
  });
  await forEach(seats, 8, async (seat) => {
    while (seat.sessions.length < ATTACHMENTS) {
      const sessionId = random.pick(made);
      if (seat.sessions.includes(sessionId)) continue;
      seat.sessions.push(sessionId);
      await seat.attach(sessionId, random.pick(["load", "resume"]));
    }
  });
  const looking = await StreamClient.connect(master, { agent: null });
  const began = performance.now();
  for (const { client, sessions } of seats) {
    const prompt = [{ type: "text", text: `/together /ask ${QUESTIONS}; /flood ${LAST} 100` }];
    // Nobody waits for the answer: whoever asked may be dead by then.
    client.send({ jsonrpc: "2.0", id: "turn", method: "session/prompt", params: { sessionId: sessions[0], prompt } });
  }
  // What was sent before is in the daemon's hands when this is answered.
  await Promise.all(seats.map(({ client }) => client.call("_acp-master/status", {})));
  const deaths = await keepDying(seats);
  const seconds = (performance.now() - began) / 1000;
  const status = await looking.call("_acp-master/status", {});
  console.log(
    `${Math.round((SESSIONS * LAST) / seconds)} updates/s, ${deaths} clients died, ${status.helpers.length} Helpers, ` +
      `${Math.round(residentBytesOf(master.pid) / 1024 / 1024)} MiB`,
  );
  const tracks = seats.flatMap((seat) => [...seat.tracks.values()]);
  // One that was only resumed may have come after the last number.
  const isDone = ({ due }: Track): boolean => due === LAST + 1 || due === undefined;
  await eventually(() => tracks.every(isDone), "everybody has read the last number", 120_000);
  expect(faults).toEqual([]);
  expect(deaths).toBeGreaterThan(SESSIONS / 4);
  expect(status.helpers).toHaveLength(SESSIONS);

  // All questions were open meanwhile, and are before whoever is there now.
  const everywhere = (): boolean => tracks.every(({ questions }) => questions.size === QUESTIONS);
  await eventually(everywhere, "every Helper has passed its questions on", 120_000);
  const { approvals } = await looking.call("_acp-master/approvals", {});
  expect(approvals).toHaveLength(SESSIONS * QUESTIONS);
  for (const { approvalId, sessionId } of approvals) {
    const [seat] = seats.filter(({ sessions }) => sessions.includes(sessionId));
    const asked = seat!.tracks.get(sessionId)!.questions.get(approvalId)!;
    const outcome = { outcome: "selected", optionId: "allow" };
    if (random.below(2) === 0) await looking.call("_acp-master/approval/answer", { approvalId, outcome });
    else seat!.client.send({ jsonrpc: "2.0", id: asked.id, result: { outcome } });
  }
  const isIdle = async (): Promise<boolean> => {
    const { sessions } = await looking.call("_acp-master/sessions", {});
    return sessions.length === SESSIONS && sessions.every(({ state }: Loose) => state === "idle");
  };
  await eventually(isIdle, "every turn is over", 120_000);

  const record = readFileSync(join(master.home, "state", "audit.ndjson"), "utf8").split("\n");
  const decided = record.flatMap((line) => /"type":"decision","approvalId":"([^"]+)"/.exec(line)?.[1] ?? []);
  expect(decided).toHaveLength(approvals.length);
  expect(new Set(decided)).toEqual(new Set(approvals.map(({ approvalId }: Loose) => approvalId)));
  const kept = journals(master);
  expect(kept.size).toBe(SESSIONS);
  await forEach([...kept], 8, async ([sessionId, bytes]) => {
    const texts = [
      ...bytes.toString("latin1").matchAll(/"agent_message_chunk","content":\{"type":"text","text":"([^"]+)/g),
    ];
    const numbers = texts.flatMap(([, text]) => (/^\d{10} /.test(text!) ? [Number(text!.slice(0, 10))] : []));
    expect(numbers).toEqual(Array.from({ length: LAST }, (_, n) => n + 1));
    const outcomes = texts.flatMap(([, text]) => (/^\d: /.test(text!) ? [text] : []));
    expect(outcomes).toHaveLength(QUESTIONS);
    expect(new Set(outcomes)).toEqual(new Set([String.raw`1: selected allow\n`, String.raw`2: selected allow\n`]));
    const late = await Recorder.attach(master, sessionId);
    expect(late.bytes).toBe(bytes.length);
    expect(late.hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
    await late.client.kill();
  });
  const whole = seats.flatMap((seat) => [...seat.tracks].filter(([, track]) => track.whole));
  await eventually(
    () => whole.every(([sessionId, track]) => track.bytes === kept.get(sessionId)!.length),
    "whoever loaded a session, and went on from there, has read all of it",
    60_000,
  );
  expect(faults).toEqual([]);
}, 900_000);
