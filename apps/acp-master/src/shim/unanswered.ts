// Remembers which of the editor's requests were handed on and have no answer yet. It keeps ids, nothing else, and not without bound.
import type { Span } from "@acp-master/wire";

/** An editor has a few; beyond this an answer that is lost is not made up for. */
const most = 10_000;
const longestId = 1024;

export class Unanswered {
  /** The ids' own bytes, one character each: 1 and "1" and 1.0 stay different. */
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  add(bytes: Buffer, id: Span): void {
    if (this.#ids.size < most && id.end - id.start <= longestId)
      this.#ids.add(bytes.toString("latin1", id.start, id.end));
  }

  answered(bytes: Buffer, id: Span): void {
    if (this.#ids.size > 0) this.#ids.delete(bytes.toString("latin1", id.start, id.end));
  }

  /** Takes all of them, as raw JSON values. */
  take(): Buffer[] {
    const ids = Array.from(this.#ids, (id) => Buffer.from(id, "latin1"));
    this.#ids.clear();
    return ids;
  }
}
