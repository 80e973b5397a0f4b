// Owns one agent: its process group, its three streams, its end. It knows frames but not what they say, and restarts nothing.
import { FrameReader, FrameWriter } from "@acp-master/wire";
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import type { AgentDefinition } from "./agent-definition.ts";
import { describeExit, describeStartFailure } from "./agent-exit.ts";
import type { AgentExit, ExitCause } from "./agent-exit.ts";
import type { AgentOutput } from "./agent-output.ts";
import { happensWithin } from "./happens-within.ts";
import { ProcessGroup } from "./process-group.ts";
import type { Reaper } from "./reaper.ts";
import { spawnAgent } from "./spawn-agent.ts";
import type { SpawnedAgent } from "./spawn-agent.ts";
import { StderrTail } from "./stderr-tail.ts";
import { StdoutNoise } from "./stdout-noise.ts";
import { clearGroup, climbDown } from "./stop-ladder.ts";

export type { AgentExit } from "./agent-exit.ts";

const exitAfterBrokenStreamMs = 250;
const drainAfterExitMs = 500;

export interface AgentPeer {
  frame(bytes: Buffer, start: number, end: number): void;
  chunkEnd(): void;
  /** Exactly once, after the last frame, never before `start` returned. */
  exited(exit: AgentExit): void;
  drained?(): void;
}

export interface AgentLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface AgentProcessOptions {
  readonly reaper: Pick<Reaper, "add" | "remove">;
  readonly environment: Readonly<Record<string, string>>;
  /** A folder that means nothing to the agent; the home folder if absent. */
  readonly cwd?: string;
  /** For its stdout; without one it gets a pipe. */
  readonly output?: AgentOutput | undefined;
  readonly maxFrameBytes: number;
  readonly maxQueuedBytes: number;
  readonly log: AgentLog;
}

/**
 * One running agent. `peer.exited` and `exited` come with the last frame, or with the failure that makes further frames
 * impossible; `stop()` also waits until no process of the group is left. A failed start is an exit like any other.
 */
export class AgentProcess implements AsyncDisposable {
  readonly instance = randomBytes(8).toString("hex");
  readonly pid: number | undefined;
  readonly exited: Promise<AgentExit>;
  readonly #definition: AgentDefinition;
  readonly #peer: AgentPeer;
  readonly #options: AgentProcessOptions;
  readonly #tail = new StderrTail();
  readonly #noise = new StdoutNoise();
  readonly #finished: Promise<void>;
  readonly #endRequested: Promise<void>;
  #requestEnd!: () => void;
  #resolveExited!: (exit: AgentExit) => void;
  #reader: FrameReader | undefined;
  #writer: FrameWriter | undefined;
  #cause: Exclude<ExitCause, "failed_to_start"> | undefined;
  #inputBroken = false;
  #leaderGone = false;
  #reported = false;

  static start(definition: AgentDefinition, peer: AgentPeer, options: AgentProcessOptions): AgentProcess {
    return new AgentProcess(definition, peer, options);
  }

  private constructor(definition: AgentDefinition, peer: AgentPeer, options: AgentProcessOptions) {
    this.#definition = definition;
    this.#peer = peer;
    this.#options = options;
    this.exited = new Promise((resolve) => (this.#resolveExited = resolve));
    this.#endRequested = new Promise((resolve) => (this.#requestEnd = resolve));
    const cwd = options.cwd ?? homedir();
    const { command, args } = definition;
    const { environment, output } = options;
    const spawned = spawnAgent({ command, args, cwd, environment, output });
    if (!spawned.ok) {
      this.#finished = this.#reportFailedStart(spawned.failed, cwd);
      return;
    }
    this.pid = spawned.agent.pid;
    options.reaper.add(spawned.agent.pid);
    options.log.info(this.#fields(), "agent started");
    this.#finished = this.#live(spawned.agent);
  }

  /** False while `write` can only refuse, because the input is closed, broken or about to be closed. */
  get inputOpen(): boolean {
    if (this.#writer === undefined || this.#writer.ended || this.#inputBroken) return false;
    return this.#cause === undefined && !this.#leaderGone;
  }

  get noiseCount(): number {
    return this.#noise.count;
  }

  get queuedBytes(): number {
    return this.#writer?.pendingBytes ?? 0;
  }

  /** Whole frames with their LF. False: nothing was written, because the queue is full or the input is not open. */
  write(bytes: Buffer): boolean {
    if (!this.#hasRoom(bytes, this.#options.maxQueuedBytes)) return false;
    this.#writer?.write(bytes);
    return true;
  }

  /** As `write`, for what somebody waits for: it leaves at once. */
  send(bytes: Buffer): boolean {
    return this.#sendWithin(bytes, this.#options.maxQueuedBytes);
  }

  /** As `send`, for what the agent waits for: it may fill the queue to twice the bound. */
  sendAnswer(bytes: Buffer): boolean {
    return this.#sendWithin(bytes, 2 * this.#options.maxQueuedBytes);
  }

  #sendWithin(bytes: Buffer, bound: number): boolean {
    if (!this.#hasRoom(bytes, bound)) return false;
    this.#writer?.send(bytes);
    return true;
  }

  #hasRoom(bytes: Buffer, bound: number): boolean {
    if (this.#writer === undefined || !this.inputOpen) return false;
    const queued = this.#writer.pendingBytes;
    // One frame always fits into an empty queue, whatever the two limits are.
    return queued === 0 || queued + bytes.length <= bound;
  }

  /** Holds stdout; stderr is read on. Without effect once the leader has exited: what is left is at most a full pipe. */
  pause(): void {
    if (!this.#leaderGone) this.#reader?.pause();
  }

  resume(): void {
    this.#reader?.resume();
  }

  /** A line of stdout that was no message: counted, its beginning kept for `stderrTail`. The bytes are copied. */
  noise(bytes: Buffer): void {
    this.#tail.pushNoise(bytes);
    const warning = this.#noise.add(bytes.length, performance.now());
    if (warning === undefined) return;
    this.#options.log.warn(
      { ...this.#fields(), ...warning },
      "agent wrote lines to stdout that are no messages; they were skipped",
    );
  }

  stderrTail(): string {
    return this.#tail.text();
  }

  /** Ends it by the ladder; may be called at any time and more than once. Resolves when its process group is gone. */
  async stop(): Promise<AgentExit> {
    this.#end("stopped");
    await this.#finished;
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  // The first cause wins, and an exit that has happened needs none.
  #end(cause: Exclude<ExitCause, "failed_to_start">): void {
    if (!this.#leaderGone) this.#cause ??= cause;
    this.#requestEnd();
  }

  async #live(agent: SpawnedAgent): Promise<void> {
    const group = new ProcessGroup(agent.pid);
    const outputEnded = this.#connect(agent);
    const leaderExited = agent.exited.then(() => {
      this.#leaderGone = true;
    });
    await Promise.race([leaderExited, this.#endRequested]);
    if (!this.#leaderGone) await this.#climbDown(agent, group, leaderExited);
    const cleared = clearGroup(group);
    this.#reader?.resume();
    if (!(await happensWithin(outputEnded, drainAfterExitMs))) {
      // A process that left the group still holds the pipes.
      agent.stdout.destroy();
      agent.stderr.destroy();
    }
    this.#report(this.#leaderGone ? await agent.exited : { exitCode: null, signal: null });
    if (await cleared) this.#options.reaper.remove(group.pgid);
    else this.#options.log.error(this.#fields(), "processes of the agent are left that KILL does not end");
  }

  async #climbDown(agent: SpawnedAgent, group: ProcessGroup, leaderExited: Promise<void>): Promise<void> {
    const closeInput = () => this.#writer?.end();
    const ladder = climbDown({ group, leaderExited, closeInput });
    // Nothing more can come, or nothing can be asked, so those who wait are told before the process is gone.
    if (this.#cause !== "stopped") {
      this.#report({ exitCode: null, signal: null });
    }
    await ladder;
  }

  /** Resolves when stdout and stderr have ended. */
  async #connect(agent: SpawnedAgent): Promise<void> {
    // A peer that exits breaks both streams just before its exit is known; the exit is then the cause.
    const endUnlessExiting = async (cause: "input_closed" | "output_ended") => {
      if (!(await happensWithin(agent.exited, exitAfterBrokenStreamMs))) this.#end(cause);
    };
    const inputFailed = () => {
      if (this.#inputBroken) return;
      this.#inputBroken = true;
      void endUnlessExiting("input_closed");
    };
    agent.stdin.on("error", inputFailed);
    this.#writer = new FrameWriter(agent.stdin, {
      onDrain: () => this.#peer.drained?.(),
      onError: inputFailed,
    });
    const stderrEnded = new Promise<void>((resolve) => agent.stderr.once("close", resolve));
    agent.stderr.on("error", () => {});
    agent.stderr.on("data", (chunk: Buffer) => this.#tail.push(chunk));
    const stdoutEnded = new Promise<void>((resolve) => {
      this.#reader = new FrameReader(agent.stdout, this.#options.maxFrameBytes, {
        frame: (bytes, start, end) => {
          if (!this.#reported) this.#peer.frame(bytes, start, end);
        },
        chunkEnd: () => {
          if (!this.#reported) this.#peer.chunkEnd();
        },
        tooLong: () => {
          this.#end("frame_too_long");
          agent.stdout.destroy();
        },
        ended: () => resolve(),
      });
    });
    await stdoutEnded;
    await endUnlessExiting("output_ended");
    await stderrEnded;
  }

  async #reportFailedStart(failed: Promise<string | undefined>, cwd: string): Promise<void> {
    const code = await failed;
    const { environment, log } = this.#options;
    const message = describeStartFailure(this.#definition, { code, cwd, environment });
    log.error({ ...this.#fields(), code }, "agent could not be started");
    this.#deliver({ exitCode: null, signal: null, stderrTail: "", cause: "failed_to_start", message });
  }

  #report(status: { exitCode: number | null; signal: string | null }): void {
    if (this.#reported) return;
    const cause = this.#cause ?? "exited";
    const { environment, maxFrameBytes, log } = this.#options;
    const message = describeExit(this.#definition, { ...status, cause, environment, maxFrameBytes });
    log.info({ ...this.#fields(), cause, ...status, noise: this.#noise.count }, "agent ended");
    this.#deliver({ ...status, stderrTail: this.#tail.text(), cause, message });
  }

  #deliver(exit: AgentExit): void {
    this.#reported = true;
    this.#resolveExited(exit);
    this.#peer.exited(exit);
  }

  #fields(): { agent: string; instance: string; pid: number | undefined } {
    return { agent: this.#definition.name, instance: this.instance, pid: this.pid };
  }
}
