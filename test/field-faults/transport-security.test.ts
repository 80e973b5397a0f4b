// Field faults 136 and 139: who may reach the socket, and what may be said on it by something that is no ACP client.
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { makeHome } from "../harness/home.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { processGone } from "../harness/processes.ts";
import { masterProgram, Program } from "../harness/program.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";

/** Everything below a folder that another user could do something with. */
function openToOthers(folder: string): string[] {
  const own = (lstatSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o077 ? [folder] : [];
  if (!existsSync(folder)) return own;
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return [...own, ...below.filter((path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)];
}

describe("rights", () => {
  it.each(["serve", "connect"])(
    "are the user's alone from the first moment on, also under umask 000, in the temp folder: %s (FF-136)",
    async (how) => {
      await using outer = makeHome();
      const folder = join(outer.folder, "tmp", "new", "home");
      const env = { ...outer.env, ACP_MASTER_HOME: folder };
      const seen = new Set<string>();
      const watching = new AbortController();
      const watch = (async () => {
        while (!watching.signal.aborted) {
          for (const path of openToOthers(folder)) seen.add(path);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      })();
      const script = `umask 000; exec ${JSON.stringify(process.execPath)} ${JSON.stringify(masterProgram)} ${how}`;
      const program = new Program("sh", ["-c", script], { env });
      const masterFile = join(folder, "run", "master.json");
      await eventually(() => existsSync(masterFile), "the daemon is ready");
      const { pid, socket } = JSON.parse((await outer.cli(["status", "--json"], { env })).stdout);
      expect(statSync(socket).mode & 0o777).toBe(0o600);
      expect(statSync(join(folder, "run")).mode & 0o777).toBe(0o700);
      watching.abort();
      await watch;
      const run = await outer.cli(["run", "demo", "--cwd", outer.work, "/ask"], { env });
      expect([0, 5]).toContain(run.code);
      expect([...seen]).toEqual([]);
      expect(openToOthers(join(outer.folder, "tmp", "new"))).toEqual([]);
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      for (const name of ["log/master.ndjson", "state/audit.ndjson", "run/master.json"]) expect(files).toContain(name);
      expect((await outer.cli(["stop"], { env })).code).toBe(0);
      await processGone(pid);
      await program.end("SIGKILL", 5000);
    },
  );

  it("that are too wide, given by whoever made the folder, are refused and not kept in use (FF-136)", async () => {
    await using home = makeHome();
    for (const [name, mode] of [
      ["run", 0o777],
      ["run", 0o750],
      ["state", 0o711],
      ["log", 0o770],
      ["log", 0o1777],
    ] as const) {
      const folder = join(home.home, name);
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, mode);
      const refused = await home.cli(["serve"]);
      expect(refused, `${name} ${mode.toString(8)}`).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(`chmod 700 '${folder}'`);
      if (mode === 0o777) {
        const run = await home.cli(["run", "hello"]);
        expect(run.code).not.toBe(0);
        expect(run.stderr).toContain(`chmod 700 '${folder}'`);
      }
      expect(statSync(folder).mode & 0o7777).toBe(mode);
      chmodSync(folder, 0o700);
    }
  });

  it("are checked for the short place of a long socket path too (FF-136)", async () => {
    await using home = makeHome();
    const long = join(home.folder, "long".repeat(30));
    mkdirSync(long, { mode: 0o700 });
    const env = { ACP_MASTER_HOME: long };
    const shim = home.connect([], { env });
    await shim.initialize({ agent: null });
    const { socket } = JSON.parse((await home.cli(["status", "--json"], { env })).stdout);
    expect((await home.cli(["stop"], { env })).code).toBe(0);
    await shim.ended;
    const place = join(socket, "..");
    chmodSync(place, 0o777);
    const refused = await home.cli(["serve"], { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`chmod 700 '${place}'`);
    rmSync(place, { recursive: true });
  });
});

const call = (id: number, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;

describe("a connection that is no ACP client's", () => {
  let agent: ScriptedAgent;
  let master: Master;
  beforeAll(async () => {
    agent = fakeAgent();
    master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
  });
  afterAll(async () => {
    await master[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });

  const body = [
    call(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }),
    call(2, "session/new", { cwd: "/", mcpServers: [] }),
    call(3, "_acp-master/stop"),
  ].join("");
  const head = (line: string, eol = "\r\n"): string =>
    [line, "Host: 127.0.0.1", "Content-Type: text/plain", `Content-Length: ${body.length}`, "", ""].join(eol);

  const requests: readonly (readonly [string, string | Buffer])[] = [
    ["a form post", `${head("POST / HTTP/1.1")}${body}`],
    ["a form post with bare line feeds", `${head("POST /x?y=z HTTP/1.1", "\n")}${body}`],
    ["an old version", `${head("POST / HTTP/1.0")}${body}`],
    ["a full address", `${head("PUT http://localhost/ HTTP/1.1")}${body}`],
    ["a method of another extension", `${head("PROPFIND / HTTP/1.1")}${body}`],
    ["a made-up method", `${head("M-SEARCH * HTTP/1.1")}${body}`],
    ["small letters", `${head("post / http/1.1")}${body}`],
    ["empty lines first", `\r\n\r\n${head("POST / HTTP/1.1")}${body}`],
    ["a byte order mark first", `\ufeff${head("POST / HTTP/1.1")}${body}`],
    ["a preface of version 2", `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${body}`],
    ["a WebSocket", `${head("GET /chat HTTP/1.1").trimEnd()}\r\nUpgrade: websocket\r\n\r\n${body}`],
    ["one without body", head("GET / HTTP/1.1")],
    ["a stream", `${head("SETUP rtsp://x/y RTSP/1.0")}${body}`],
    ["a line of garbage first", `garbage\n${head("POST / HTTP/1.1")}${body}`],
  ];

  async function say(bytes: string | Buffer, chunkBytes?: number): Promise<string> {
    const socket: Socket = connectSocket({ path: master.socket, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => {}); // it is cut while we write
    const closed = new Promise<void>((resolve) => {
      socket.once("end", resolve);
      socket.once("close", () => resolve());
    });
    const all = Buffer.from(bytes);
    for (let at = 0; at < all.length; at += chunkBytes ?? all.length) {
      if (socket.destroyed) break;
      await new Promise<void>((resolve) =>
        socket.write(all.subarray(at, at + (chunkBytes ?? all.length)), () => resolve()),
      );
    }
    await within(closed, "the daemon closes the connection", 4000);
    socket.destroy();
    return Buffer.concat(chunks).toString("utf8");
  }

  it.each(requests)("is closed and nothing of it is carried out: %s (FF-139)", async (_, bytes) => {
    for (const chunkBytes of [undefined, 7]) {
      const answer = await say(bytes, chunkBytes);
      expect(answer).not.toContain('"result"');
      expect(answer).not.toContain("agentInfo");
    }
    const looking = await master.client();
    await looking.initialize({ agent: null });
    const { pid, agents } = await looking.call("_acp-master/status", {});
    expect(pid).toBe(master.pid);
    expect(agents).toEqual([]);
    expect(agent.processes).toEqual([]);
    await looking.close();
  });

  it("is closed at once and without a word when it speaks HTTP (FF-139)", async () => {
    const before = performance.now();
    expect(await say(head("POST / HTTP/1.1"))).toBe("");
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it("does nothing to a client that makes one mistake before initialize, or whose message looks like HTTP (FF-139)", async () => {
    const client = await master.client();
    await client.send("oops");
    expect((await client.next()).message.error?.code).toBe(-32700);
    await client.initialize({ agent: null });
    const { result } = await client.request("_acp-master/sessions", { cwd: "/POST / HTTP/1.1" });
    expect(result.sessions).toEqual([]);
  });
});
