// What Helpers write to the master's log: what happened, in words that stand in a program, and numbers. Free text could
// quote a conversation, so it is left out. So many lines in so much time, the rest counted.
import type { HelperLog, HelperLogLevel } from "./helper-process.ts";

/** Names as programs give them to events and reasons. */
const word = /^[a-z][a-z_]{0,63}$/;
const maxLines = 100;
const windowMs = 10_000;
const levels: readonly HelperLogLevel[] = ["debug", "info", "warn", "error"];

export class HelperVoice {
  readonly #log: HelperLog;
  #windowStart = 0;
  #lines = 0;
  #left = 0;

  constructor(log: HelperLog) {
    this.#log = log;
  }

  log(session: string | undefined, params: Readonly<Record<string, unknown>>): void {
    const now = Date.now();
    if (now - this.#windowStart >= windowMs) {
      if (this.#left > 0) this.#log("helper.log_left_out", { lines: this.#left });
      this.#windowStart = now;
      this.#lines = 0;
      this.#left = 0;
    }
    if (++this.#lines > maxLines) {
      this.#left++;
      return;
    }
    const { level, message, fields } = params;
    const what = typeof message === "string" && word.test(message) ? message : undefined;
    this.#log("helper.log", { ...plain(fields), session, what }, levels.find((each) => each === level) ?? "info");
  }
}

function plain(fields: unknown): Record<string, string | number> {
  const entries = typeof fields === "object" && fields !== null ? Object.entries(fields) : [];
  return Object.fromEntries(
    entries.filter(
      ([key, value]) =>
        key !== "event" && (typeof value === "number" || (typeof value === "string" && word.test(value))),
    ),
  );
}
