// The terminal while cards are in it: keys one by one, a screen of its own, and all of it given back at the end.
import type { ReadStream, WriteStream } from "node:tty";
import { type Key, readKey } from "../card/keys.ts";
import type { Size } from "../card/card-view.ts";

export interface ScreenEvents {
  /** `undefined`: something that is no key. */
  readonly onKey: (key: Key | undefined) => void;
  readonly onResize: () => void;
  /** The terminal is gone. */
  readonly onEnd: () => void;
}

// The other screen, no cursor, no wrapping at the right edge; and back.
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const leave = "\u001b[?7h\u001b[?25h\u001b[?1049l";

export class TerminalScreen implements Disposable {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #events: ScreenEvents;
  readonly #onData = (chunk: string) => this.#events.onKey(readKey(chunk));
  #isOpen = true;

  constructor(input: ReadStream, output: WriteStream, events: ScreenEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
    input.setRawMode(true);
    input.setEncoding("utf8");
    input.on("data", this.#onData).once("end", events.onEnd).once("error", events.onEnd);
    output.on("resize", events.onResize).once("error", events.onEnd);
    output.write(enter);
  }

  get size(): Size {
    return { columns: this.#output.columns, rows: this.#output.rows };
  }

  /** Each line in its row. A row is emptied first: after a line that fills it, that would take its last character. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const rows = Array.from(
      { length: this.size.rows },
      (_, index) => `\u001b[${index + 1};1H\u001b[K${lines[index] ?? ""}`,
    );
    this.#output.write(rows.join(""));
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { onEnd, onResize } = this.#events;
    this.#input.off("data", this.#onData).off("end", onEnd);
    this.#input.setRawMode(false);
    this.#input.pause();
    this.#input.unref();
    this.#output.off("resize", onResize);
    this.#output.write(leave);
  }
}
