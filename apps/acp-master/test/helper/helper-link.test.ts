// What a Helper is told and nobody waits for: it may leave later, never out of order.
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { HelperLink } from "../../src/helper/helper-link.ts";

function open() {
  const output = new PassThrough();
  const writes: string[] = [];
  output.on("data", (chunk: Buffer) => writes.push(chunk.toString()));
  const link = new HelperLink(
    { input: new PassThrough(), output },
    { maxFrameBytes: 1024 * 1024, stallMs: 60_000 },
    { notification() {}, dropped() {}, flooded() {}, drained() {}, over() {} },
  );
  return { output, writes, link };
}

/** The methods of the messages in one write. */
const methods = (write: string | undefined): string[] =>
  [...(write ?? "").matchAll(/"method":"([^"]*)"/g)].map(([, method]) => method ?? "");

test("a mention leaves ahead of what comes next, as one write with it", async () => {
  const { output, writes, link } = open();
  link.mention("end-1", {});
  link.mention("end-2", {});
  link.notify("said", {});
  link.mention("end-3", {});
  link.request("asked", {}, 60_000, () => {}).cancel();
  await once(output, "data");
  expect(methods(writes[0])).toEqual(["end-1", "end-2", "said", "end-3", "asked", "$/cancelRequest"]);
  link[Symbol.dispose]();
});

test("a mention is not overtaken by the end of what was asked before it", async () => {
  const { output, writes, link } = open();
  const asked = link.request("asked", {}, 60_000, () => {});
  await once(output, "data");
  link.mention("end", {});
  asked.cancel();
  await once(output, "data");
  expect(writes.map(methods)).toEqual([["asked"], ["end", "$/cancelRequest"]]);
  link[Symbol.dispose]();
});

test("mentions leave by themselves, as one write", async () => {
  const { output, writes, link } = open();
  link.mention("end-1", {});
  link.mention("end-2", {});
  await once(output, "data");
  expect(writes.map(methods)).toEqual([["end-1", "end-2"]]);
  link[Symbol.dispose]();
});

test("many mentions do not wait for more", async () => {
  const { output, writes, link } = open();
  for (let n = 0; n < 200; n++) link.mention("end", {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes.flatMap(methods)).toHaveLength(192);
  await once(output, "data");
  expect(writes.flatMap(methods)).toHaveLength(200);
  link[Symbol.dispose]();
});

test("a mention leaves before the output ends, and none after the link", async () => {
  const { output, writes, link } = open();
  link.mention("end-1", {});
  link.endOutput();
  await once(output, "end");
  expect(writes.flatMap(methods)).toEqual(["end-1"]);
  link.mention("end-2", {});
  link[Symbol.dispose]();
  link.mention("end-3", {});
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(writes.flatMap(methods)).toEqual(["end-1"]);
});
