// The host client as the router sees it: a process of ours that takes file and terminal requests which the agent was told
// it may send and no attached client can take any more. Started when it is first needed, ended when it is idle.

import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Envelope, FrameReader, FrameWriter, peek } from "@acp-master/wire";
import { killMarked } from "../agents/marked-processes.ts";
import type { Reaper } from "../agents/reaper.ts";
import { json, notificationFrame } from "./message.ts";
import { underId } from "./kept-frame.ts";
import type { Session } from "./session.ts";

const IDLE_MS = 60_000;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Everything that one host process starts carries its mark, and ends with it. */
const MARK_VARIABLE = "ACP_MASTER_HOST";

export interface HostSettings {
  /** The program's file. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly reaper: Pick<Reaper, "add" | "remove">;
  readonly maxFrameBytes: () => number;
}

/** Exactly one of the two is called, once. */
export interface HostAnswer {
  answered(envelope: Envelope): void;
  lost(): void;
}

export class HostService implements AsyncDisposable {
  readonly #settings: HostSettings;
  readonly #waiting = new Map<number, HostAnswer>();
  /** Sessions that the process knows the folders of. */
  readonly #known = new Set<Session>();
  #child: ChildProcess | undefined;
  #writer: FrameWriter | undefined;
  #gone: Promise<void> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(settings: HostSettings) {
    this.#settings = settings;
  }

  /** `request` is kept by the caller; the session is named by its outward id. */
  put(session: Session, request: Envelope, answer: HostAnswer): void {
    const writer = this.#writer ?? this.#start();
    clearTimeout(this.#idle);
    if (writer.pendingBytes > MAX_QUEUED_BYTES) return answer.lost();
    if (!this.#known.has(session)) {
      this.#known.add(session);
      writer.write(
        notificationFrame("_acp-master/roots", json({ sessionId: session.sessionId, roots: session.roots })),
      );
    }
    const id = ++this.#lastId;
    this.#waiting.set(id, answer);
    writer.write(underId(request, String(id)));
  }

  /** Its terminals end with it. */
  sessionEnded(session: Session): void {
    if (!this.#known.delete(session)) return;
    this.#writer?.write(notificationFrame("_acp-master/session_end", json({ sessionId: session.sessionId })));
    this.#considerIdle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle);
    this.#end();
    await this.#gone;
  }

  #start(): FrameWriter {
    const { program, environment, reaper, maxFrameBytes } = this.#settings;
    const mark = randomUUID();
    const child = spawn(process.execPath, [program], {
      env: { ...environment, [MARK_VARIABLE]: mark },
      detached: process.platform !== "win32",
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { pid } = child;
    if (pid !== undefined) reaper.add(pid);
    const writer = new FrameWriter(child.stdin, {});
    const envelope = new Envelope();
    void new FrameReader(child.stdout, maxFrameBytes(), {
      frame: (bytes, start, end) => {
        peek(bytes, start, end, envelope);
        if (envelope.kind === "response") this.#answered(envelope);
      },
      tooLong: () => child.kill("SIGKILL"),
      ended: () => this.#lost(child),
    });
    child.on("error", () => this.#lost(child));
    this.#gone = new Promise((resolve) => {
      const gone = (): void => {
        if (pid !== undefined) {
          endGroup(pid);
          reaper.remove(pid);
        }
        this.#lost(child);
        void killMarked(MARK_VARIABLE, mark).finally(resolve);
      };
      child.once("close", gone);
      if (pid === undefined) child.once("error", gone);
    });
    this.#child = child;
    this.#writer = writer;
    return writer;
  }

  #answered(envelope: Envelope): void {
    const id = Number(envelope.bytes.toString("latin1", envelope.id.start, envelope.id.end));
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    answer?.answered(envelope);
    this.#considerIdle();
  }

  /** It is asked of no other process: what was in flight may have been done. */
  #lost(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#writer = undefined;
    this.#known.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const answer of waiting) answer.lost();
  }

  #considerIdle(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.size > 0 || this.#known.size > 0) return;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS);
    this.#idle.unref();
  }

  #end(): void {
    this.#writer?.end();
    const child = this.#child;
    if (!child) return;
    const timer = setTimeout(() => child.kill("SIGKILL"), 2000);
    child.once("close", () => clearTimeout(timer));
  }
}

function endGroup(pid: number): void {
  try {
    if (process.platform !== "win32") process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of it is left.
  }
}
