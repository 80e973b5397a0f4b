import { EventEmitter, once } from "node:events";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { FrameReaderReceiver } from "../src/frame-reader.ts";
import { FrameReader } from "../src/frame-reader.ts";
import { LocalLink, loopTurns } from "./local-link.ts";
import { ScriptChild } from "./script-child.ts";

const LIMIT = 1024 * 1024;

/** Writes down what a reader says, and lets a test wait for it. */
class Log implements FrameReaderReceiver {
  readonly lines: string[] = [];
  onFrame: (frame: string) => void = () => undefined;
  private wake: () => void = () => undefined;

  frame(bytes: Buffer, start: number, end: number): void {
    const frame = bytes.toString("utf8", start, end);
    this.add(`frame ${frame}`);
    this.onFrame(frame);
  }

  tooLong(limit: number): void {
    this.add(`too long ${limit}`);
  }

  chunkEnd(): void {
    this.add("chunk end");
  }

  ended(cause?: Error): void {
    this.add(cause === undefined ? "ended" : `ended by ${"code" in cause ? String(cause.code) : cause.message}`);
  }

  async until(line: string): Promise<void> {
    while (!this.lines.includes(line)) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  /** The calls but for the ends of chunks, whose number depends on the kernel. */
  get calls(): string[] {
    return this.lines.filter((line) => line !== "chunk end");
  }

  private add(line: string): void {
    this.lines.push(line);
    this.wake();
  }
}

function readerOf(stream: Readable, limit = LIMIT): { log: Log; reader: FrameReader } {
  const log = new Log();
  return { log, reader: new FrameReader(stream, limit, log) };
}

test("frames of a socket come in order, and the end comes once, last", async () => {
  await using link = await LocalLink.open();
  const { log } = readerOf(link.near);
  link.far.write('{"a":1}\r\n{"b":"\u4e2d');
  await log.until('frame {"a":1}');
  link.far.end('"}\n\n{"c":3}\n');
  await log.until("ended");
  await loopTurns();
  expect(log.calls).toEqual(['frame {"a":1}', 'frame {"b":"\u4e2d"}', 'frame {"c":3}', "ended"]);
});

test("a character cut by the chunks of a child process comes through whole", async () => {
  const script = `const bytes = Buffer.from('{"text":"\u4e2d\u6587"}\\n'); let at = 0;
    const next = () => { if (at < bytes.length) process.stdout.write(bytes.subarray(at, ++at), () => setImmediate(next)); }; next();`;
  await using child = new ScriptChild(script);
  const { log } = readerOf(child.process.stdout);
  await log.until("ended");
  expect(log.calls).toEqual(['frame {"text":"\u4e2d\u6587"}', "ended"]);
});

test("the last line of a process that exits without a line feed is a frame before the end", async () => {
  await using child = new ScriptChild("process.stdout.write('one\\ntwo')");
  const { log } = readerOf(child.process.stdout);
  await log.until("ended");
  expect(log.calls).toEqual(["frame one", "frame two", "ended"]);
  expect(log.lines.slice(-2)).toEqual(["chunk end", "ended"]);
});

test("a killed process ends the input once, after what it wrote", async () => {
  await using child = new ScriptChild("process.stdout.write('one\\nhalf'); setInterval(() => {}, 1000)");
  const { log } = readerOf(child.process.stdout);
  await log.until("frame one");
  child.kill();
  await log.until("ended");
  await loopTurns();
  expect(log.calls).toEqual(["frame one", "frame half", "ended"]);
});

test("a reset connection ends the input once, with its cause", async () => {
  await using link = await LocalLink.open("tcp");
  const { log } = readerOf(link.near);
  link.far.write("one\n");
  await log.until("frame one");
  link.far.resetAndDestroy();
  await log.until("ended by ECONNRESET");
  await loopTurns();
  expect(log.calls).toEqual(["frame one", "ended by ECONNRESET"]);
});

test("a stream that is destroyed here ends the input, with a cause if there was one", async () => {
  for (const cause of [undefined, new Error("given up")]) {
    await using link = await LocalLink.open();
    const { log } = readerOf(link.near);
    link.far.write("one\nrest");
    await log.until("frame one");
    link.near.destroy(cause);
    await log.until(cause === undefined ? "ended" : "ended by given up");
    await loopTurns();
    expect(log.calls.at(-1)).toBe(cause === undefined ? "ended" : "ended by given up");
    expect(log.calls.filter((call) => call.startsWith("ended"))).toHaveLength(1);
  }
});

test("a stream that is over already ends at once", async () => {
  await using link = await LocalLink.open();
  link.near.destroy();
  await once(link.near, "close");
  const { log } = readerOf(link.near);
  expect(log.calls).toEqual([]);
  await log.until("ended");
  await loopTurns();
  expect(log.calls).toEqual(["ended"]);
});

test("while paused no further chunk is read; after resume everything comes in order", async () => {
  await using link = await LocalLink.open();
  const { log, reader } = readerOf(link.near);
  log.onFrame = (frame) => {
    if (frame === "one") reader.pause();
  };
  link.far.write("one\nsame chunk\n");
  await log.until("frame same chunk");
  await new Promise((resolve) => link.far.write("two\n", resolve));
  await new Promise<void>((resolve) => link.far.end("three", resolve));
  await loopTurns();
  expect(log.calls).toEqual(["frame one", "frame same chunk"]);
  reader.resume();
  await log.until("ended");
  expect(log.calls).toEqual(["frame one", "frame same chunk", "frame two", "frame three", "ended"]);
});

test("a pausing reader stops a fast writer, and no byte is lost", async () => {
  await using link = await LocalLink.open();
  const { log, reader } = readerOf(link.near);
  let resumed = 0;
  log.onFrame = () => {
    reader.pause();
    setImmediate(() => {
      resumed += 1;
      reader.resume();
    });
  };
  const frame = "x".repeat(50_000);
  for (let count = 0; count < 100; count += 1) link.far.write(`${count} ${frame}\n`);
  link.far.end();
  await log.until("ended");
  expect(log.calls.slice(0, -1).map((call) => call.length)).toEqual(
    Array.from({ length: 100 }, (_, count) => `frame ${count} ${frame}`.length),
  );
  expect(resumed).toBeGreaterThan(50);
});

test("after a frame over the limit nothing comes but the end", async () => {
  await using link = await LocalLink.open();
  const { log } = readerOf(link.near, 10);
  link.far.end("one\n12345678901\ntwo\n");
  await log.until("ended");
  expect(log.calls).toEqual(["frame one", "too long 10", "ended"]);
});

test("the end of each chunk is told after its frames", async () => {
  await using link = await LocalLink.open();
  const { log } = readerOf(link.near);
  link.far.write("one\ntwo\n");
  await log.until("chunk end");
  expect(log.lines).toEqual(["frame one", "frame two", "chunk end"]);
});

test("a chunk is shown ahead of its frames, and which begin with a line's first byte; one that is taken is not delivered", async () => {
  await using link = await LocalLink.open();
  const said: string[] = [];
  const heard = new EventEmitter();
  void new FrameReader(link.near, LIMIT, {
    arrives: (chunk, begins) => {
      said.push(`chunk ${chunk.toString()}${begins ? "" : "?"}`);
      return chunk.includes("taken");
    },
    frame: (bytes, start, end) => said.push(`frame ${bytes.toString("utf8", start, end)}`),
    chunkEnd: () => heard.emit("chunk"),
    tooLong: () => {},
    ended: () => {},
  });
  for (const piece of ["1\n2", "3\n", "taken\n", "4\n"]) {
    const chunk = once(heard, "chunk");
    link.far.write(piece);
    await chunk;
  }
  expect(said).toEqual(["chunk 1\n2", "frame 1", "chunk 3\n?", "frame 23", "chunk taken\n", "chunk 4\n", "frame 4"]);
});
