// A state folder for one test, and frames to put in it. Removes it.

import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionFolder } from "../../src/journal/session-folder.ts";
import type { SessionRecord } from "../../src/journal/session-record.ts";

/** In memory where there is such a disk: what is tried here is the order of bytes, not a real disk's speed. */
const fastest = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export class StateFolder implements Disposable {
  readonly path: string;

  constructor(parent = fastest) {
    this.path = mkdtempSync(join(parent, "acpm-journal-"));
  }

  session(agentId = "s1", agent = "demo"): SessionFolder {
    return new SessionFolder(this.path, agent, agentId);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export function recordOf(agentId = "s1", agent = "demo"): SessionRecord {
  return {
    sessionId: agentId,
    agent,
    agentId,
    cwd: "/tmp",
    additionalDirectories: ["/var"],
    preset: "ask",
    createdAt: 1000,
    updatedAt: 2000,
    state: "open",
    hadTurn: true,
  };
}

/** One whole update frame of about `length` bytes that carries `mark`. */
export function frame(mark: number | string, length = 0): Buffer {
  const text = `${mark} `.padEnd(Math.max(0, length - 150), "x");
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  return Buffer.from(
    `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update } })}\n`,
  );
}

/** Until a batch to which nothing more is added is written. */
export async function batchWritten(): Promise<void> {
  for (let n = 0; n < 3; n++) await turnOfTheLoop();
}
