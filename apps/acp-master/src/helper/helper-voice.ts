// What Helpers write to the master's log: short lines, so many in so much time, the rest counted. It cuts; it does not
// judge what a Helper's author wants to read there.
import type { HelperLog } from "./helper-process.ts";

const maxTextBytes = 1024;
const maxLines = 100;
const windowMs = 10_000;
const levels = new Set(["debug", "info", "warn", "error"]);

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
    const level = typeof params["level"] === "string" && levels.has(params["level"]) ? params["level"] : "info";
    const message = typeof params["message"] === "string" ? params["message"].slice(0, maxTextBytes) : "";
    const fields = JSON.stringify(params["fields"] ?? {}).slice(0, maxTextBytes);
    this.#log("helper.log", { session, level, message, fields });
  }
}
