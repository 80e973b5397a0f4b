// One running Helper program: start, handshake, link, stop. It owns the process group and stays until that is gone. The
// Helper's stderr is kept only while it has seen no content, which is before its handshake.
import { PROTOCOL_VERSION } from "@acp-master/permission-core";
import { execa } from "execa";
import { HelperLink, type LinkEnd } from "./helper-link.ts";
import { readInitialized, type HelperHooks } from "./helper-answers.ts";
import type { HelperSpec } from "./helper-spec.ts";

export type HelperLogLevel = "debug" | "info" | "warn" | "error";

/** Without a level: info. */
export type HelperLog = (event: string, fields: Readonly<Record<string, unknown>>, level?: HelperLogLevel) => void;

export interface HelperDeadlines {
  readonly startMs: number;
  readonly sessionStartMs: number;
  /** For `helper/turn_start` and `helper/tool_call`. */
  readonly hookMs: number;
  readonly stallMs: number;
  readonly shutdownMs: number;
  /** From TERM to KILL. */
  readonly killMs: number;
}

export const helperDeadlines: HelperDeadlines = {
  startMs: 10_000,
  sessionStartMs: 5_000,
  hookMs: 2_000,
  stallMs: 10_000,
  shutdownMs: 2_000,
  killMs: 2_000,
};

export interface ProcessTerms {
  readonly master: { readonly name: string; readonly version: string };
  readonly socketDir: () => string;
  readonly environment: Readonly<Record<string, string>>;
  readonly reaper: { add(pgid: number): void; remove(pgid: number): void };
  readonly maxFrameBytes: number;
  readonly deadlines: HelperDeadlines;
  readonly log: HelperLog;
}

export type StartFault = "failed_to_start" | "start_deadline" | "wrong_shape" | "version_mismatch" | "error" | LinkEnd;

export interface HelperEvents {
  ready(hooks: HelperHooks): void;
  notification(method: string, params: Readonly<Record<string, unknown>>): void;
  drained(): void;
  /** Exactly once: nothing more comes from this Helper. Before `ready` it is a failed start. */
  over(cause: StartFault): void;
  /** Exactly once, after `over`: the process group is gone. */
  gone(): void;
}

const stderrTailBytes = 4 * 1024;

export class HelperProcess implements AsyncDisposable {
  readonly link: HelperLink;
  readonly gone: Promise<void>;
  readonly #child: ReturnType<typeof spawn>;
  readonly #terms: ProcessTerms;
  readonly #events: HelperEvents;
  readonly #exited: Promise<void>;
  #stderrTail: Buffer | undefined = Buffer.alloc(0);
  #startFault: StartFault | undefined;
  #stopping = false;
  #resolveGone: () => void = () => {};

  constructor(spec: HelperSpec, terms: ProcessTerms, events: HelperEvents) {
    this.#terms = terms;
    this.#events = events;
    this.gone = new Promise((resolve) => (this.#resolveGone = resolve));
    this.#child = spawn(spec, terms.environment);
    const child = this.#child;
    if (child.pid !== undefined) terms.reaper.add(child.pid);
    this.#exited = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    void this.#exited.then(() => this.#childExited());
    child.stderr.on("data", (chunk: Buffer) => this.#keepStderr(chunk));
    child.stderr.on("error", () => {}); // only its text is lost
    this.link = new HelperLink(
      { input: child.stdout, output: child.stdin },
      { maxFrameBytes: terms.maxFrameBytes, stallMs: terms.deadlines.stallMs },
      {
        notification: (method, params) => events.notification(method, params),
        dropped: (kind) => terms.log("helper.message_dropped", { pid: this.pid, kind }),
        flooded: () => terms.log("helper.flood", { pid: this.pid }),
        drained: () => events.drained(),
        over: (end) => this.#linkOver(end),
      },
    );
    this.#initialize();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** `helper/shutdown`, then the end of its input, then signals to its group. Resolves when the group is gone. */
  async stop(): Promise<void> {
    if (!this.#stopping && !this.link.isOver) {
      this.#stopping = true;
      this.link.request("helper/shutdown", {}, this.#terms.deadlines.shutdownMs, () => this.link.endOutput());
      const timer = setTimeout(() => this.link.end("closed"), this.#terms.deadlines.shutdownMs);
      void this.gone.then(() => clearTimeout(timer));
    }
    await this.gone;
  }

  /** Ends it without ceremony: it is at fault. */
  abort(cause: StartFault): void {
    this.#startFault ??= cause;
    this.link.end("closed");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #initialize(): void {
    const { master, socketDir, deadlines } = this.#terms;
    const params = { protocolVersion: PROTOCOL_VERSION, master, socketDir: socketDir() };
    this.link.request("helper/initialize", params, deadlines.startMs, (end) => {
      if (!end.ok) {
        if (end.fault.kind === "deadline") this.abort("start_deadline");
        else if (end.fault.kind === "error") this.abort("error");
        return;
      }
      const answer = readInitialized(end.result, PROTOCOL_VERSION);
      if (answer === undefined) return this.abort("wrong_shape");
      if (answer.version === "other") {
        const versions = { spoken: PROTOCOL_VERSION, offered: answer.offered };
        this.#terms.log("helper.version_mismatch", { pid: this.pid, ...versions });
        return this.abort("version_mismatch");
      }
      this.#stderrTail = undefined;
      this.#terms.log("helper.ready", { pid: this.pid, hooks: answer.hooks });
      this.#events.ready(answer.hooks);
    });
  }

  #linkOver(end: LinkEnd): void {
    const cause = this.#startFault ?? (this.#child.pid === undefined ? "failed_to_start" : end);
    const tail = this.#stopping ? undefined : this.#stderrTail;
    this.#stderrTail = undefined;
    const stderr = tail === undefined || tail.length === 0 ? {} : { stderr: tail.toString("utf8") };
    this.#terms.log("helper.over", { pid: this.pid, cause, stopped: this.#stopping, ...stderr });
    this.#events.over(cause);
    void this.#bury();
  }

  #childExited(): void {
    // Its last words may still be in the pipe, and a process it left behind may hold the pipe open.
    const timer = setTimeout(() => this.link.end("ended"), 100);
    void this.gone.then(() => clearTimeout(timer));
  }

  async #bury(): Promise<void> {
    this.#child.stdin.destroy();
    const pgid = this.#child.pid;
    if (pgid !== undefined) {
      if (!(await this.#exitsWithin(this.#stopping ? this.#terms.deadlines.shutdownMs : 0))) {
        signalGroup(pgid, "SIGTERM");
        await this.#exitsWithin(this.#terms.deadlines.killMs);
      }
      signalGroup(pgid, "SIGKILL"); // also what it left behind
      await this.#exited;
      this.#terms.reaper.remove(pgid);
    }
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    this.#events.gone();
    this.#resolveGone();
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
    const inTime = await Promise.race([this.#exited.then(() => true as const), late]);
    clearTimeout(timer);
    return inTime;
  }

  #keepStderr(chunk: Buffer): void {
    if (this.#stderrTail === undefined) return;
    this.#stderrTail = Buffer.concat([this.#stderrTail, chunk]).subarray(-stderrTailBytes);
  }
}

function spawn(spec: HelperSpec, environment: Readonly<Record<string, string>>) {
  const [command = "", ...args] = spec.argv;
  return execa(command, args, {
    cwd: spec.cwd ?? process.cwd(),
    env: environment,
    extendEnv: false,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    encoding: "buffer",
    buffer: false,
    reject: false,
    detached: process.platform !== "win32", // its own process group
    cleanup: false, // the reaper's task
    windowsHide: true,
  });
}

function signalGroup(pgid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pgid : -pgid, signal);
  } catch {
    // nobody is left in the group
  }
}
