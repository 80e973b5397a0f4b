// What a session's Helper said of its tool calls, and which of them clients have seen. Calls are named by keys (tool-calls.ts).

const MAX_CALLS = 1024;

export class JudgedCalls {
  readonly #verdicts = new Map<string, "pass" | "hide">();
  readonly #shown = new Set<string>();

  /** What was said for all frames of the call. */
  verdict(call: string): "pass" | "hide" | undefined {
    return this.#verdicts.get(call);
  }

  remember(call: string, verdict: "pass" | "hide"): void {
    if (this.#verdicts.size >= MAX_CALLS) {
      const oldest = this.#verdicts.keys().next();
      if (!oldest.done) this.#verdicts.delete(oldest.value);
    }
    this.#verdicts.set(call, verdict);
  }

  /** At least one frame of it went out. */
  wasShown(call: string): boolean {
    return this.#shown.has(call);
  }

  shown(call: string): void {
    if (this.#shown.size >= MAX_CALLS) this.#shown.clear();
    this.#shown.add(call);
  }

  /** The call is over: another may use its id. */
  forget(call: string): void {
    this.#verdicts.delete(call);
    this.#shown.delete(call);
  }

  clear(): void {
    this.#verdicts.clear();
    this.#shown.clear();
  }
}
