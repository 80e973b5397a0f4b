// What has passed is held by nobody: the chunk that was read last is gone when its frames are, not only when the next one comes.
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Envelope } from "../src/envelope.ts";
import { FrameReader } from "../src/frame-reader.ts";
import { peek } from "../src/peek.ts";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

const frame = (text: string): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", text } })}\n`;

test.each([
  ["one small frame", frame("a")],
  ["several of one shape", ["a", "b", "c"].map(frame).join("")],
  ["a long one", frame("x".repeat(5000))],
])("a chunk with %s is let go with its frames", async (_, text) => {
  if (typeof collect !== "function") throw new Error("no collection can be had");
  const envelope = new Envelope();
  const chunks: WeakRef<ArrayBufferLike>[] = [];
  let frames = 0;
  const stream = new Readable({
    read: () => {},
  });
  const passed = new Promise<void>((resolve) => {
    void new FrameReader(stream, 1 << 20, {
      frame: (bytes, start, end) => {
        peek(bytes, start, end, envelope);
        expect(envelope.kind).toBe("notification");
        frames += 1;
      },
      chunkEnd: () => {
        envelope.release();
        resolve();
      },
      tooLong: () => {},
      ended: () => {},
    });
  });
  (() => {
    const chunk = Buffer.from(Uint8Array.from(Buffer.from(text)).buffer);
    chunks.push(new WeakRef(chunk.buffer));
    stream.push(chunk);
  })();
  await passed;
  expect(frames).toBeGreaterThan(0);
  // A reference that was looked at in this turn of the event loop lives to its end.
  for (let turn = 0; turn < 20 && chunks[0]!.deref() !== undefined; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
  }
  expect(chunks[0]!.deref()).toBeUndefined();
});
