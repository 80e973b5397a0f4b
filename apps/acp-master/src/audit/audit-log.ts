// The decision record of a running daemon: one synchronous append per decision. It never throws, and it decides nothing.
import { mkdirSync } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import { currentPath } from "./chain-files.ts";
import { type AuditBounds, ChainWriter } from "./chain-writer.ts";
import { type Decided, readDecided } from "./decided.ts";
import {
  type AuditEvent,
  type AuditField,
  type DecisionLine,
  decisionFields,
  eventFields,
  type Head,
} from "./record.ts";

export interface AuditOptions {
  /** batched: on disk within 100 ms. always: on disk before the append returns. */
  readonly sync: "batched" | "always";
  readonly log: { warn(fields: object, text: string): void };
  readonly bounds?: AuditBounds;
}

/** 8 files of 16 MiB: some 200,000 decisions. */
export const auditBounds: AuditBounds = { fileBytes: 16 * 1024 * 1024, files: 8 };

/** Leaves the disk time to be done within 100 ms. */
const batchMs = 50;

/**
 * Owns `audit.ndjson`, its full files `audit.<last number>.ndjson` and `audit.head`. When they were removed, replaced or cut,
 * or after a failure, the next append goes on from what is there and says so in a `recovered` record.
 *
 *     using audit = AuditLog.open(places.stateDir, { sync: config.audit.sync, log });
 *     if (!audit.decision(line)) refuse();
 */
export class AuditLog implements Disposable {
  readonly #path: string;
  readonly #stateDir: string;
  readonly #options: AuditOptions;
  readonly #chain: ChainWriter;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(stateDir: string, options: AuditOptions) {
    this.#path = currentPath(stateDir);
    this.#stateDir = stateDir;
    this.#options = options;
    this.#chain = new ChainWriter({
      stateDir,
      bounds: options.bounds ?? auditBounds,
      durable: options.sync === "always",
      fault: (error, what) => this.#warn(error, what),
    });
  }

  /** Makes the folder if it is not there. What cannot be opened gives a log whose appends fail until it can. */
  static open(stateDir: string, options: AuditOptions): AuditLog {
    const log = new AuditLog(stateDir, options);
    log.#attempt(() => {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      log.#chain.open();
    });
    return log;
  }

  /** What is wrong and what to do, while it lasts. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The last record; number 0 before the first. */
  get head(): Head {
    return this.#chain.head;
  }

  /** Whether the decision is recorded: after false an allow must not be sent. */
  decision(line: DecisionLine): boolean {
    return this.#attempt(() => this.#chain.append("decision", decisionFields(line)));
  }

  /** Those of the questions whose decision is on disk. */
  decided(approvalIds: ReadonlySet<string>): Promise<ReadonlyMap<string, Decided>> {
    return readDecided(this.#stateDir, approvalIds);
  }

  event(type: AuditEvent, fields: Readonly<Record<string, AuditField>>): boolean {
    return this.#attempt(() => this.#chain.append(type, eventFields(fields)));
  }

  /** Flushes and closes; later appends fail. */
  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#chain[Symbol.dispose]();
  }

  #attempt(step: () => void): boolean {
    if (this.#closed) return false;
    const before = this.#problem;
    this.#problem = undefined;
    try {
      step();
      this.#syncSoon();
      return true;
    } catch (error) {
      this.#chain[Symbol.dispose]();
      this.#problem =
        `The decision record ${this.#path} cannot be written (${errorCode(error)}), so no permission can be allowed. ` +
        "Free space there, or make the file and its folder writable; nothing needs to be restarted.";
      if (this.#problem !== before) {
        this.#options.log.warn({ err: error, code: errorCode(error) }, "the decision record cannot be written");
      }
      return false;
    }
  }

  /** A record was kept, but something about it is not as it should be. */
  #warn(error: unknown, what: string): void {
    const code = error === undefined ? "" : ` (${errorCode(error)})`;
    this.#problem = `At ${this.#path}: ${what}${code}.`;
    this.#options.log.warn(error === undefined ? {} : { err: error, code: errorCode(error) }, what);
  }

  #syncSoon(): void {
    if (this.#options.sync === "always" || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#chain.syncSoon();
    }, batchMs).unref();
  }
}
