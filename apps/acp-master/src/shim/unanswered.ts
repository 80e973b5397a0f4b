// Remembers which of the editor's requests were handed on and have no answer yet, and what their answers will mean. Not without bound.
import type { Span } from "@acp-master/wire";
import { idOf, mostIds } from "./request-id.ts";
import type { Intent } from "./intent.ts";

export class Unanswered {
  readonly #requests = new Map<string, Intent | undefined>();

  /** An editor has a few; beyond the bound an answer that is lost is not made up for. */
  add(bytes: Buffer, id: Span, intent: Intent | undefined): void {
    const key = idOf(bytes, id);
    if (key !== undefined && this.#requests.size < mostIds) this.#requests.set(key, intent);
  }

  answered(bytes: Buffer, id: Span): Intent | undefined {
    if (this.#requests.size === 0) return undefined;
    const key = idOf(bytes, id);
    if (key === undefined) return undefined;
    const intent = this.#requests.get(key);
    this.#requests.delete(key);
    return intent;
  }

  /** Takes all of them, with their ids as raw JSON values. */
  take(): { readonly id: Buffer; readonly intent: Intent | undefined }[] {
    const requests = Array.from(this.#requests, ([id, intent]) => ({ id: Buffer.from(id, "latin1"), intent }));
    this.#requests.clear();
    return requests;
  }
}
