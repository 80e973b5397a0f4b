// One run of the script: the programs, the recordings, and their end. Directly, or through `acp-master connect`.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { within } from "../harness/events.ts";
import type { AgentEntry } from "../harness/home.ts";
import type { Master } from "../harness/master.ts";
import { Program } from "../harness/program.ts";
import type { ByteStreams } from "./agent-process.ts";
import { connectNew, connectOld } from "./clients.ts";
import { type Recorded, tap } from "./recording.ts";
import { respell } from "./respelling.ts";
import { type Age, runScript } from "./script.ts";
import { TestClient } from "./test-client.ts";

/** Who talks with whom, by the age of their SDK. */
export interface Pair {
  readonly name: string;
  readonly clientAge: Age;
  readonly agentAge: Age;
}

/** What both ends of the conversation saw of it. */
export interface Transcripts {
  readonly client: readonly Recorded[];
  readonly agent: readonly Recorded[];
}

export type Route = "direct" | "through";

/** Builds the test agents into `folder`; node 20 runs no TypeScript. */
export async function buildAgents(folder: string): Promise<void> {
  await build({
    entryPoints: ["full-agent.ts", "old-agent.ts"].map((name) => fileURLToPath(new URL(name, import.meta.url))),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
}

const transcriptOf = (folder: string, pair: Pair, route: Route): string => join(folder, `${pair.name}-${route}.ndjson`);

export function agentEntry(folder: string, pair: Pair, route: Route): AgentEntry {
  return {
    command: process.execPath,
    args: [join(folder, pair.agentAge === "new" ? "full-agent.mjs" : "old-agent.mjs")],
    env: { TRANSCRIPT: transcriptOf(folder, pair, route), SESSION_PREFIX: pair.name },
  };
}

/** `folder` holds the built agents. The program must end by itself, with code 0, once its input has ended. */
export async function run(master: Master, folder: string, pair: Pair, route: Route): Promise<Transcripts> {
  const program = start(master, folder, pair, route);
  const client: Recorded[] = [];
  try {
    const out = respell();
    out.readable
      .pipeThrough(tap("to agent", (line) => client.push(line)))
      .pipeTo(Writable.toWeb(program.child.stdin))
      .catch(() => {}); // it ends with the program's stdin
    const streams: ByteStreams = {
      output: out.writable,
      input: Readable.toWeb(program.child.stdout).pipeThrough(tap("to client", (line) => client.push(line))),
    };
    const tested = new TestClient();
    const { clientAge, agentAge, name: prefix } = pair;
    tested.agent = clientAge === "new" ? connectNew(streams, tested) : connectOld(streams, tested);
    const cwd = join(master.work, pair.name);
    mkdirSync(cwd, { recursive: true });
    await runScript({ agent: tested.agent, client: tested, clientAge, agentAge, cwd, prefix });
    program.child.stdin.end();
    const exit = await within(program.exited, `${pair.name} ${route} ends`, 10_000, () => program.stderr.slice(-2000));
    if (exit.code !== 0) throw new Error(`${pair.name} ${route} ended with ${JSON.stringify(exit)}`);
  } finally {
    await program.end("SIGKILL", 5_000);
  }
  return { client, agent: readTranscript(transcriptOf(folder, pair, route)) };
}

function start(master: Master, folder: string, pair: Pair, route: Route): Program {
  if (route === "through") return master.program(["connect", pair.name]);
  const { command, args, env } = agentEntry(folder, pair, route);
  const { ACP_MASTER_HOME: _, ...clean } = master.env;
  return new Program(command, args ?? [], { env: { ...clean, ...env }, cwd: master.work });
}

const readTranscript = (file: string): Recorded[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
