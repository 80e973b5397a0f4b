// Where a long string ends: the compiled code of ../wasm looks at copies of its pieces, 64 bytes at a time. What was copied is
// wiped before a call returns, so that no content stays.
import { STRING_END_CODE } from "./string-end-code.ts";

/** What the code's memory holds at once. */
const MOST_BYTES = 64 * 1024;
/** Twice as much with every piece: of a string that ends soon little is copied in vain. */
const FIRST_BYTES = 1024;
/** It looks at whole blocks only. */
export const BLOCK_BYTES = 64;

interface Code {
  stringEnd(length: number): number;
  readonly sawHighBytes: { readonly value: number };
  readonly sawEscape: { readonly value: number };
  readonly memory: { readonly buffer: ArrayBuffer };
}

/** What is used of it here; TypeScript's own description comes with a browser's. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Code };
};

export class LongString {
  /** Some string had an escape since this was last set to false. */
  sawEscape = false;
  /** Some string held a byte above ASCII since this was last set to false, or was followed by one. */
  sawHighBytes = false;
  readonly memory: Uint8Array;
  readonly #code: Code;

  private constructor(code: Code) {
    this.#code = code;
    this.memory = new Uint8Array(code.memory.buffer);
  }

  /** Undefined where the engine or the processor has no vector instructions, or no room for another memory. */
  static load(): LongString | undefined {
    try {
      const module = new WebAssembly.Module(Buffer.from(STRING_END_CODE, "base64"));
      return new LongString(new WebAssembly.Instance(module).exports);
    } catch {
      return undefined;
    }
  }

  /**
   * From a place inside the string, not within an escape, to behind its closing quote; -1: it is no JSON string; else -2 - p,
   * where all before p is well, p is not within an escape, and less than a block is left before `end`.
   */
  end(bytes: Buffer, from: number, end: number): number {
    const code = this.#code;
    let at = from;
    let copied = 0;
    let result = -1;
    for (let most = FIRST_BYTES; end - at >= BLOCK_BYTES; most = Math.min(most * 2, MOST_BYTES)) {
      const length = Math.min(end - at, most);
      bytes.copy(this.memory, 0, at, at + length);
      copied = Math.max(copied, length);
      result = code.stringEnd(length);
      if (code.sawEscape.value !== 0) this.sawEscape = true;
      if (code.sawHighBytes.value !== 0) this.sawHighBytes = true;
      if (result >= -1) break;
      at += -2 - result;
    }
    this.memory.fill(0, 0, copied);
    if (result >= 0) return at + result;
    return result === -1 ? -1 : -2 - at;
  }
}
