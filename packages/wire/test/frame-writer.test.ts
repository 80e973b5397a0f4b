import { EventEmitter, once } from "node:events";
import { Writable } from "node:stream";
import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from "fast-check";
import { expect, test } from "vitest";
import { FrameWriter } from "../src/frame-writer.ts";
import { LocalLink, loopTurns } from "./local-link.ts";
import { ScriptChild } from "./script-child.ts";

/** Writes down which chunks reach the system together. */
class Batches extends Writable {
  readonly batches: string[][] = [];

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.batches.push([chunk.toString()]);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.batches.push(chunks.map(({ chunk }) => chunk.toString()));
    done();
  }
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("all writes of one tick leave together, those of the next one together again", async () => {
  const stream = new Batches();
  const writer = new FrameWriter(stream, {});
  writer.write(Buffer.from("a\n"));
  writer.write(Buffer.from("b\n"));
  expect(stream.batches).toEqual([]);
  expect(writer.pendingBytes).toBe(4);
  await loopTurns();
  writer.write(Buffer.from("c\n"));
  await loopTurns();
  writer.write(Buffer.from("d\n"));
  writer.write(Buffer.from("e\n"));
  writer.end();
  await once(stream, "finish");
  expect(stream.batches).toEqual([["a\nb\n"], ["c\n"], ["d\ne\n"]]);
});

test("large writes of one tick leave together and are not copied", async () => {
  const stream = new Batches({ highWaterMark: 1024 * 1024 });
  const writer = new FrameWriter(stream, {});
  const large = `${"x".repeat(20_000)}\n`;
  writer.write(Buffer.from(large));
  writer.write(Buffer.from("b\n"));
  await loopTurns();
  expect(stream.batches).toEqual([[large, "b\n"]]);
});

test("what has to wait keeps no much larger buffer alive, and what leaves at once is not copied", async () => {
  const chunks: Buffer[] = [];
  let goOn: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 1024 * 1024,
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      goOn = done;
    },
  });
  const writer = new FrameWriter(stream, {});
  const chunk = Buffer.from(`${"x".repeat(199)}\n`.repeat(500));
  for (const [start, end] of [
    [0, 200],
    [200, 400],
    [400, 60_000],
  ]) {
    writer.write(chunk.subarray(start, end));
    await loopTurns();
  }
  writer.send(chunk.subarray(60_000, 60_200));
  while (stream.writableLength > 0) goOn?.();
  expect(chunks.map(({ buffer }) => buffer === chunk.buffer)).toEqual([true, false, true, false]);
  expect(Buffer.concat(chunks).equals(chunk.subarray(0, 60_200))).toBe(true);
});

test("what somebody waits for leaves at once, in order with the rest of the tick", async () => {
  const stream = new Batches();
  const writer = new FrameWriter(stream, {});
  writer.send(Buffer.from("a\n"));
  expect(stream.batches).toEqual([["a\n"]]);
  writer.write(Buffer.from("b\n"));
  writer.write(Buffer.from("c\n"));
  writer.flush();
  expect(stream.batches).toEqual([["a\n"], ["b\nc\n"]]);
  writer.write(Buffer.from("d\n"));
  writer.send(Buffer.from("e\n"));
  writer.write(Buffer.from("f\n"));
  expect(stream.batches).toEqual([["a\n"], ["b\nc\n"], ["d\ne\n"]]);
  writer.end();
  writer.send(Buffer.from("g\n"));
  await once(stream, "finish");
  expect(stream.batches).toEqual([["a\n"], ["b\nc\n"], ["d\ne\n"], ["f\n"]]);
  expect(writer.droppedWrites).toBe(1);
});

test("what this tick has not handed over yet counts as waiting", async () => {
  await using link = await LocalLink.open();
  const drains = new EventEmitter();
  const drained = once(drains, "drain");
  const writer = new FrameWriter(link.near, { onDrain: () => drains.emit("drain") });
  const half = Buffer.alloc(link.near.writableHighWaterMark / 2, "\n");
  writer.write(half);
  expect(writer.congested).toBe(false);
  writer.write(half);
  expect([writer.congested, writer.pendingBytes]).toEqual([true, 2 * half.length]);
  link.far.resume();
  await drained;
  expect(writer.congested).toBe(false);
});

test("frames reach the other end of a socket in order, and then its end", async () => {
  await using link = await LocalLink.open();
  const writer = new FrameWriter(link.near, {});
  const received = readAll(link.far);
  for (let count = 0; count < 1000; count += 1) writer.write(Buffer.from(`${count}\n`));
  writer.end();
  expect(writer.ended).toBe(true);
  expect(await received).toBe(Array.from({ length: 1000 }, (_, count) => `${count}\n`).join(""));
});

test("frames reach a child process, and its input ends", async () => {
  await using child = new ScriptChild("process.stdin.pipe(process.stdout)");
  const writer = new FrameWriter(child.process.stdin, {});
  writer.write(Buffer.from("one\n"));
  writer.write(Buffer.from("two\n"));
  writer.end();
  expect(await readAll(child.process.stdout)).toBe("one\ntwo\n");
});

test("a peer that does not read makes it congested, and it drains when the peer reads", async () => {
  await using link = await LocalLink.open();
  const drains = new EventEmitter();
  const drained = once(drains, "drain");
  const writer = new FrameWriter(link.near, { onDrain: () => drains.emit("drain") });
  const frame = Buffer.alloc(4 * 1024 * 1024, "x");
  expect(writer.congested).toBe(false);
  writer.write(frame);
  writer.write(Buffer.from("\n"));
  await loopTurns();
  expect(writer.congested).toBe(true);
  expect(writer.pendingBytes).toBe(frame.length + 1);
  link.far.resume();
  await drained;
  expect(writer.congested).toBe(false);
  expect(writer.pendingBytes).toBe(0);
});

test("what is written after the end is dropped and counted", async () => {
  await using link = await LocalLink.open();
  const errors: Error[] = [];
  const writer = new FrameWriter(link.near, { onError: (error) => errors.push(error) });
  const received = readAll(link.far);
  writer.write(Buffer.from("one\n"));
  writer.end();
  writer.write(Buffer.from("two\n"));
  writer.write(Buffer.from("three\n"));
  writer.end();
  expect(await received).toBe("one\n");
  expect(writer.droppedWrites).toBe(2);
  expect(errors).toEqual([]);
});

test("a process that is gone costs one report, later frames are dropped without a word", async () => {
  await using child = new ScriptChild(
    "require('fs').closeSync(0); process.stdout.write('deaf'); setInterval(() => {}, 1000)",
  );
  await once(child.process.stdout, "data");
  const reported = new EventEmitter();
  const failed = once(reported, "failed");
  let reports = 0;
  const writer = new FrameWriter(child.process.stdin, {
    onError: (error) => {
      reports += 1;
      reported.emit("failed", error);
    },
  });
  writer.write(Buffer.from("one\n"));
  writer.write(Buffer.from("two\n"));
  expect(await failed).toMatchObject([{ code: "EPIPE" }]);
  writer.write(Buffer.from("three\n"));
  child.process.stdin.emit("error", new Error("a late second error"));
  await loopTurns();
  expect([reports, writer.droppedWrites, writer.ended, writer.pendingBytes]).toEqual([1, 1, true, 0]);
});

test("a destroyed socket swallows writes of the same tick and of later ones", async () => {
  await using link = await LocalLink.open();
  const writer = new FrameWriter(link.near, {});
  writer.write(Buffer.from("one\n"));
  link.near.destroy();
  writer.write(Buffer.from("two\n"));
  await once(link.near, "close");
  writer.write(Buffer.from("three\n"));
  writer.end();
  await loopTurns();
  expect(writer.ended).toBe(true);
  expect(writer.droppedWrites).toBe(2);
  expect(new FrameWriter(link.near, {}).ended).toBe(true);
});

/** Takes what it is given at once or later, as it is told. */
class Moody extends Writable {
  taken = "";
  readonly #moods: readonly boolean[];
  #next = 0;

  constructor(moods: readonly boolean[]) {
    super({ highWaterMark: 100 });
    this.#moods = moods;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.taken += chunk.toString();
    if (this.#moods[this.#next++ % this.#moods.length] === true) done();
    else setImmediate(done);
  }
}

test("whoever finds it congested is told when it is not any more, and no byte is lost or overtaken", async () => {
  const step = record({ how: constantFrom("write", "send", "flush", "tick"), size: integer({ min: 1, max: 150 }) });
  await assert(
    asyncProperty(array(step, { maxLength: 40 }), array(boolean(), { minLength: 1 }), async (steps, moods) => {
      const stream = new Moody(moods);
      let drained: (() => void) | undefined;
      const writer = new FrameWriter(stream, { onDrain: () => drained?.() });
      let wanted = "";
      for (const [index, { how, size }] of steps.entries()) {
        const text = String.fromCharCode(97 + (index % 26)).repeat(size);
        if (how === "write" || how === "send") {
          writer[how](Buffer.from(text));
          wanted += text;
        } else if (how === "flush") writer.flush();
        else await new Promise((resolve) => setImmediate(resolve));
        // As a client's outbox does it: nothing more is written until then.
        while (writer.congested) await new Promise<void>((resolve) => (drained = resolve));
      }
      writer.end();
      await once(stream, "finish");
      expect(stream.taken).toBe(wanted);
    }),
    { numRuns: 300 },
  );
});
