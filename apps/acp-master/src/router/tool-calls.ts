// What the master remembers of the tool calls of one turn: the last status of each, and the frames that wait while a
// permission for their tool call is open. Statuses and sizes only; it never looks inside a frame. Calls are named by keys,
// since a session and the sessions below it have ids of their own.

import { statusAfter } from "@acp-master/permission-core";

const MAX_HELD_FRAMES = 64;
const MAX_HELD_BYTES = 1024 * 1024;
const MAX_TRACKED = 4096;

/** Which tool call a frame is of. */
export interface ToolCallName {
  readonly toolCallId: string;
  /** The agent's id of the session below that has the call; undefined: the session itself. */
  readonly child: string | undefined;
  /** Both in one text. */
  readonly key: string;
}

export const toolCallName = (toolCallId: string, child: string | undefined): ToolCallName => ({
  toolCallId,
  child,
  key: child === undefined ? `:${toolCallId}` : `${child.length}:${child}${toolCallId}`,
});

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
  correctedStatus(call: string, frame: StatusFrame): string | undefined {
    const incoming = frame.status;
    const step = statusAfter(this.#status.get(call), frame);
    if (step === undefined) return undefined;
    if (this.#status.size >= MAX_TRACKED && !this.#status.has(call)) {
      const oldest = this.#status.keys().next();
      if (!oldest.done) this.#status.delete(oldest.value);
    }
    this.#status.set(call, step);
    return incoming === undefined || step === incoming ? undefined : step;
  }

  /** Holds a frame of a guarded tool call. When the bound is reached, returns what goes out in its stead, in order. */
  hold(call: string, frame: Buffer): Buffer[] | "held" | "passes" {
    let guard = this.#guards.get(call);
    if (!guard) {
      guard = { frames: [], bytes: 0, overflowed: false };
      this.#guards.set(call, guard);
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
  release(call: string): Buffer[] {
    const guard = this.#guards.get(call);
    this.#guards.delete(call);
    return guard?.frames ?? [];
  }

  /** Statuses belong to a turn. */
  turnEnded(): void {
    this.#status.clear();
  }
}
