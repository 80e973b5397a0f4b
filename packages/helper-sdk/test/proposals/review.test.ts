// The review endpoint with real sockets: who gets in, what a bad line costs, what is told to whom, and what the client loads.
import { EventEmitter, once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { maxConnections, newInstance } from "@acp-master/proposal-channel";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RawClient } from "../../../proposal-channel/test/raw-client.ts";
import {
  type DecisionEnd,
  type DecisionRequest,
  type ReviewEvent,
  openReview,
} from "../../src/proposals/review-client.ts";
import { ReviewServer } from "../../src/proposals/review-server.ts";

let folder: string;
let server: ReviewServer;
let logged: string[];
let seen: string[];
let decide: (request: DecisionRequest, by: string) => Promise<DecisionEnd>;

const openServer = () =>
  ReviewServer.open({
    folder,
    instance: newInstance(),
    helper: "test",
    desk: {
      state: () => ({ cards: [], notices: [], turns: [] }),
      seen: (proposalId) => seen.push(proposalId),
      decide: (request, by) => decide(request, by),
    },
    onLost: () => logged.push("lost"),
    log: (event) => logged.push(event),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "acp-review-"));
  logged = [];
  seen = [];
  decide = () => Promise.resolve("lost");
  const opened = await openServer();
  if (!opened.ok) throw new Error(opened.message);
  ({ server } = opened);
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  expect(logged).not.toContain("lost");
});

const raw = () => RawClient.open(server.path);
const hello = '{"type":"hello","version":1,"name":"me"}\n';

test("is a socket of mode 0600 and refuses a folder that others may enter", async () => {
  expect(statSync(server.path).mode & 0o777).toBe(0o600);
  chmodSync(folder, 0o755);
  expect(await openServer()).toMatchObject({ ok: false });
  chmodSync(folder, 0o700);
});

describe("a line", () => {
  test.each([
    ["before hello", '{"type":"shown","proposalId":"p"}\n', "the first line must be hello"],
    ["of another version", '{"type":"hello","version":2,"name":"me"}\n', "version 1 only"],
    ["that is no JSON", "hello\n", "no request"],
    ["of two readings", '{"type":"hello","type":"hello","version":1,"name":"me"}\n', "no request"],
    ["without a name", '{"type":"hello","version":1,"name":""}\n', "no request"],
    ["that is too long", `${"x".repeat(5_000)}\n`, "too long"],
    ["with a second hello", hello + hello, "twice"],
    ["of an unknown type", `${hello}{"type":"run"}\n`, "no request"],
    [
      "with another mode",
      `${hello}{"type":"decide","id":1,"proposalId":"p","decision":"confirm","choice":1}\n`,
      "no request",
    ],
  ])("%s ends the connection with the reason", async (_name, text, reason) => {
    const client = await raw();
    const last = (await client.send(text).all()).at(-1);
    expect(last).toMatchObject({ type: "refused" });
    expect(last?.["reason"]).toContain(reason);
    expect(logged).toContain("review_line_refused");
  });

  test("of each kind is taken; members that are not known pass", async () => {
    const asked: unknown[] = [];
    decide = (request, by) => {
      asked.push([request, by]);
      return Promise.resolve("cancelled");
    };
    const client = (await raw()).send(hello.replace('"me"', '"m\\u0007e","more":1'));
    client.send('{"type":"shown","proposalId":"p"}\n{"type":"decide","id":7,"proposalId":"p","decision":"cancel"}\n');
    expect(await client.lines(2)).toEqual([
      { type: "welcome", version: 1, helper: "test", cards: [], notices: [], turns: [] },
      { type: "decided", id: 7, end: "cancelled" },
    ]);
    expect(seen).toEqual(["p"]);
    expect(asked).toEqual([[{ type: "decide", id: 7, proposalId: "p", decision: "cancel" }, "m\\u{7}e"]]);
    client.socket.destroy();
  });
});

test("events go to those who introduced themselves, and to all of them", async () => {
  const silent = await raw();
  const both = await Promise.all([raw(), raw()]);
  for (const client of both) await client.send(hello).lines(1);
  server.tell({ type: "turn", sessionId: "s", proposalId: null });
  for (const client of both)
    expect((await client.lines(2))[1]).toEqual({ type: "turn", sessionId: "s", proposalId: null });
  await server[Symbol.asyncDispose]();
  expect(await silent.all()).toEqual([]);
});

test("more interfaces than the bound, more open decisions, and one that does not read are let go", async () => {
  const clients = await Promise.all(Array.from({ length: maxConnections }, () => raw()));
  for (const client of clients) await client.send(hello).lines(1);
  expect(await (await raw()).all()).toEqual([]);
  expect(logged).toContain("review_connection_refused");
  decide = () => new Promise(() => {});
  const [eager, lazy, ...others] = clients;
  for (let id = 0; id < 9; id += 1) eager?.send(`{"type":"decide","id":${id},"proposalId":"p","decision":"cancel"}\n`);
  expect((await eager?.all())?.at(-1)).toMatchObject({ type: "refused", reason: "too many decisions wait" });
  lazy?.socket.pause();
  for (const client of others) client.socket.destroy();
  const gone = new Promise((resolve) => lazy?.socket.once("close", resolve));
  const notice = { sessionId: "s", why: "x", count: 1, text: "x".repeat(1024 * 1024) };
  for (let count = 0; count < 40; count += 1) server.tell({ type: "notice", notice });
  lazy?.socket.resume();
  await gone;
});

/** A client and everything that it told its owner. */
function openAt(path: string) {
  const events: ReviewEvent[] = [];
  const owner = new EventEmitter();
  const closed = once(owner, "closed").then(([reason]: (string | undefined)[]) => reason);
  const onClose = (reason: string | undefined) => owner.emit("closed", reason);
  const client = openReview({ path, name: "me", onEvent: (event) => events.push(event), onClose });
  return { client, events, closed };
}

describe("the client", () => {
  test("says why it cannot be there, once, and answers open decisions", async () => {
    const { client, closed } = openAt(join(folder, "none"));
    const early = client.decide({ proposalId: "p", decision: "cancel" });
    expect(await closed).toContain("ENOENT");
    expect(await early).toBe("lost");
    expect(await client.decide({ proposalId: "p", decision: "cancel" })).toBe("lost");
  });

  test("closed by its owner it gives no reason; closed by the Helper it does", async () => {
    const mine = openAt(server.path);
    mine.client.close();
    expect(await mine.closed).toBeUndefined();
    const theirs = openAt(server.path);
    await expect.poll(() => theirs.events.length).toBe(1);
    await server[Symbol.asyncDispose]();
    expect(await theirs.closed).toContain("closed the review endpoint");
  });

  test("ends at a line that is none of the protocol", async () => {
    const path = join(folder, "odd");
    const odd = createServer((socket) => socket.end('{"type":"odd"}\n')).listen(path);
    expect(await openAt(path).closed).toContain("none of its protocol");
    odd.close();
  });

  test("loads nothing but a few small files of ours", async () => {
    const entry = fileURLToPath(new URL("../../src/proposals/review-client.ts", import.meta.url));
    const { metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
    });
    const loaded = Object.keys(metafile.inputs).map((path) => path.replace(/^.*\/(?=[^/]+$)/, ""));
    expect(loaded.toSorted()).toEqual(["limits.js", "line-buffer.js", "review-client.ts", "review-messages.ts"]);
  });
});
