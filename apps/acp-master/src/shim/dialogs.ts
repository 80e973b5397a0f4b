// The daemon's questions to the editor: which are open, and which have lost the daemon that asked. Their answers decide nothing.
import type { Span } from "@acp-master/wire";
import { idOf, mostIds } from "./request-id.ts";

export class Dialogs {
  readonly #open = new Set<string>();
  readonly #cancelled = new Set<string>();

  /** Beyond the bound a question is not taken back; the next daemon drops the answer, whose id is not one of its own. */
  asked(bytes: Buffer, id: Span): void {
    const key = idOf(bytes, id);
    if (key !== undefined && this.#open.size < mostIds) this.#open.add(key);
  }

  /** Whether anybody waits for this answer. */
  answered(bytes: Buffer, id: Span): boolean {
    const key = idOf(bytes, id);
    if (key === undefined) return true;
    this.#open.delete(key);
    return !this.#cancelled.delete(key);
  }

  /** Whether the editor may still answer one that was taken back. */
  get awaitsCancelled(): boolean {
    return this.#cancelled.size > 0;
  }

  /** Takes back all that are open: the notifications that say so to the editor. */
  cancel(): Buffer[] {
    const frames: Buffer[] = [];
    for (const id of this.#open) {
      if (this.#cancelled.size < mostIds) this.#cancelled.add(id);
      const raw = Buffer.from(id, "latin1");
      frames.push(Buffer.concat([cancelHead, raw, Buffer.from("}}\n")]));
    }
    this.#open.clear();
    return frames;
  }
}

const cancelHead = Buffer.from('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":');
