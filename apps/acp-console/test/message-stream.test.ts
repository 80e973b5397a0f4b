// The daemon's socket as the SDK's stream: updates aside and in order, and no more read than is taken.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { messageStream, type OnUpdates } from "../src/daemon/message-stream.ts";
import type { JsonObject } from "../src/protocol.ts";

const open: { destroy: () => void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

async function pair(): Promise<{ daemon: Socket; own: Socket }> {
  const server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = connect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
  const daemon = await accepted;
  open.push(own, daemon, { destroy: () => server.close() });
  return { daemon, own };
}

const update = (n: number, text = ""): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { n, text } })}\n`;

it("hands updates over before the answer that follows them, and everything else to the SDK", async () => {
  const { daemon, own } = await pair();
  const seen: unknown[] = [];
  const onUpdates: OnUpdates = (updates) => void seen.push(...updates.map(({ n }) => n));
  const stream = messageStream(own, onUpdates);
  const reader = stream.readable.getReader();
  const answer = '{"jsonrpc":"2.0","id":1,"result":{}}\n';
  // A request is none of the updates, whatever it is called.
  const request = '{"jsonrpc":"2.0","id":2,"method":"session/update","params":{}}\n';
  daemon.write(update(1) + update(2) + answer + update(3) + request);
  expect((await reader.read()).value).toMatchObject({ id: 1 });
  expect(seen.slice(0, 2)).toEqual([1, 2]);
  expect((await reader.read()).value).toMatchObject({ id: 2, method: "session/update" });
  expect(seen).toEqual([1, 2, 3]);
  const writer = stream.writable.getWriter();
  await writer.write({ jsonrpc: "2.0", method: "x" });
  const [line]: unknown[] = await once(daemon, "data");
  expect(String(line)).toBe('{"jsonrpc":"2.0","method":"x"}\n');
});

it("reads no more while what it has read is not taken", async () => {
  const { daemon, own } = await pair();
  const count = 400;
  const release = new AbortController();
  const taken: JsonObject[] = [];
  const stream = messageStream(own, async (updates) => {
    taken.push(...updates);
    if (!release.signal.aborted) await once(release.signal, "abort");
  });
  const reader = stream.readable.getReader();
  const end = reader.read();
  for (let n = 0; n < count; n++) daemon.write(update(n, "x".repeat(100_000)));
  daemon.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  // What could be read meanwhile has been: many turns of a connection of the same kind pass.
  const other = await pair();
  other.own.pipe(other.own);
  for (let n = 0; n < 200; n++) {
    other.daemon.write(".");
    await once(other.daemon, "data");
  }
  expect(own.bytesRead).toBeLessThan(2 * 1024 * 1024);
  release.abort();
  await end;
  expect(taken.map(({ n }) => n)).toEqual(Array.from({ length: count }, (_, n) => n));
});

it("ends with an error at a line that is no JSON or far too long", async () => {
  const { daemon, own } = await pair();
  const stream = messageStream(own, () => undefined);
  const reader = stream.readable.getReader();
  daemon.write("no json\n");
  await expect(reader.read()).rejects.toThrow();
});
