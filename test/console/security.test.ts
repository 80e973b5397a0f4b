// Who gets into the console and who does not, with real sockets and with the headers that browsers and attackers send.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import { eventually, within } from "../harness/events.ts";
import { makeHome } from "../harness/home.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { Program } from "../harness/program.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { type ConsolePage, type Credentials, type HttpRequest, RunningConsole, tokenIn } from "./running-console.ts";

const script = "<script>alert(1)</script>";

let agent: ScriptedAgent;
let master: Master;
let running: RunningConsole;
let credentials: Credentials;
let page: ConsolePage;
let process: ScriptedProcess;
let sessionId: string;

beforeAll(async () => {
  agent = fakeAgent({ auto: { "session/prompt": false } });
  master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake", helper: { use: "ask" } } });
  running = await RunningConsole.start(master);
  credentials = await running.credentials();
  page = await running.page(credentials);
  ({ sessionId } = await page.request("new", { agent: "fake", cwd: master.work }));
  await page.request("attach", { sessionId });
  process = await agent.process();
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

/** The status with which an upgrade is answered. */
function upgraded(socket: WebSocket): Promise<number> {
  const status = new Promise<number>((resolve, reject) => {
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      socket.terminate();
      resolve(response.statusCode ?? 0);
    });
    socket.on("error", reject);
  });
  return within(status, "the upgrade is answered");
}

const api = (headers: HttpRequest["headers"] = {}): Promise<number> =>
  running
    .http({
      path: "/api/session",
      headers: { Cookie: credentials.cookie, Authorization: `Bearer ${credentials.key}`, ...headers },
    })
    .then(({ status }) => status);

/** An approval that stays open whatever is tried on it. */
async function withOpenApproval(attack: (approvalId: string) => Promise<void>): Promise<void> {
  const toolCallId = `attacked-${Math.random()}`;
  const asked = process.askPermission(sessionId, { toolCall: { toolCallId, title: "T" } });
  const { approvalId } = await page.approval(toolCallId);
  await attack(approvalId);
  const { results } = await page.request("answer", { answers: [{ approvalId, optionId: "no" }] });
  expect(results).toEqual([{ approvalId, status: "accepted" }]);
  expect((await asked).result.outcome.optionId).toBe("no");
}

const foreignOrigins = (port: number): string[] => [
  "https://evil.example",
  "null",
  "",
  `https://127.0.0.1:${port}`,
  `http://127.0.0.1:${port + 1}`,
  "http://127.0.0.1",
  `http://localhost:${port}`,
  `http://127.0.0.1:${port}/`,
  `http://127.0.0.1:${port}, https://evil.example`,
];

/** A request of exactly so many bytes. */
function promptOf(bytes: number): string {
  const head = '{"id":1,"op":"prompt","sessionId":"s","content":[{"type":"text","text":"';
  return `${head}${"x".repeat(bytes - head.length - 4)}"}]}`;
}

describe("the name by which it is called", () => {
  it("is loopback with its port, in whichever spelling browsers have for it", async () => {
    for (const name of ["localhost", "127.0.0.1", "127.9.8.7", "[::1]"]) {
      const headers = { Host: `${name}:${running.port}`, Origin: `http://${name}:${running.port}` };
      expect(await api(headers), name).toBe(200);
      expect(await upgraded(running.socket(credentials, headers)), name).toBe(101);
    }
  });

  it("is refused in every other spelling, whatever the origin says (FF-132)", async () => {
    const { port } = running;
    const foreign = [
      `attacker.test:${port}`,
      `127.evil.test:${port}`,
      `127.0.0.1.evil.test:${port}`,
      `localhost.:${port}`,
      `LOCALHOST:${port}`,
      `127.1:${port}`,
      `127.0.0.01:${port}`,
      `0.0.0.0:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `[127.0.0.1]:${port}`,
      `::1:${port}`,
      `127.0.0.1:${port + 1}`,
      `127.0.0.1:0${port}`,
      "127.0.0.1",
      "localhost",
      "",
    ];
    for (const name of foreign) {
      const headers = { Host: name, Origin: `http://${name}` };
      for (const path of ["/", "/api/session", "/assets/none.js"]) {
        expect((await running.http({ path, headers })).status, `${name} ${path}`).toBe(403);
      }
      expect((await running.login(await running.token(), headers)).status, name).toBe(403);
      expect(await upgraded(running.socket(credentials, headers)), name).toBe(403);
    }
    expect((await running.http({ path: "/", headers: { Host: undefined } })).status, "no Host").toBe(403);
    for (const path of [`http://evil.test:${port}/`, `http://127.0.0.1:${port}/`]) {
      expect((await running.http({ path })).status, path).toBe(403);
    }
  });
});

describe("the page that calls", () => {
  it("is its own: an upgrade from another origin is refused, logged in or not; without one it needs the log-in (FF-131)", async () => {
    for (const Origin of foreignOrigins(running.port)) {
      expect(await upgraded(running.socket(credentials, { Origin })), Origin).toBe(403);
      expect(await upgraded(running.socket(undefined, { Origin })), Origin).toBe(403);
      expect(await api({ Origin }), Origin).toBe(403);
    }
    expect(await upgraded(running.socket(credentials, { Origin: undefined }))).toBe(101);
    expect(await upgraded(running.socket(undefined, { Origin: undefined }))).toBe(401);
  });

  it("is not a form or a script of another site, whatever the cookie (FF-133)", async () => {
    await withOpenApproval(async (approvalId) => {
      const token = await running.token();
      const cookie = credentials.cookie;
      const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", undefined];
      for (const type of types) {
        const headers = { "Content-Type": type, Cookie: cookie };
        expect((await running.login(token, headers)).status, type).toBe(415);
        expect((await running.login(token, { ...headers, Origin: "https://evil.example" })).status, type).toBe(403);
        expect((await running.login(token, { ...headers, Origin: undefined })).status, type).toBe(415);
      }
      const body = JSON.stringify({ id: 1, op: "answer", answers: [{ approvalId, optionId: "yes" }] });
      for (const path of ["/", "/api/answer", "/api/socket", `/api/approvals/${approvalId}`]) {
        const headers = { "Content-Type": "application/json", Cookie: cookie };
        const { status } = await running.http({ method: "POST", path, headers, body });
        expect(status, path).toBe(404);
      }
      // The cookie alone, which every port of this host is sent, opens nothing.
      expect(await upgraded(running.socket({ cookie, key: "" }, { Origin: undefined }))).toBe(401);
      expect(await api({ Authorization: undefined })).toBe(401);
      // None of it has used the token up.
      expect((await running.login(token)).status).toBe(200);
    });
  });

  it("is told apart by what browsers say of a request's site; only the page itself may be linked to", async () => {
    const linked = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
    for (const site of ["cross-site", "same-site"]) {
      const headers = { "Sec-Fetch-Site": site };
      expect(await api(headers), site).toBe(403);
      expect((await running.http({ path: "/", headers })).status, site).toBe(403);
      expect((await running.http({ path: "/", headers: { ...headers, ...linked } })).status, site).toBe(200);
      expect((await running.http({ path: "/api/session", headers: { ...headers, ...linked } })).status, site).toBe(403);
      const frame = { ...headers, ...linked, "Sec-Fetch-Dest": "iframe" };
      expect((await running.http({ path: "/", headers: frame })).status, site).toBe(403);
      expect((await running.http({ method: "POST", path: "/", headers: { ...headers, ...linked } })).status).toBe(403);
      expect(await upgraded(running.socket(credentials, headers)), site).toBe(403);
    }
    for (const site of ["same-origin", "none"]) expect(await api({ "Sec-Fetch-Site": site }), site).toBe(200);
  });
});

describe("a log-in", () => {
  it("needs a token that was given out and not used; an empty one is none (FF-135)", async () => {
    // Its own, since so many wrong ones end all trying for a minute.
    await using home = makeHome();
    const own = await RunningConsole.start(home);
    const token = await own.token();
    const first = await own.login(token);
    expect(first.status).toBe(200);
    expect(JSON.parse(first.body)).toEqual({ key: expect.stringMatching(/^[\w-]{43}$/), role: "controller" });
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        new RegExp(`^acp-console-${own.port}=[\\w-]{43}; Max-Age=31536000; Path=/; HttpOnly; SameSite=Strict$`),
      ),
    ]);
    expect((await own.login(token)).status, "used").toBe(401);
    const wrong: HttpRequest["headers"][] = [
      { Authorization: undefined },
      { Authorization: "" },
      { Authorization: "Bearer" },
      { Authorization: "Bearer " },
      { Authorization: "Bearer undefined" },
      { Authorization: `Basic ${await own.token()}` },
      { Authorization: `Bearer ${"A".repeat(43)}` },
    ];
    for (const headers of wrong) {
      const { status } = await own.login("", headers);
      expect(status, headers?.["Authorization"]).toBe(401);
    }
    for (const path of ["/api/session", "/api/session?token=x", "/api/session?key="]) {
      expect((await own.http({ path })).status, path).toBe(401);
    }
    const right = await own.token();
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++) statuses.push((await own.login(`wrong-${n}`)).status);
    expect(statuses).toContain(429);
    // Not even a right one is looked at then, and it is not used up by that.
    expect((await own.login(right)).status).toBe(429);
  });

  it("is a cookie and a key that belong together; logging out ends its pages and no others", async () => {
    const [one, two] = [await running.credentials(), await running.credentials()];
    const mixed: (Credentials | undefined)[] = [
      undefined,
      { cookie: "", key: one.key },
      { cookie: one.cookie, key: "" },
      { cookie: one.cookie, key: two.key },
      { cookie: two.cookie, key: one.key },
      { cookie: one.cookie, key: one.cookie.split("=")[1]! },
      { cookie: `${one.cookie.split("=")[0]}=`, key: one.key },
    ];
    for (const each of mixed) expect(await upgraded(running.socket(each)), JSON.stringify(each)).toBe(401);
    // Somebody else on this host has set a cookie of the same name.
    const beside = { ...one, cookie: `${one.cookie.split("=")[0]}=planted; ${one.cookie}` };
    expect(await upgraded(running.socket(beside))).toBe(101);
    const [open, other] = [await running.page(one), await running.page(two)];
    const headers = { Cookie: one.cookie, Authorization: `Bearer ${one.key}`, "Content-Type": "application/json" };
    const logout = { method: "POST", path: "/api/logout", headers, body: "{}" };
    expect((await running.http({ ...logout, headers: { ...headers, Authorization: undefined } })).status).toBe(401);
    expect((await running.http(logout)).status).toBe(204);
    expect(await open.closed).toBe(4001);
    expect(await upgraded(running.socket(one))).toBe(401);
    expect(await other.request("ping", {})).toEqual({});
  });
});

describe("what is too long", () => {
  it("is refused: bodies with and without a length, headers, frames", async () => {
    const token = await running.token();
    const login = { method: "POST", path: "/api/login" };
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const long = `"${"x".repeat(5000)}"`;
    expect((await running.http({ ...login, headers, body: long })).status).toBe(413);
    const chunked = { ...headers, "Transfer-Encoding": "chunked" };
    expect((await running.http({ ...login, headers: chunked, body: long })).status).toBe(413);
    expect((await running.http({ path: "/", headers: { "X-Long": "x".repeat(20_000) } })).status).toBe(431);
    expect((await running.login(token)).status).toBe(200);
    const big = await running.page(credentials);
    const { maxMessageBytes } = await big.next("hello");
    big.socket.send(promptOf(maxMessageBytes));
    const reply = await big.next("reply");
    expect(reply).toMatchObject({ ok: false, error: { reason: "not_attached" } });
    big.socket.send(promptOf(maxMessageBytes + 1));
    expect(await big.closed).toBe(1009);
    expect(await page.request("ping", {})).toEqual({});
  });
});

describe("what it serves", () => {
  it("is the page and its own files, under a policy that runs nothing else; no text of an agent is in any of it", async () => {
    const asked = process.askPermission(sessionId, {
      toolCall: { toolCallId: script, title: script, rawInput: { command: script }, content: [] },
      options: [{ optionId: script, name: script, kind: "allow_once" }],
    });
    await process.update(sessionId, { sessionUpdate: "session_info_update", title: script });
    await process.update(sessionId, { sessionUpdate: script, content: { type: "text", text: script } });
    await process.say(sessionId, script);
    await page.next("session", ({ session }) => session.title === script);
    const { approvalId, params } = await page.approval(script);
    // As data in JSON it goes through unchanged: showing it is the page's business.
    expect(params).toMatchObject({ toolCall: { title: script, rawInput: { command: script } } });
    const index = await running.http({ path: "/" });
    expect(index.status).toBe(200);
    expect(index.headers["content-type"]).toMatch(/^text\/html/);
    expect(index.headers["cache-control"]).toBe("no-cache");
    const files = [...index.body.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => `/${path}`);
    expect(files.length).toBeGreaterThan(0);
    expect(index.body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i);
    for (const path of ["/", ...files, "/api/session", "/api/none", "/none"]) {
      for (const encoding of ["identity", "gzip, br"]) {
        const answer = await running.http({ path, headers: { "Accept-Encoding": encoding } });
        expect(answer.body, path).not.toContain("alert(1)");
        expect(answer.headers["x-content-type-options"], path).toBe("nosniff");
        const policy = answer.headers["content-security-policy"];
        for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
          expect(policy, path).toContain(part);
        }
        expect(policy, path).not.toMatch(/unsafe|\*/);
        if (files.includes(path)) {
          expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
          expect(answer.headers["content-encoding"], path).toBe(encoding === "identity" ? undefined : "br");
        }
      }
    }
    expect((await running.http({ path: "/api/session" })).headers["cache-control"]).toBe("no-store");
    await page.request("answer", { answers: [{ approvalId, optionId: script }] });
    expect((await asked).result).toEqual({ outcome: { outcome: "selected", optionId: script } });
  });

  it("is nothing outside its folder, and no other method", async () => {
    const outside = [
      "/../acp-console.js",
      "/..%2facp-console.js",
      "/%2e%2e/acp-console.js",
      "/assets/../../acp-master.js",
    ];
    outside.push("/assets/..%5c..%5cacp-master.js", "/.%00/index.html", "//etc/passwd", "/assets/");
    for (const path of outside) {
      const { status, body } = await running.http({ path });
      expect(status, path).toBe(404);
      expect(body.length, path).toBeLessThan(200);
    }
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
      const headers = { "Content-Type": "application/json" };
      for (const path of ["/", "/api/session", "/api/login"]) {
        expect((await running.http({ method, path, headers })).status, `${method} ${path}`).toBe(404);
      }
    }
  });
});

describe("the network", () => {
  it("is loopback alone without a word in the configuration (FF-134)", async () => {
    const hex = running.port.toString(16).toUpperCase().padStart(4, "0");
    const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => readFileSync(file, "utf8").split("\n"));
    const listening = rows.map((row) => row.trim().split(/\s+/)).filter(([, , , state]) => state === "0A");
    const own = listening.map(([, local = ""]) => local).filter((local) => local.endsWith(`:${hex}`));
    expect(own).toEqual([`0100007F:${hex}`]);
    for (const { address, internal, family } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
      if (internal || family !== "IPv4") continue;
      const socket = connect(running.port, address);
      const outcome = await within(
        new Promise((resolve) => {
          socket.once("connect", () => resolve("connected"));
          socket.once("error", ({ message }) => resolve(message));
        }),
        "the connection is answered",
      );
      socket.destroy();
      expect(outcome, address).toMatch(/ECONNREFUSED/);
    }
  });

  it("is not opened by a configuration that would let others in", async () => {
    await using home = makeHome({ config: { console: { host: "0.0.0.0" } } });
    const ran = await home.cli(["console"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/console\.host 0\.0\.0\.0 can be reached by others\. Give console\.tls/);
    expect(ran.stdout).toBe("");
  });

  it("with TLS: an address of the network, under its own name, over TLS alone", async () => {
    await using home = makeHome();
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    // A machine without a network still shows the rest.
    const host = all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => join(home.home, name));
    const made = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=console`;
    const names = ["-addext", `subjectAltName=IP:${host}`, "-keyout", key!, "-out", cert!];
    execFileSync("openssl", [...made.split(" "), ...names], { stdio: "ignore" });
    home.configure({ config: { console: { host, tls: { cert: "cert.pem", key: "key.pem" } } } });
    const address = new URL(await RunningConsole.address(home));
    expect(address.protocol).toBe("https:");
    expect(address.hostname).toBe(host);
    const ca = readFileSync(cert!);
    const send = (headers: Record<string, string>): Promise<{ status: number; cookie: string }> =>
      new Promise((resolve, reject) => {
        const options = { method: "POST", ca, headers, checkServerIdentity: () => undefined };
        const sent = httpsRequest(new URL("/api/login", address), options, (answer) => {
          answer.resume();
          resolve({ status: answer.statusCode ?? 0, cookie: answer.headers["set-cookie"]?.[0] ?? "" });
        });
        sent.on("error", reject);
        sent.end("{}");
      });
    const login = { Authorization: `Bearer ${tokenIn(address.href)}`, "Content-Type": "application/json" };
    expect((await send({ ...login, Host: `evil.example:${address.port}` })).status).toBe(403);
    expect((await send({ ...login, Origin: `http://${host}:${address.port}` })).status).toBe(403);
    const { status, cookie } = await send({ ...login, Origin: address.origin });
    expect(status).toBe(200);
    expect(cookie).toMatch(/; Secure/);
    const plain = connect(Number(address.port), host);
    plain.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const said: Buffer[] = [];
    for await (const chunk of plain) said.push(chunk);
    expect(Buffer.concat(said).toString("latin1")).not.toContain("HTTP/1.1 200");
  });

  it("behind a proxy: the configured name is its own, others are not, and cookies go over TLS alone", async () => {
    const outside = "https://console.example";
    await using home = makeHome({ config: { console: { origins: [outside] } } });
    const address = await RunningConsole.address(home);
    expect(address).toMatch(/^https:\/\/console\.example\/#token=/);
    // Its port is not in its address then; the process knows it.
    const port = listeningPort(RunningConsole.file(home).pid);
    const own = RunningConsole.at(home, port);
    const headers = { Host: "console.example", Origin: outside };
    const answer = await own.login(tokenIn(address), headers);
    expect(answer.status).toBe(200);
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/; Secure/);
    for (const Host of ["console.example:443", "console.example:80", "evil.example"]) {
      expect((await own.http({ path: "/", headers: { Host } })).status, Host).toBe(403);
    }
    expect((await own.http({ path: "/", headers: { ...headers, Origin: "http://console.example" } })).status).toBe(403);
  });
});

describe("a page that is gone without a word", () => {
  it("counts as gone when it answers no ping; a new connection of the same log-in acts at once (FF-138)", async () => {
    const half = await running.credentials();
    const made = await page.request("new", { agent: "fake", cwd: master.work });
    const given = {
      url: `ws://127.0.0.1:${running.port}/api/socket`,
      origin: running.origin,
      sessionId: made.sessionId,
      ...half,
    };
    const fixture = fileURLToPath(new URL("fixtures/page.mjs", import.meta.url));
    const stopped = new Program(globalThis.process.execPath, [fixture, JSON.stringify(given)], { env: master.env });
    await eventually(() => stopped.stdout.includes("shown"), "the page shows the session");
    const isClients =
      (count: number) =>
      ({ session }: { session: { sessionId: string; clients: readonly unknown[] } }): boolean =>
        session.sessionId === made.sessionId && session.clients.length === count;
    await page.next("session", isClients(1));
    stopped.child.kill("SIGSTOP");
    const gone = page.coming("session", isClients(0), 100_000);
    const asked = process.askPermission(made.sessionId, { toolCall: { toolCallId: "half", title: "T" } });
    const again = await running.page(half);
    const { approvalId } = await again.approval("half");
    await again.request("answer", { answers: [{ approvalId, optionId: "yes" }] });
    expect((await asked).result.outcome.optionId).toBe("yes");
    await gone;
    await stopped.end("SIGKILL", 5000);
  });
});

/** The only TCP port on which this process listens. */
function listeningPort(pid: number): number {
  const sockets = readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1]];
    } catch {
      return []; // closed between the two looks
    }
  });
  const rows = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((row) => row.trim().split(/\s+/));
  const row = rows.find((columns) => columns[3] === "0A" && sockets.includes(columns[9]));
  return Number.parseInt(row?.[1]?.split(":")[1] ?? "", 16);
}
