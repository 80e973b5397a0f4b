// What waits for a Helper that reads slowly, or not at all.
import { EventEmitter, once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { BoundedOutput, maxWaitingBytes, maxWaitingMessages } from "../../src/helper/bounded-output.ts";

function open(stallMs = 60_000) {
  const pipe = new PassThrough({ highWaterMark: 1 });
  const seen: string[] = [];
  const said = new EventEmitter();
  const next = once(said, "said");
  const note = (what: string) => {
    seen.push(what);
    said.emit("said");
  };
  const output = new BoundedOutput(pipe, stallMs, { drained: () => note("drained"), fault: note });
  const put = (size: number) => output.write(Buffer.from("h"), Buffer.alloc(size - 1));
  return { pipe, output, seen, next, put };
}

test("lanes stop at the message bound and go on when half of it is read", async () => {
  const { pipe, output, seen, next, put } = open();
  for (let n = 0; n < maxWaitingMessages; n++) {
    expect(output.canTake(10)).toBe(true);
    put(10);
  }
  expect(output.canTake(10)).toBe(false);
  pipe.resume();
  await next;
  expect(seen).toEqual(["drained"]);
  expect(output.canTake(10)).toBe(true);
  output[Symbol.dispose]();
});

test("one message over the byte bound is taken alone", () => {
  const { output, put } = open();
  expect(output.canTake(maxWaitingBytes + 1)).toBe(true);
  put(maxWaitingBytes + 1);
  expect(output.canTake(1)).toBe(false);
  output[Symbol.dispose]();
});

test("messages of one tick count before they are handed to the pipe", () => {
  const { output, put } = open();
  for (let n = 0; n < maxWaitingMessages; n++) put(1);
  expect(output.canTake(1)).toBe(false);
  output[Symbol.dispose]();
});

test("a reader that reads nothing is at fault", async () => {
  const { seen, next, put } = open(20);
  put(100_000);
  put(100_000);
  await next;
  expect(seen).toEqual(["stalled"]);
});

test("a slow reader of one large message makes progress and is not at fault", async () => {
  const { pipe, output, seen, put } = open(1_000);
  put(1024 * 1024);
  let read = 0;
  for await (const chunk of pipe) {
    read += Buffer.byteLength(chunk);
    if (read === 1024 * 1024) break;
  }
  expect(seen.filter((what) => what === "stalled")).toEqual([]);
  output[Symbol.dispose]();
});

test("far over the bound is a fault, whatever is sent", () => {
  const { seen, put } = open();
  for (let n = 0; n <= 4 * maxWaitingMessages; n++) put(1);
  expect(seen).toEqual(["overflow"]);
});
