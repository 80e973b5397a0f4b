// What the Helper tests share: a folder, a log that is kept, and the master's side with short deadlines.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Helpers, type HelpersOptions } from "../../src/helper/helpers.ts";
import type { HelperSpec } from "../../src/helper/helper-spec.ts";
import type { DecisionEnd, SessionFacts } from "../../src/helper/session-helper.ts";

const rawHelper = fileURLToPath(new URL("./fixtures/raw-helper.mjs", import.meta.url));

export interface LogLine {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class HelperBench implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "acp-helper-"));
  readonly log: LogLine[] = [];
  readonly groups = new Set<number>();
  readonly reasks: string[] = [];
  readonly #listeners = new Set<() => void>();
  spec: HelperSpec;
  readonly helpers: Helpers;

  constructor(mode: string, options: Partial<HelpersOptions> & { terms?: Partial<HelperSpec> } = {}) {
    this.spec = this.raw(mode, options.terms);
    this.helpers = new Helpers({
      spec: () => this.spec,
      reaper: { add: (pgid) => void this.groups.add(pgid), remove: (pgid) => void this.groups.delete(pgid) },
      environment: { PATH: process.env["PATH"] ?? "" },
      socketDir: () => this.folder,
      version: "0.0.0",
      maxFrameBytes: 1024 * 1024,
      limit: 16,
      log: (event, fields) => {
        this.log.push({ event, fields });
        for (const listener of this.#listeners) listener();
      },
      onReask: (session) => void this.reasks.push(session),
      onPresets: () => {},
      ...options,
    });
  }

  raw(mode: string, terms: Partial<HelperSpec> = {}): HelperSpec {
    const argv = [process.execPath, rawHelper, mode, this.folder];
    return { kind: "command", argv, isolation: "session", decideSeconds: 10, idleSeconds: 60, ...terms };
  }

  decide(session: string, approvalId = "a-1", extra = ""): Promise<DecisionEnd> {
    return new Promise((resolve) => void this.helpers.decide(session, approvalId, permission(session, extra), resolve));
  }

  /** Resolves with the first log line of this event, past or to come. */
  logged(event: string, kind?: string): Promise<LogLine> {
    return new Promise((resolve) => {
      const look = () => {
        const line = this.log.find(
          (each) => each.event === event && (kind === undefined || each.fields["kind"] === kind),
        );
        if (line === undefined) return;
        this.#listeners.delete(look);
        resolve(line);
      };
      this.#listeners.add(look);
      look();
    });
  }

  get runs(): number {
    return readdirSync(this.folder).filter((name) => name.startsWith("run-")).length;
  }

  get received(): Buffer {
    const file = join(this.folder, "received");
    return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.helpers[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function facts(session = "s1"): SessionFacts {
  return {
    session,
    sessionId: `out-${session}`,
    agent: { name: "demo" },
    cwd: "/",
    roots: ["/"],
    preset: "ask",
    arming: "required",
  };
}

export function permission(session: string, extra = ""): Buffer {
  return Buffer.from(
    `{"sessionId":"out-${session}","toolCall":{"toolCallId":"t1","rawInput":{}}${extra},` +
      `"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}],"_meta":{"acp-master":{"approvalId":"a"}}}`,
  );
}
