// Puts a permission to the person at the terminal: one key chooses. It answers nothing by itself and takes no key that was typed before the question.
import type { ReadStream, WriteStream } from "node:tty";
import { optionKeys, permissionText } from "../display/permission-text.ts";

export type TerminalAnswer =
  { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

export interface Question {
  readonly params: { readonly options: readonly { readonly optionId: string }[] };
  /** Aborts when somebody else answered, or the turn was cancelled. */
  readonly signal: AbortSignal;
}

/** Keys in the first moments belong to whatever was being typed. */
const inertMs = 500;
const escapeKey = "\u001B";
const interruptKey = "\u0003";

export class TerminalAsker {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #onInterrupt: () => void;
  #last: Promise<unknown> = Promise.resolve();

  /** `onInterrupt`: Ctrl-C was pressed while a question was open (a raw terminal sends no signal). */
  constructor(input: ReadStream, output: WriteStream, onInterrupt: () => void) {
    this.#input = input;
    this.#output = output;
    this.#onInterrupt = onInterrupt;
  }

  /** One question at a time, in the order of asking. */
  ask(question: Question): Promise<TerminalAnswer> {
    const answer = this.#last.then(() => this.#put(question));
    this.#last = answer;
    return answer;
  }

  #put({ params, signal }: Question): Promise<TerminalAnswer> {
    if (signal.aborted) return Promise.resolve({ outcome: "cancelled" });
    const { options } = params;
    this.#output.write(`\nThe agent asks:\n${permissionText(params, this.#output)}  Esc  refuse\n`);
    const askedAt = performance.now();
    return new Promise((resolve) => {
      const settle = (answer: TerminalAnswer, note: string) => {
        this.#input.off("data", pressed);
        signal.removeEventListener("abort", withdrawn);
        this.#input.setRawMode(false);
        this.#input.pause();
        this.#output.write(`${note}\n`);
        resolve(answer);
      };
      const withdrawn = () => settle({ outcome: "cancelled" }, "  (no longer asked)");
      const pressed = (chunk: Buffer) => {
        const key = chunk.toString("latin1");
        if (key === interruptKey) return this.#onInterrupt();
        if (performance.now() - askedAt < inertMs) return;
        if (key === escapeKey) return settle({ outcome: "cancelled" }, "  refused");
        const at = key.length === 1 ? optionKeys.indexOf(key) : -1;
        const option = at === -1 ? undefined : options[at];
        if (option !== undefined) settle({ outcome: "selected", optionId: option.optionId }, `  ${key}`);
      };
      this.#input.setRawMode(true);
      this.#input.on("data", pressed);
      this.#input.resume();
      signal.addEventListener("abort", withdrawn);
    });
  }
}
