// Where a shim knows itself to be in a session's log: right to the byte at whatever place its connection breaks off, for
// every kind of frame that differs from what the log holds.
import { array, assert, boolean, constantFrom, double, integer, nat, property, record } from "fast-check";
import { Envelope, FrameSplitter, peek, readString } from "@acp-master/wire";
import { describe, expect, it } from "vitest";
import { Attachment, type AttachedSession } from "../../src/router/attachment.ts";
import { clientCapabilities } from "../../src/router/client-capabilities.ts";
import type { SessionLog } from "../../src/router/session-log.ts";
import { AttachedSessions } from "../../src/shim/attached-sessions.ts";
import { ownNotification } from "../../src/shim/own-notification.ts";

const kinds = ["chunk", "own", "unannounced", "child", "longer"] as const;
type Kind = (typeof kinds)[number];

const updateOf = (kind: Kind): string => (kind === "unannounced" ? "notice" : "agent_message_chunk");
const frameOf = (kind: Kind, n: number, fill: number): Buffer => {
  const update = { sessionUpdate: updateOf(kind), kind, n, fill: "ü".repeat(fill) };
  const params = { sessionId: kind === "child" ? "child" : "a", update };
  return Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`);
};

/** A log of which nothing is forgotten. */
class WholeLog implements SessionLog {
  readonly start = 0;
  run = "first";
  #bytes = Buffer.alloc(0);

  get end(): number {
    return this.#bytes.length;
  }

  append(frames: Buffer): number {
    this.#bytes = Buffer.concat([this.#bytes, frames]);
    return this.end;
  }

  read = (from: number, to: number): Buffer[] => [this.#bytes.subarray(from, to)];
  resumable = (): boolean => true;
  trim = (): void => {};
  turnBoundary = (): void => {};
}

interface Shape {
  readonly renamed: boolean;
  readonly hasChildren: boolean;
  readonly hasOptionalKinds: boolean;
  readonly formerUntil: number;
  readonly announces: boolean;
}

function sessionOf(log: SessionLog, shape: Shape): AttachedSession {
  return {
    ...shape,
    sessionId: shape.renamed ? "a~2" : "a",
    log,
    rewritesOutward: () => shape.renamed,
    isOfChild: ({ bytes, sessionId }: Envelope) => readString(bytes, sessionId) !== "a",
    outward: (frame: Buffer) => {
      const text = frame.toString();
      const named = shape.renamed ? text.replace('"sessionId":"a"', '"sessionId":"a~2"') : text;
      return named.includes('"longer"') && shape.renamed
        ? Buffer.from(named.replace('"fill"', '"more":1,"fill"'))
        : Buffer.from(named);
    },
  };
}

interface Entry {
  readonly kind: Kind;
  readonly fill: number;
}

interface How {
  readonly pieces: number;
  readonly newRunAt: number;
  /** There is time between the pieces. */
  readonly quiet: boolean;
}

/** What the frames leave for a client that starts at their beginning, in pieces of so many frames. */
function rendered(entries: readonly Entry[], shape: Shape, { pieces, newRunAt, quiet }: How) {
  const log = new WholeLog();
  const capabilities = clientCapabilities(
    shape.announces ? { session: { notices: {}, compaction: {} }, plan: {}, subagents: {} } : {},
  );
  const attachment = new Attachment(sessionOf(log, shape), { role: "controller", positions: true, capabilities }, 0);
  const ends: number[] = [];
  const output: Buffer[] = [attachment.beginsAt(0)!.mark];
  attachment.beginsAt(0)!.left();
  attachment.gated = false;
  for (let from = 0; from < entries.length; from += pieces) {
    if (from >= newRunAt) log.run = "second";
    const piece = entries.slice(from, from + pieces);
    const position = log.end;
    for (const [index, { kind, fill }] of piece.entries()) {
      const frame = frameOf(kind, from + index, fill);
      if (kind === "own") attachment.skip(log.end, log.end + frame.length);
      log.append(frame);
      ends.push(log.end);
    }
    const [frames] = log.read(position, log.end);
    output.push(attachment.render(frames!, position));
    attachment.cursor = log.end;
    if (quiet) output.push(attachment.tell());
  }
  output.push(attachment.tell());
  return { output: Buffer.concat(output), ends, writes: output.filter(({ length }) => length > 0).length };
}

/** What a shim makes of the whole lines of it. */
function followed(bytes: Buffer, sessionId: string) {
  const sessions = new AttachedSessions(() => {});
  sessions.opened(sessionId, {});
  const seen: number[] = [];
  const envelope = new Envelope();
  const splitter = new FrameSplitter(1 << 30, {
    frame: (line, start, end) => {
      peek(line, start, end, envelope);
      if (ownNotification(envelope) === "position") return sessions.told(envelope);
      seen.push(JSON.parse(line.toString("utf8", start, end)).params.update.n);
      sessions.passed(envelope);
    },
    tooLong: () => {},
  });
  splitter.push(Buffer.from(bytes));
  const after: unknown = sessions.resumed().map(({ params }) => readAfter(params))[0];
  return { seen, ...readPlace(after) };
}

const member = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
const readAfter = (params: object): unknown => member(member(member(params, "_meta"), "acp-master"), "after");
function readPlace(after: unknown): { run: unknown; position: number } {
  return { run: member(after, "run"), position: Number(member(after, "position")) };
}

/** A daemon does not know what sessions under this one a former run had. */
const asKnown = (some: Omit<Shape, "hasChildren">, list: readonly Entry[]): Shape => ({
  ...some,
  hasChildren: some.formerUntil < 1_000_000 && list.some(({ kind }) => kind === "child"),
});

describe("a shim's position", () => {
  const entries = array(record({ kind: constantFrom(...kinds), fill: nat(40) }), {
    minLength: 1,
    maxLength: 25,
  });
  const shape = record({
    renamed: boolean(),
    hasOptionalKinds: boolean(),
    formerUntil: constantFrom(0, 300, 1_000_000),
    announces: boolean(),
  });
  const parameters = record({
    pieces: integer({ min: 1, max: 8 }),
    newRunAt: nat(25),
    quiet: boolean(),
    cut: double({ min: 0, max: 1, noNaN: true }),
  });

  it("is behind exactly the frames that it got, at whatever byte the connection breaks off", () => {
    assert(
      property(entries, shape, parameters, (list, some, { cut, ...how }) => {
        const whole = asKnown(some, list);
        const { output, ends } = rendered(list, whole, how);
        const first = output.indexOf("\n") + 1;
        const at = first + Math.floor(cut * (output.length - first));
        const { seen, position } = followed(output.subarray(0, at), whole.renamed ? "a~2" : "a");
        const visible = followed(output, whole.renamed ? "a~2" : "a").seen;
        expect(seen).toEqual(visible.slice(0, seen.length));
        expect([0, ...ends]).toContain(position);
        // Of what can be seen, all before the position has come and nothing behind it.
        expect(visible.filter((n) => ends[n]! <= position)).toEqual(seen);
      }),
      { numRuns: 500 },
    );
  });

  it("is at the end when all has come, in the run that wrote it, and its own frames are behind it", () => {
    assert(
      property(entries, shape, parameters, (list, some, how) => {
        const whole = asKnown(some, list);
        const { output, ends } = rendered(list, whole, how);
        const lastPiece = Math.floor((list.length - 1) / how.pieces) * how.pieces;
        const run = lastPiece >= how.newRunAt ? "second" : "first";
        const { run: toldRun, position, seen } = followed(output, whole.renamed ? "a~2" : "a");
        expect({ run: toldRun, position }).toEqual({ run, position: ends.at(-1) });
        expect(seen.some((n) => list[n]!.kind === "own")).toBe(false);
      }),
    );
  });

  it("costs nothing of its own while something to see follows", () => {
    const plain = { renamed: false, hasOptionalKinds: false, formerUntil: 0, announces: false, hasChildren: false };
    const turns = Array.from({ length: 200 }, (_, n): Entry => ({ kind: n % 2 === 0 ? "own" : "chunk", fill: 3 }));
    const { writes } = rendered(turns, plain, { pieces: 1, newRunAt: 2000, quiet: false });
    expect(writes).toBe(1 + 100);
  });

  it("costs a plain stream one mark", () => {
    const plain = { renamed: false, hasOptionalKinds: false, formerUntil: 0, announces: false, hasChildren: false };
    const list = Array.from({ length: 1000 }, (): Entry => ({ kind: "chunk", fill: 3 }));
    const { output } = rendered(list, plain, { pieces: 3, newRunAt: 2000, quiet: true });
    expect(output.toString().split("_acp-master/position")).toHaveLength(2);
  });
});
