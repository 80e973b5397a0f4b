// The connection that an agent gets for its stdout: what the agent sees of it, what comes out, and that nothing of it is left.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AgentOutput } from "../../src/agents/agent-output.ts";
import { spawnAgent } from "../../src/agents/spawn-agent.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "acp-output-"));
});
afterEach(() => {
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

async function opened(): Promise<AgentOutput> {
  const output = await AgentOutput.open(folder);
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
  expect(await AgentOutput.open(join(folder, "gone"))).toBeUndefined();
  expect(await AgentOutput.open(join(folder, "x".repeat(120)))).toBeUndefined();
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
