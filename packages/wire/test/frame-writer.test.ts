import { EventEmitter, once } from "node:events";
import { Writable } from "node:stream";
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
  expect(stream.batches).toEqual([["a\n", "b\n"], ["c\n"], ["d\n", "e\n"]]);
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
