// Owns the small process that ends all agents when this one dies, however it dies. It does not end them while this one lives.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { happensWithin } from "./happens-within.ts";
import { reaperScript } from "./reaper-script.ts";

const restartAfterMs = 1000;
const workMs = 3000;

export interface ReaperOptions {
  /** Random and unguessable; the value of ACP_MASTER_RUN in the agents' environment. */
  readonly runMarker: string;
  readonly log?: { error(fields: object, message: string): void };
}

/**
 * The daemon is the only writer of the Reaper's input, so its end, even by KILL, is the end of that input. `add` and `remove`
 * hand their line to the kernel before they return. On Windows nothing is started and nothing is promised.
 */
export class Reaper implements AsyncDisposable {
  readonly #options: ReaperOptions;
  readonly #groups = new Set<number>();
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #disposed = false;

  static start(options: ReaperOptions): Reaper {
    return new Reaper(options);
  }

  private constructor(options: ReaperOptions) {
    if (!/^[0-9a-zA-Z-]{16,}$/.test(options.runMarker)) {
      throw new RangeError("the run marker needs at least 16 letters, digits or dashes");
    }
    this.#options = options;
    this.#begin();
  }

  /** The Reaper's own process, absent while it is being replaced and on Windows. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  add(pgid: number): void {
    this.#groups.add(pgid);
    this.#tell(`+${pgid}\n`);
  }

  remove(pgid: number): void {
    if (this.#groups.delete(pgid)) this.#tell(`-${pgid}\n`);
  }

  /** Lets the Reaper do its work and waits for it: groups that were not removed, and strays of this run, are killed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    child?.ref();
    child?.stdin?.end();
    if (await happensWithin(this.#exited, workMs)) return;
    this.#options.log?.error({ pid: child?.pid }, "the Reaper did not end and was killed; look for agents left behind");
    child?.kill("SIGKILL");
    await this.#exited;
  }

  #begin(): void {
    if (process.platform === "win32") return;
    const startedAt = performance.now();
    const child = spawn("/bin/sh", ["-c", reaperScript, "acp-master-reaper", this.#options.runMarker], {
      stdio: ["pipe", "ignore", "ignore"],
      // Its own session: a signal to the daemon's group or terminal does not reach it.
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      const lost = () => {
        if (this.#child === child) this.#lost(startedAt);
        resolve();
      };
      child.once("exit", lost);
      child.once("error", lost);
    });
    child.stdin.on("error", () => {
      // Its exit follows and starts another.
    });
    child.unref();
    const lines = [...this.#groups].map((pgid) => `+${pgid}\n`);
    if (lines.length > 0) this.#tell(lines.join(""));
  }

  #lost(startedAt: number): void {
    this.#child = undefined;
    if (this.#disposed) return;
    this.#options.log?.error({}, "the Reaper ended; agents would survive a crash until its successor runs");
    const lived = performance.now() - startedAt;
    if (lived >= restartAfterMs) this.#begin();
    else this.#restart = setTimeout(() => this.#begin(), restartAfterMs).unref();
  }

  #tell(lines: string): void {
    this.#child?.stdin?.write(lines);
  }
}
