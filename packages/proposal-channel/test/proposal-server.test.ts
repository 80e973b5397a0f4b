import { once } from "node:events";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maxFrameBytes, readMs } from "../src/limits.ts";
import { ProposalServer, type Responder, type ServerOptions } from "../src/proposal-server.ts";
import { instance } from "./channels.ts";
import { FakeClock } from "./fake-clock.ts";
import { RawClient } from "./raw-client.ts";

let folder: string;
let served: { line: Buffer; responder: Responder }[];
let logged: [string, Readonly<Record<string, string | number>>][];
let opened: ProposalServer[];
let onServe: (line: Buffer, responder: Responder) => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "server-"));
  served = [];
  logged = [];
  opened = [];
  onServe = (line, responder) => {
    served.push({ line, responder });
    void responder.send(JSON.stringify({ bytes: line.length })).then(() => responder.close());
  };
});

afterEach(async () => {
  for (const server of opened) await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function open(changes: Partial<ServerOptions> = {}): Promise<ProposalServer> {
  const result = await ProposalServer.open({
    folder,
    instance,
    serve: (line, responder) => onServe(line, responder),
    onLost: () => logged.push(["lost", {}]),
    log: (event, fields) => logged.push([event, fields]),
    ...changes,
  });
  if (!result.ok) throw new Error(result.message);
  opened.push(result.server);
  return result.server;
}

test("the socket is 0600 in its folder, and gone after the end", async () => {
  const server = await open();
  expect(server.path).toBe(join(folder, `${instance}.sock`));
  const stat = lstatSync(server.path);
  expect(stat.isSocket()).toBe(true);
  expect(stat.mode & 0o777).toBe(0o600);
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  expect(readdirSync(folder)).toEqual([]);
  expect(logged).toEqual([]);
});

test("a folder that is not private, a place that is taken or too long a path opens nothing", async () => {
  const options = { folder, instance, serve: onServe, onLost: () => {}, log: () => {} };
  chmodSync(folder, 0o755);
  expect(await ProposalServer.open(options)).toMatchObject({
    ok: false,
    message: expect.stringContaining("chmod 700"),
  });
  chmodSync(folder, 0o700);
  writeFileSync(join(folder, `${instance}.sock`), "mine");
  expect(await ProposalServer.open(options)).toMatchObject({
    ok: false,
    message: expect.stringContaining("EADDRINUSE"),
  });
  expect(readdirSync(folder)).toEqual([`${instance}.sock`]);
  expect((await ProposalServer.open({ ...options, folder: `/${"x".repeat(100)}` })).ok).toBe(false);
});

describe.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
])("with %s", (_name, end) => {
  test("a frame of 50,176 bytes is served and one of 50,177 is closed without a response", async () => {
    const server = await open();
    const full = "x".repeat(maxFrameBytes);
    expect(await (await RawClient.open(server.path)).send(`${full}${end}`).all()).toEqual([{ bytes: maxFrameBytes }]);
    expect(await (await RawClient.open(server.path)).send(`${full}x${end}`).all()).toEqual([]);
    expect(served).toHaveLength(1);
    expect(logged).toEqual([["proposal_frame_dropped", { why: "too_long", bytes: 0 }]]);
  });
});

test("a frame without an end is refused as soon as it cannot fit, and nothing is kept of it", async () => {
  const server = await open();
  const client = await RawClient.open(server.path);
  expect(await client.send(Buffer.alloc(maxFrameBytes + 2, 0x78)).all()).toEqual([]);
  expect(served).toEqual([]);
});

test("the end of input before a byte, or before a line end, closes without a response", async () => {
  const server = await open();
  for (const text of ["", "{}"]) {
    const client = await RawClient.open(server.path);
    client.socket.end(text);
    expect(await client.all()).toEqual([]);
  }
  expect(logged.map(([, fields]) => fields)).toEqual([
    { why: "ended", bytes: 0 },
    { why: "ended", bytes: 2 },
  ]);
});

test("five seconds without a full line close without a response", async () => {
  const clock = new FakeClock();
  const server = await open({ clock });
  const client = await RawClient.open(server.path);
  client.send('{"ver');
  const idle = await RawClient.open(server.path);
  // The server has read something of the first and accepted the second once this one is served.
  await (await RawClient.open(server.path)).send("x\n").all();
  clock.pass(readMs - 1);
  expect(client.socket.destroyed).toBe(false);
  clock.pass(1);
  expect(await client.all()).toEqual([]);
  expect(await idle.all()).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});

test("a client that closes its half still gets its lines", async () => {
  const server = await open();
  const client = await RawClient.open(server.path);
  client.socket.end("abc\n");
  expect(await client.all()).toEqual([{ bytes: 3 }]);
});

test("what comes after the line is nothing to anybody", async () => {
  const server = await open();
  expect(await (await RawClient.open(server.path)).send("a\nb\nc").all()).toEqual([{ bytes: 1 }]);
  expect(served).toHaveLength(1);
});

test("the seventeenth connection at once is closed without a response, and there is room again later", async () => {
  const server = await open();
  const waiting: Responder[] = [];
  const all = new Promise<void>((resolve) => {
    onServe = (_line, responder) => {
      waiting.push(responder);
      if (waiting.length === 16) resolve();
    };
  });
  const clients: RawClient[] = [];
  for (let n = 0; n < 16; n += 1) clients.push((await RawClient.open(server.path)).send("x\n"));
  await all;
  expect(await (await RawClient.open(server.path)).all()).toEqual([]);
  expect(logged).toEqual([["proposal_connection_refused", { connections: 16 }]]);
  waiting[0]?.close();
  await clients[0]?.all();
  const next = new Promise<void>((resolve) => {
    onServe = () => resolve();
  });
  const again = (await RawClient.open(server.path)).send("y\n");
  await next;
  again.socket.destroy();
});

test("a line to a client that is gone says so, and its going is told once", async () => {
  const server = await open();
  const request = new Promise<Responder>((resolve) => {
    onServe = (_line, responder) => resolve(responder);
  });
  const client = (await RawClient.open(server.path)).send("x\n");
  const responder = await request;
  let told = 0;
  const gone = new Promise<void>((resolve) =>
    responder.onGone(() => {
      told += 1;
      resolve();
    }),
  );
  client.socket.destroy();
  await gone;
  let isSent = true;
  for (let n = 0; n < 3 && isSent; n += 1) isSent = await responder.send("late");
  expect(isSent).toBe(false);
  responder.onGone(() => (told += 10));
  responder.close();
  responder.close();
  expect(told).toBe(11);
});

test("the end closes every connection that is open", async () => {
  const server = await open();
  onServe = () => {};
  const clients = [await RawClient.open(server.path), (await RawClient.open(server.path)).send("x\n")];
  await server[Symbol.asyncDispose]();
  for (const client of clients) expect(await client.all()).toEqual([]);
  const late = RawClient.open(server.path);
  await expect(late).rejects.toMatchObject({ code: "ENOENT" });
});

test("a second listener exists before the first client is served", async () => {
  const server = await open();
  const held: Responder[] = [];
  onServe = (_line, responder) => held.push(responder);
  const first = (await RawClient.open(server.path)).send("x\n");
  const second = await RawClient.open(server.path);
  expect(second.socket.connecting).toBe(false);
  first.socket.destroy();
  second.socket.destroy();
  await once(second.socket, "close");
});
