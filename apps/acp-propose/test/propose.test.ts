// The built program as a process, against sockets that answer as the test says.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Channel,
  encodeFinal,
  encodeValidation,
  instanceOf,
  maxFrameBytes,
  newChannel,
  newInstance,
  ProposalServer,
  Proposals,
  render,
} from "@acp-master/proposal-channel";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "./built-program.ts";

const proposalId = "7b1c3f1e-9a51-4d7c-8d25-1f0a2b3c4d5e";
const accepted = encodeValidation({ status: "accepted", proposalId });
const confirmed = encodeFinal({ status: "confirmed", proposalId });
const refused = encodeValidation({ status: "expired", reason: "too late", retryable: true });

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
);

let program: BuiltProgram;
let folder: string;
let channel: Channel;
let server: Server | undefined;
const children: ChildProcess[] = [];

beforeAll(async () => {
  program = await buildProgram();
});

afterAll(() => rmSync(program.folder, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cli-"));
  channel = newChannel(newInstance());
});

afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  if (server !== undefined) await new Promise((resolve) => server?.close(resolve));
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = { ACP_PROPOSE_DIR: folder },
): ChildProcess {
  const child = spawn(process.execPath, [program.path, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

async function finished(child: ChildProcess): Promise<Ran> {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => (texts[name] += chunk.toString()));
  }
  await once(child, "close");
  return { code: child.exitCode, ...texts };
}

const proposing = (payload = "{}"): string[] => ["--channel", channel, "--payload-json", payload];

async function run(args = proposing(), env?: Readonly<Record<string, string>>): Promise<Ran> {
  return await finished(start(args, env));
}

/** A Helper that does this with each connection once its request is there. */
async function serve(answer: (socket: Socket, request: string) => void): Promise<void> {
  server = createServer((socket) => {
    socket.on("error", () => {});
    let request = "";
    socket.on("data", (chunk: Buffer) => {
      request += chunk.toString();
      if (request.endsWith("\n")) answer(socket, request);
    });
  });
  server.listen(join(folder, `${instanceOf(channel)}.sock`));
  await once(server, "listening");
}

describe("without a Helper", () => {
  test("help and version are printed with exit code 0", async () => {
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("--payload-b64url");
    expect(await run(["--version"])).toEqual({
      code: 0,
      stderr: "",
      stdout: `${manifest.version}\n`,
    });
  });

  test("a usage error is exit code 2 and nothing on stdout", async () => {
    expect(await run(["--channel", channel])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("--payload-json or --payload-b64url is missing"),
    });
  });

  test("what can be seen to be wrong is exit code 1 before anything connects", async () => {
    let connections = 0;
    await serve(() => {});
    server?.on("connection", () => (connections += 1));
    const wrong: [string[], string][] = [
      [["--channel", "v1.x.y", "--payload-json", "{}"], "expected v1.<32 lowercase hex>.<32 lowercase hex>"],
      [proposing("x".repeat(8193)), "8193 bytes"],
      [proposing(""), "0 bytes"],
      [["--channel", channel, "--payload-b64url", "e30="], "base64url"],
      [["--channel", channel, "--payload-b64url", "e31"], "base64url"],
      [["--channel", channel, "--payload-b64url", "_w"], "UTF-8"],
    ];
    const all = await Promise.all(wrong.map(async ([args]) => await run(args)));
    all.forEach((ran, index) => {
      expect(ran).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining(wrong[index]?.[1] ?? "?") });
    });
    expect(connections).toBe(0);
  });

  test("outside of an agent's shell it says so", async () => {
    expect(await run(proposing(), {})).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("ACP_PROPOSE_DIR"),
    });
  });

  test("it gives up after its attempts, with a message that names what is missing", async () => {
    const before = performance.now();
    expect(await run()).toEqual({
      code: 1,
      stdout: "",
      stderr: "acp-propose: the Helper that owns this channel is unavailable\n",
    });
    expect(performance.now() - before).toBeGreaterThanOrEqual(1870);
  });

  test("an error that will not pass ends it at once", async () => {
    const nested = { ACP_PROPOSE_DIR: join(program.path, "x") };
    expect(await run(proposing(), nested)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("ENOTDIR"),
    });
  });

  test("a folder whose path is too long is an error with the limit", async () => {
    const long = { ACP_PROPOSE_DIR: `/${"x".repeat(90)}` };
    expect(await run(proposing(), long)).toMatchObject({ code: 1, stderr: expect.stringContaining("103") });
  });
});

describe("with a Helper", () => {
  test("it sends one strict request line and prints a refusal as one line, exit code 0", async () => {
    const requests: string[] = [];
    await serve((socket, request) => {
      requests.push(request);
      socket.end(`${refused}\n`);
    });
    expect(await run(proposing(`{"a":"it's é"}`))).toEqual({ code: 0, stdout: `${refused}\n`, stderr: "" });
    expect(requests).toEqual([`{"version":1,"channel":"${channel}","payload":"{\\"a\\":\\"it's é\\"}"}\n`]);
    const b64 = ["--channel", channel, "--payload-b64url", Buffer.from(`{"a":"it's é"}`).toString("base64url")];
    expect(await run(b64)).toMatchObject({ code: 0 });
    expect(requests[1]).toBe(requests[0]);
  });

  test("the first line is there before the second is sent", async () => {
    let answered: Socket | undefined;
    await serve((socket) => {
      answered = socket;
      socket.write(`${accepted}\n`);
    });
    const child = start(proposing());
    const [first] = await once(child.stdout ?? child, "data");
    expect(String(first)).toBe(`${accepted}\n`);
    expect(child.exitCode).toBeNull();
    answered?.end(`${confirmed}\n`);
    expect(await finished(child)).toEqual({ code: 0, stdout: `${confirmed}\n`, stderr: "" });
  });

  test("both lines reach a reader when the connection closes right after", async () => {
    await serve((socket) => socket.end(`${accepted}\r\n${confirmed}\r\nmore`));
    expect(await run()).toEqual({ code: 0, stdout: `${accepted}\n${confirmed}\n`, stderr: "" });
  });

  test.each(["cancelled", "superseded", "session_replaced", "timed_out", "unavailable"] as const)(
    "%s is exit code 0 too",
    async (status) => {
      const final = encodeFinal({ status, proposalId });
      await serve((socket) => socket.end(`${accepted}\n${final}\n`));
      expect(await run()).toEqual({ code: 0, stdout: `${accepted}\n${final}\n`, stderr: "" });
    },
  );

  test("a response is printed in its one spelling", async () => {
    await serve((socket) =>
      socket.end(`{ "retryable": true, "reason":"too late", "status":"expired", "phase":"validation" }\n`),
    );
    expect(await run()).toEqual({ code: 0, stdout: `${refused}\n`, stderr: "" });
  });

  test.each([
    ["the end after the first line", `${accepted}\n`],
    ["half a second line", `${accepted}\n${confirmed}`],
    ["a second validation line", `${accepted}\n${accepted}\n`],
    ["an unknown final status", `${accepted}\n${confirmed.replace("confirmed", "done")}\n`],
    ["the final of another proposal", `${accepted}\n${confirmed.replace("7b1c", "8b1c")}\n`],
    ["a second line that is too long", `${accepted}\n${"x".repeat(maxFrameBytes + 1)}\n`],
  ])("%s leaves one line and exit code 1", async (_what, answer) => {
    await serve((socket) => socket.end(answer));
    const ran = await run();
    expect(ran).toMatchObject({ code: 1, stdout: `${accepted}\n` });
    expect(ran.stderr).toMatch(/^acp-propose: .+\n$/);
  });

  test.each([
    ["the end at once", ""],
    ["no JSON", "x\n"],
    ["a final line first", `${confirmed}\n`],
    ["an unknown status", `${refused.replace("expired", "late")}\n`],
    ["a line that is too long", `${"x".repeat(maxFrameBytes + 1)}\n`],
    ["bytes that are no text", Buffer.from([0xff, 0x0a])],
  ])("%s leaves nothing on stdout and exit code 1", async (_what, answer) => {
    await serve((socket) => socket.end(answer));
    const ran = await run();
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toMatch(/^acp-propose: .+\n$/);
  });

  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("a response of 50,176 bytes with %s is taken", async (_name, end) => {
    const without = encodeValidation({ status: "expired", reason: "x", retryable: true }).length - 1;
    const longest = encodeValidation({
      status: "expired",
      reason: "x".repeat(maxFrameBytes - without),
      retryable: true,
    });
    expect(longest).toHaveLength(maxFrameBytes);
    await serve((socket) => socket.end(`${longest}${end}`));
    expect(await run()).toEqual({ code: 0, stdout: `${longest}\n`, stderr: "" });
  });

  test("a reader that is gone is exit code 1 without a word", async () => {
    const open = new Promise<Socket>((resolve) => void serve(resolve));
    const child = start(proposing());
    const ending = finished(child);
    const socket = await open;
    child.stdout?.destroy();
    await once(child.stdout ?? child, "close");
    socket.end(`${accepted}\n${confirmed}\n`);
    expect(await ending).toMatchObject({ code: 1, stderr: "" });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s closes the socket and is exit code %i", async (signal, code) => {
    const open = new Promise<Socket>((resolve) => {
      void serve((socket) => {
        socket.write(`${accepted}\n`);
        resolve(socket);
      });
    });
    const child = start(proposing());
    const first = once(child.stdout ?? child, "data");
    const socket = await open;
    await first;
    const closed = once(socket, "close");
    child.kill(signal);
    expect(await finished(child)).toMatchObject({ code, stderr: "" });
    await closed;
  });
});

test("the canonical command in a shell: armed, shown, confirmed, both lines", async () => {
  const instance = newInstance();
  const ends: string[] = [];
  const proposals = new Proposals({
    instance,
    surface: {
      isUp: () => true,
      decide: () => Promise.resolve("accept"),
      showCard: () => Promise.resolve(true),
      // The person answers as soon as the card is up.
      decidable: (ref) => void answer(ref),
      over: (_ref, status) => ends.push(status),
      detached: () => {},
    },
    log: () => {},
  });
  const answer = async (ref: { sessionId: string; proposalId: string }): Promise<void> => {
    await proposals.confirm(ref, () => Promise.resolve(true));
  };
  const opened = await ProposalServer.open({
    folder,
    instance,
    serve: proposals.serve,
    onLost: () => {},
    log: () => {},
  });
  if (!opened.ok) throw new Error(opened.message);
  const terms = { origin: "terminal_agent", target: "%1", trigger: undefined, arming: "required" } as const;
  const issued = proposals.startTurn({ ...terms, sessionId: "s", turnId: "t" }, true);
  if (issued === undefined) throw new Error("expected a channel");
  const invocation = { channel: issued, payload: Buffer.from(`{"a":"it's $HOME"}`), spelling: "json" } as const;
  expect(proposals.arm("s", invocation)).toEqual({ ok: true });
  const child = spawn("/bin/sh", ["-c", String(render("sh", invocation))], {
    env: { PATH: dirname(process.execPath), ACP_PROPOSE: program.path, ACP_PROPOSE_DIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const ran = await finished(child);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const lines = ran.stdout.split("\n");
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ phase: "validation", status: "accepted", retryable: false });
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ phase: "final", status: "confirmed" });
  expect(ends).toEqual(["confirmed"]);
  await proposals[Symbol.asyncDispose]();
  await opened.server[Symbol.asyncDispose]();
});
