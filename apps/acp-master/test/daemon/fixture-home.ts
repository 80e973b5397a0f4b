// A folder for one test with the fixture program in it, and the processes that run there. Leaves neither behind.
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { resolvePlaces } from "../../src/config/places.ts";

/** Bundled once for a test file, as the product is. */
export function bundledProgram(folder: string): string {
  const outfile = join(folder, "program.mjs");
  buildSync({
    entryPoints: [fileURLToPath(new URL("./fixtures/program.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    alias: { "@acp-master/wire": fileURLToPath(new URL("../../../../packages/wire/src/index.ts", import.meta.url)) },
  });
  return outfile;
}

export interface Running {
  readonly child: ChildProcess;
  /** Everything on standard output so far. */
  output(): string;
  errors(): string;
  /** Resolves at the first output that holds the text; rejects when the process ends without it. */
  says(text: string): Promise<void>;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export class FixtureHome implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), "acpm-"));
  readonly home = join(this.root, "home");
  readonly places = resolvePlaces({ ACP_MASTER_HOME: this.home });
  readonly #program: string;
  readonly #running: Running[] = [];

  constructor(program: string) {
    this.#program = program;
  }

  start(args: readonly string[], options: SpawnOptions = {}): Running {
    const env = { ...process.env, ACP_MASTER_HOME: this.home, ...options.env };
    return this.run(process.execPath, [this.#program, ...args], { ...options, env });
  }

  run(command: string, args: readonly string[], options: SpawnOptions): Running {
    const child = spawn(command, args, { stdio: "pipe", ...options });
    let output = "";
    let errors = "";
    child.stdout?.setEncoding("utf8").on("data", (part: string) => (output += part));
    child.stderr?.setEncoding("utf8").on("data", (part: string) => (errors += part));
    child.stdin?.on("error", () => {});
    const running: Running = {
      child,
      output: () => output,
      errors: () => errors,
      ended: new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal }))),
      says: async (text) => {
        while (!output.includes(text)) {
          const ended = running.ended.then(({ code }) => Promise.reject(new Error(`ended ${code}: ${errors}`)));
          ended.catch(() => {});
          if (child.stdout === null) throw new Error("no output");
          await Promise.race([once(child.stdout, "data"), ended]);
        }
      },
    };
    this.#running.push(running);
    return running;
  }

  async serve(options: SpawnOptions = {}): Promise<Running> {
    const daemon = this.start(["serve"], options);
    await daemon.says('"ready":true');
    return daemon;
  }

  /** The pids of every daemon that opened the socket here. */
  births(): number[] {
    const file = join(this.home, "births");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#running) child.kill("SIGKILL");
    await Promise.all(this.#running.map(({ ended }) => ended));
    for (const pid of this.births()) {
      if (runsFixture(pid, this.#program)) process.kill(pid, "SIGKILL");
    }
    rmSync(this.root, { recursive: true, force: true });
    if (!this.places.socketPath.startsWith(this.root)) {
      rmSync(join(this.places.socketPath, ".."), { recursive: true, force: true });
    }
  }
}

function runsFixture(pid: number, program: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program);
  } catch {
    return false; // gone
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.startsWith("Z") !== true;
  } catch {
    return false;
  }
}
