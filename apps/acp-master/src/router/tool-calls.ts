// What the master remembers of the tool calls of one turn: the last status of each, and the frames that wait while a
// permission for their tool call is open. Statuses and sizes only; it never looks inside a frame.

import { statusAfter } from "@acp-master/permission-core";

const MAX_HELD_FRAMES = 64;
const MAX_HELD_BYTES = 1024 * 1024;
const MAX_TRACKED = 4096;

/** What the status rules need of a frame. */
export interface StatusFrame {
  readonly sessionUpdate: "tool_call" | "tool_call_update";
  readonly status: string | undefined;
}

interface Guard {
  frames: Buffer[];
  bytes: number;
  /** The bound was reached: what was held has gone out, later frames pass. */
  overflowed: boolean;
}

export class ToolCalls {
  readonly #status = new Map<string, string>();
  readonly #guards = new Map<string, Guard>();
  overflows = 0;

  /** The status that must be shown instead of `incoming`, or undefined when it may stand. */
  correctedStatus(toolCallId: string, frame: StatusFrame): string | undefined {
    const incoming = frame.status;
    const step = statusAfter(this.#status.get(toolCallId), frame);
    if (step === undefined) return undefined;
    if (this.#status.size >= MAX_TRACKED && !this.#status.has(toolCallId)) {
      const oldest = this.#status.keys().next();
      if (!oldest.done) this.#status.delete(oldest.value);
    }
    this.#status.set(toolCallId, step);
    return incoming === undefined || step === incoming ? undefined : step;
  }

  /** Holds a frame of a guarded tool call. When the bound is reached, returns what goes out in its stead, in order. */
  hold(toolCallId: string, frame: Buffer): Buffer[] | "held" | "passes" {
    let guard = this.#guards.get(toolCallId);
    if (!guard) {
      guard = { frames: [], bytes: 0, overflowed: false };
      this.#guards.set(toolCallId, guard);
    }
    if (guard.overflowed) return "passes";
    guard.frames.push(frame);
    guard.bytes += frame.length;
    if (guard.frames.length <= MAX_HELD_FRAMES && guard.bytes <= MAX_HELD_BYTES) return "held";
    guard.overflowed = true;
    this.overflows++;
    const { frames } = guard;
    guard.frames = [];
    guard.bytes = 0;
    return frames;
  }

  /** What was held for this tool call, in order; it is not guarded any more. */
  release(toolCallId: string): Buffer[] {
    const guard = this.#guards.get(toolCallId);
    this.#guards.delete(toolCallId);
    return guard?.frames ?? [];
  }

  /** Statuses belong to a turn. */
  turnEnded(): void {
    this.#status.clear();
  }
}
