// The connection that an agent gets for its stdout: what the agent sees of it, what comes out, and that nothing of it is left.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AgentOutput } from "../../src/agents/agent-output.ts";
import { bundled } from "../bundled.ts";
import { spawnAgent } from "../../src/agents/spawn-agent.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "acp-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function opened(): Promise<AgentOutput> {
  const output = await AgentOutput.open();
  if (output === undefined) throw new Error("no output");
  return output;
}

/** All that the script writes, as it is passed on. */
async function chunksOf(script: string): Promise<Buffer[]> {
  const output = await opened();
  const chunks: Buffer[] = [];
  output.stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", output.agentEnd, "inherit"] });
  output.agentEnd.destroy();
  await Promise.all([once(child, "exit"), once(output.stream, "close")]);
  return chunks;
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString();

test("an agent's writes wait for their reader, as on a pipe", async () => {
  const [flags = ""] = /flags:\s+\d+/.exec(textOf(await chunksOf("cat /proc/self/fdinfo/1"))) ?? [];
  const NONBLOCK = 0o4000;
  expect(Number.parseInt(flags.replace(/\D/g, ""), 8) & NONBLOCK).toBe(0);
});

test("a line that comes in two pieces is passed on in one", async () => {
  const output = await opened();
  const program = `process.stdout.write('{"a":1}\\n{"b"'); process.stdin.once("data", () => process.stdout.write(':2}\\n'))`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", output.agentEnd, "inherit"] });
  output.agentEnd.destroy();
  const [first] = await once(output.stream, "data");
  child.stdin?.end("go");
  const [second] = await once(output.stream, "data");
  expect([first.toString(), second.toString()]).toEqual(['{"a":1}\n', '{"b":2}\n']);
  await once(output.stream, "close");
});

test("all of it comes in order, whatever the lines are like, and the last without an end", async () => {
  const script = `seq 100000; head -c 3000000 /dev/zero | tr '\\0' x; echo; seq 10; printf last`;
  const { stdout } = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  const wanted: Buffer[] = [];
  for await (const chunk of stdout) wanted.push(chunk);
  expect(Buffer.concat(await chunksOf(script)).equals(Buffer.concat(wanted))).toBe(true);
});

test("many that are opened at once are each connected to their own agent", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `agent ${index}\n`);
  const said = await Promise.all(names.map(async (name) => textOf(await chunksOf(`printf '${name}'`))));
  expect(said).toEqual(names);
});

test("where it cannot be had there is none, and nothing is left of the attempt", async () => {
  vi.stubEnv("TMPDIR", join(folder, "gone"));
  expect(await AgentOutput.open()).toBeUndefined();
  const long = join(folder, "x".repeat(90));
  mkdirSync(long);
  vi.stubEnv("TMPDIR", long);
  expect(await AgentOutput.open()).toBeUndefined();
  expect(readdirSync(long)).toEqual([]);
  rmSync(long, { recursive: true });
});

test("however few descriptors are left, it is opened or it is not, at once, and none stays open", () => {
  const program = bundled(import.meta.url, "few-descriptors", folder);
  const line = `ulimit -n 128; exec '${process.execPath}' '${program}'`;
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", line], { encoding: "utf8", timeout: 25_000 });
  rmSync(program);
  expect(stderr).toBe("");
  const said = stdout.trimEnd().split("\n");
  expect(said).toHaveLength(8);
  expect(said.map((each) => each.replace(/one|none/, "decided"))).toEqual(
    said.map((_, left) => `${left}: decided, 0 stay open`),
  );
  expect([said[0], said[7]]).toEqual(["0: none, 0 stay open", "7: one, 0 stay open"]);
});

test("what an agent can read of it does not say where the daemon is", async () => {
  const own = `inode=$(readlink /proc/$$/fd/1 | tr -dc 0-9); grep -w "$inode" /proc/net/unix`;
  const [path = ""] = /\/.*/.exec(textOf(await chunksOf(own))) ?? [];
  expect(path.replace(/\w{6}\/s$/, "NAME")).toBe(join(folder, "acp-output-NAME"));
});

test("of an agent that cannot be started nothing stays open", async () => {
  for (const command of [join(folder, "no-such-program"), "/bin/\0sh"]) {
    const output = await opened();
    const ends = [once(output.stream, "close"), once(output.agentEnd, "close")];
    const spawned = spawnAgent({ command, args: [], cwd: folder, environment: {}, output });
    expect(spawned.ok).toBe(false);
    await Promise.all(ends);
  }
});
