// A state folder for one test, the log in it, and the bundled programs that use it. Removes all of them.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { AuditLog, type AuditOptions, auditBounds } from "../../src/audit/audit-log.ts";
import type { AuditBounds } from "../../src/audit/chain-writer.ts";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { decisionNumber } from "./decisions.ts";

/** In memory where there is such a disk: thousands of flushes need not reach a real one. */
const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export class AuditFolder implements Disposable {
  readonly root: string;
  readonly stateDir: string;
  readonly current: string;
  readonly head: string;
  readonly warnings: string[] = [];
  readonly #logs: AuditLog[] = [];

  constructor(disk: "real" | "fast" = "real") {
    this.root = mkdtempSync(join(disk === "fast" ? parent : tmpdir(), "acpm-audit-"));
    this.stateDir = join(this.root, "state");
    this.current = join(this.stateDir, "audit.ndjson");
    this.head = join(this.stateDir, "audit.head");
  }

  open(options: { sync?: AuditOptions["sync"]; bounds?: AuditBounds } = {}): AuditLog {
    const { sync = "batched", bounds = auditBounds } = options;
    const warn = (_fields: object, text: string) => void this.warnings.push(text);
    const log = AuditLog.open(this.stateDir, { sync, bounds, log: { warn } });
    this.#logs.push(log);
    return log;
  }

  /** Opens, records that many decisions, closes. */
  record(count: number, bounds: AuditBounds = auditBounds): void {
    using log = this.open({ bounds });
    for (let number = 1; number <= count; number++) {
      if (!log.decision(decisionNumber(number))) throw new Error(log.problem);
    }
  }

  /** Lines of the file in use, without their line feeds. */
  lines(): string[] {
    return readFileSync(this.current, "utf8").split("\n").slice(0, -1);
  }

  rewrite(change: (lines: string[]) => string[]): void {
    writeFileSync(
      this.current,
      change(this.lines())
        .map((line) => `${line}\n`)
        .join(""),
    );
  }

  /** Names of the record's files, oldest first, without the head. */
  files(): string[] {
    return readdirSync(this.stateDir)
      .filter((name) => name.endsWith(".ndjson"))
      .sort();
  }

  /** "file:line what" of each problem. */
  problems(): string[] {
    return verifyAudit(this.stateDir).problems.map(({ file, line, what }) => `${basename(file)}:${line} ${what}`);
  }

  notices(): string[] {
    return verifyAudit(this.stateDir).notices.map(({ file, line, what }) => `${basename(file)}:${line} ${what}`);
  }

  [Symbol.dispose](): void {
    for (const log of this.#logs) log[Symbol.dispose]();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Kills the writer as soon as it has printed that many lines; answers the last line it printed. */
export async function killedAfter(child: ChildProcess, lines: number): Promise<string | undefined> {
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    output += part;
    if (output.split("\n").length > lines) child.kill("SIGKILL");
  });
  await once(child, "close");
  return output.split("\n").slice(0, -1).at(-1);
}

export function startWriter(program: string, stateDir: string): ChildProcess {
  return spawn(process.execPath, [program, stateDir], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Runs a system program as root would; undefined when it is not allowed here. */
export function privileged(command: string, args: readonly string[]): boolean {
  return process.getuid?.() === 0 && spawnSync(command, args, { stdio: "ignore" }).status === 0;
}
