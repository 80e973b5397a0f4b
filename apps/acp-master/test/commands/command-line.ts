// The bundled program as a child process, with an installation of its own in a temporary folder.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const app = fileURLToPath(new URL("../..", import.meta.url));
const program = join(app, "node_modules", ".cache", "command-line", "acp-master.js");
let built: Promise<string> | undefined;

/** Bundles the sources as they are, away from the built programs: a build may run at the same time. */
export function bundledProgram(): Promise<string> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<string> {
  const { build } = createRequire(join(app, "../../package.json"))("esbuild");
  const { outputFiles } = await build({
    entryPoints: { "acp-master": join(app, "src", "main.ts") },
    outdir: dirname(program),
    write: false,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    banner: {
      js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
    },
  });
  mkdirSync(dirname(program), { recursive: true });
  // Test processes build at the same time; each finds whole files. The entry comes last: its parts are there then.
  for (const { path, contents } of outputFiles.toSorted((a: Output, b: Output) => rank(a) - rank(b))) {
    writeFileSync(`${path}.${process.pid}`, contents);
    renameSync(`${path}.${process.pid}`, path);
  }
  return program;
}

interface Output {
  readonly path: string;
}

const rank = ({ path }: Output): number => (path === program ? 1 : 0);

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** One call of the program that was started and not yet awaited. */
export class Call {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  constructor(command: string, args: readonly string[], options: { env: NodeJS.ProcessEnv; cwd: string }) {
    this.child = spawn(command, args, { ...options, stdio: "pipe" });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.child.stdin.on("error", () => {}); // the child may be gone before it read everything
    this.ended = once(this.child, "close").then(([code, signal]) => ({
      code,
      signal,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Resolves when what was printed so far fits; rejects when the program ends before. */
  async printed(stream: "stdout" | "stderr", wanted: RegExp): Promise<void> {
    while (!wanted.test(this[stream])) {
      const more = once(this.child[stream], "data");
      const over = this.ended.then(({ code }) => {
        throw new Error(`ended with ${code} before ${wanted}: ${this.stdout}\n${this.stderr}`);
      });
      await Promise.race([more, over]);
    }
  }
}

export class Installation implements AsyncDisposable {
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-cli-"));
  readonly home = join(this.folder, "master");
  readonly work = join(this.folder, "work");
  readonly socket = join(this.home, "run", "master.sock");
  readonly #calls: Call[] = [];

  constructor() {
    for (const folder of [this.home, join(this.home, "run"), this.work, join(this.folder, "home")]) {
      mkdirSync(folder, { mode: 0o700 });
    }
  }

  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      HOME: join(this.folder, "home"),
      LANG: "C.UTF-8",
      ACP_MASTER_HOME: this.home,
    };
  }

  async start(args: readonly string[], options: CallOptions = {}): Promise<Call> {
    return this.startOther(process.execPath, [await bundledProgram(), ...args], options);
  }

  /** Another program in the same environment. */
  startOther(command: string, args: readonly string[], options: CallOptions = {}): Call {
    const call = new Call(command, args, { env: { ...this.env, ...options.env }, cwd: options.cwd ?? this.work });
    this.#calls.push(call);
    return call;
  }

  /** Runs `acp-master ARGS…` to its end. */
  async run(args: readonly string[], options: CallOptions = {}): Promise<Ended> {
    const call = await this.start(args, options);
    call.child.stdin.end(options.input ?? "");
    return call.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, ended } of this.#calls) {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
