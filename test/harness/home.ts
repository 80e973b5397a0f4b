// A folder of its own for one master: configuration, environment, leak check. Starts nothing by itself.
// Every process that comes from here carries the folder's name in its environment, so none can be lost.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Loose } from "./lines.ts";
import { killMarked, leftovers } from "./processes.ts";
import { masterProgram, Program, programOnPath, runProgram, type Finished, type ProgramOptions } from "./program.ts";
import { RawClient } from "./raw-client.ts";

/** One entry of `agents` in the configuration. */
export interface AgentEntry {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

interface HasDefinition {
  readonly definition: AgentEntry;
}

const isAgent = (entry: AgentEntry | HasDefinition): entry is HasDefinition => typeof entry.definition === "object";

export interface HomeOptions {
  /** The configuration; an object is completed with `agents`, a string is written as it is. */
  readonly config?: Readonly<Record<string, unknown>> | string;
  /** Definitions, or things that have one (a scripted agent). */
  readonly agents?: Readonly<Record<string, AgentEntry | HasDefinition>>;
  /** Added to the environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export type CliOptions = Partial<Omit<ProgramOptions, "env">> & { readonly env?: Readonly<Record<string, string>> };

export class Home implements AsyncDisposable {
  /** Everything of this test lies in here. */
  readonly folder: string;
  /** ACP_MASTER_HOME. */
  readonly home: string;
  /** An empty folder for sessions to work in. */
  readonly work: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly #owned: AsyncDisposable[] = [];
  #disposed = false;

  constructor(options: HomeOptions = {}) {
    this.folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-"));
    this.home = join(this.folder, "master");
    this.work = join(this.folder, "work");
    this.marker = this.folder;
    for (const name of ["master", "work", "home", "tmp"]) mkdirSync(join(this.folder, name), { mode: 0o700 });
    this.env = this.#environment(options.env ?? {});
    this.configure(options);
  }

  #environment(extra: Readonly<Record<string, string | undefined>>): Record<string, string> {
    const env: Record<string, string | undefined> = {
      PATH: process.env.PATH,
      LANG: "C.UTF-8",
      TERM: "dumb",
      HOME: join(this.folder, "home"),
      TMPDIR: join(this.folder, "tmp"),
      XDG_CONFIG_HOME: join(this.folder, "home", "config"),
      XDG_STATE_HOME: join(this.folder, "home", "state"),
      XDG_CACHE_HOME: join(this.folder, "home", "cache"),
      XDG_DATA_HOME: join(this.folder, "home", "data"),
      ACP_MASTER_HOME: this.home,
      FIXTURE_RUN: randomBytes(8).toString("hex"),
      ...extra,
    };
    return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  get configFile(): string {
    return join(this.home, "config.json");
  }

  /** Writes the configuration anew (a running daemon watches the file). */
  configure(options: Pick<HomeOptions, "config" | "agents">): void {
    if (typeof options.config === "string") return writeFileSync(this.configFile, options.config);
    const agents = Object.fromEntries(
      Object.entries(options.agents ?? {}).map(([name, entry]) => [name, isAgent(entry) ? entry.definition : entry]),
    );
    const given = options.config ?? {};
    const config = {
      // Open turns at the end of a test should not cost the default ten seconds.
      daemon: { drainSeconds: 1 },
      ...given,
      agents: { ...(typeof given.agents === "object" ? given.agents : {}), ...agents },
    };
    writeFileSync(this.configFile, JSON.stringify(config, null, 2));
  }

  /** Runs `acp-master ARGS…` to its end. */
  cli(args: readonly string[], options: CliOptions = {}): Promise<Finished> {
    return runProgram(process.execPath, [masterProgram, ...args], { ...options, env: { ...this.env, ...options.env } });
  }

  /** Starts `acp-master ARGS…` and leaves it running; it is ended when the home goes. */
  program(args: readonly string[], options: Pick<CliOptions, "env" | "cwd"> = {}): Program {
    const program = new Program(process.execPath, [programOnPath, ...args], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...this.env, ...options.env },
    });
    this.own({ [Symbol.asyncDispose]: async () => void (await program.end("SIGKILL", 5_000)) });
    return program;
  }

  /** A raw client on the stdin and stdout of `acp-master connect ARGS…`. */
  connect(args: readonly string[] = [], options: Pick<CliOptions, "env" | "cwd"> = {}): RawClient {
    const client = RawClient.overProgram(this.program(["connect", ...args], options));
    client.cwd = this.work;
    return client;
  }

  /** Something to dispose before the leak check, last one first. */
  own(resource: AsyncDisposable): void {
    this.#owned.push(resource);
  }

  /** `run/master.json`; undefined when no daemon has written it. */
  masterFile(): { pid: number; socket: string; version: string; startedAt: Loose } | undefined {
    try {
      return JSON.parse(readFileSync(join(this.home, "run", "master.json"), "utf8"));
    } catch {
      return undefined; // absent, which is what the caller asks about
    }
  }

  /** The daemon's log, one parsed object per line. */
  logLines(): Loose[] {
    return this.logText()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  logText(): string {
    try {
      return readFileSync(join(this.home, "log", "master.ndjson"), "utf8");
    } catch {
      return ""; // nothing was logged
    }
  }

  /** Ends what is left of this test, fails when a process survived, removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const faults: unknown[] = [];
    for (const resource of this.#owned.toReversed()) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (fault) {
        faults.push(fault);
      }
    }
    await this.#stopStartedDaemon();
    const left = await leftovers(this.marker, 4_000);
    if (left.length > 0) {
      faults.push(new Error(`left behind: ${left.map((one) => `${one.pid} ${one.command}`).join("; ")}`));
      killMarked(this.marker);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (faults.length === 1) throw faults[0];
    if (faults.length > 1) throw new AggregateError(faults, faults.map(String).join("\n"));
  }

  /** A daemon that `connect` or `run` started belongs to nobody; it is asked to stop like a service would be. */
  async #stopStartedDaemon(): Promise<void> {
    const pid = this.masterFile()?.pid;
    if (pid === undefined || !(await this.#isOurs(pid))) return;
    process.kill(pid, "SIGTERM");
    await leftovers(this.marker, 8_000);
  }

  async #isOurs(pid: number): Promise<boolean> {
    return (await leftovers(this.marker, 0)).some((one) => one.pid === pid);
  }
}

export const makeHome = (options?: HomeOptions): Home => new Home(options);
