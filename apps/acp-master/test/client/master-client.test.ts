import { expect, test } from "vitest";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { MasterClient, type ClientOptions } from "../../src/client/master-client.ts";
import { Installation } from "../commands/command-line.ts";
import { FixtureDaemon, Refusal } from "../commands/fixture-daemon.ts";

const options = (place: Installation, more: Partial<ClientOptions> = {}): ClientOptions => ({
  socketPath: place.socket,
  name: "test",
  role: "controller",
  ...more,
});

test("introduces itself without an agent and answers each request once", async () => {
  await using place = new Installation();
  await using daemon = await FixtureDaemon.start(place, { echo: (params) => params });
  await using client = await MasterClient.connect(options(place, { role: "observer", events: true }));
  const answers = await Promise.all([1, 2, 3].map((n) => client.request("echo", { n })));
  expect(answers).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(daemon.heard[0]).toEqual([
    "initialize",
    {
      protocolVersion: 1,
      clientCapabilities: {},
      clientInfo: { name: "test", version: "0.1.0" },
      _meta: { "acp-master": { agent: null, version: "0.1.0", role: "observer", events: true } },
    },
  ]);
});

test("an error answer keeps its code, reason and data", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, {
    ask: () => {
      throw new Refusal(-32053, "no such session", { reason: "unknown_session", sessionId: "s" });
    },
  });
  await using client = await MasterClient.connect(options(place));
  await expect(client.request("ask", {})).rejects.toMatchObject({
    kind: "answered_error",
    code: -32053,
    reason: "unknown_session",
    details: { sessionId: "s" },
  });
});

test("a missing and a dead socket are both no daemon", async () => {
  await using place = new Installation();
  await expect(MasterClient.connect(options(place))).rejects.toMatchObject({ kind: "no_daemon" });
  const dead = place.startOther(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(place.socket)}, () => console.log("up"))`,
  ]);
  await dead.printed("stdout", /up/);
  dead.child.kill("SIGKILL");
  await dead.ended;
  await expect(MasterClient.connect(options(place))).rejects.toMatchObject({ kind: "no_daemon" });
});

test("a file in the socket's place is not a daemon", async () => {
  await using place = new Installation();
  writeFileSync(place.socket, "");
  await expect(MasterClient.connect(options(place))).rejects.toMatchObject({
    kind: expect.stringMatching(/no_daemon|not_a_master/),
  });
});

test("a program that speaks something else is refused", async () => {
  await using place = new Installation();
  const server = createServer((socket) =>
    socket
      .on("error", () => {})
      .resume()
      .end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  server.listen(place.socket);
  await once(server, "listening");
  await expect(MasterClient.connect(options(place))).rejects.toMatchObject({ kind: "not_a_master" });
  server.close();
  await once(server, "close");
});

test("an agent that is no daemon of this product is refused", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, { initialize: () => ({ protocolVersion: 1 }) });
  await expect(MasterClient.connect(options(place))).rejects.toMatchObject({ kind: "not_a_master" });
});

test("requests that wait fail when the connection ends, and so do later ones", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, { wait: (_params, peer) => peer.hangUp() });
  await using client = await MasterClient.connect(options(place));
  await expect(client.request("wait", {}, { timeoutMs: 0 })).rejects.toMatchObject({ kind: "connection_lost" });
  await client.closed;
  await expect(client.request("wait", {})).rejects.toMatchObject({ kind: "connection_lost" });
});

test("a request that is not answered in time fails, the connection goes on", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, { wait: () => new Promise(() => {}), now: () => ({ ok: 1 }) });
  await using client = await MasterClient.connect(options(place));
  await expect(client.request("wait", {}, { timeoutMs: 30 })).rejects.toThrow("no answer to wait");
  await expect(client.request("now", {})).resolves.toEqual({ ok: 1 });
});

test("notifications arrive in order; a request of the daemon is declined", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, {
    go: async (_params, peer) => {
      peer.notify("one", { n: 1 });
      peer.notify("two", { n: 2 });
      const { error } = await peer.request("session/request_permission", {});
      return error;
    },
  });
  const seen: unknown[] = [];
  await using client = await MasterClient.connect(
    options(place, { onNotification: (method, params) => seen.push([method, params]) }),
  );
  await expect(client.request("go", {})).resolves.toMatchObject({ code: -32601 });
  expect(seen).toEqual([
    ["one", { n: 1 }],
    ["two", { n: 2 }],
  ]);
});
