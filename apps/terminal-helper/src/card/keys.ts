// What a person pressed, from what the terminal sent.

export type Key =
  "up" | "down" | "page_up" | "page_down" | "enter" | "escape" | "interrupt" | { readonly letter: string };

const sequences: Readonly<Record<string, Key>> = {
  "\u001b[A": "up",
  "\u001bOA": "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  "\u001b[5~": "page_up",
  "\u001b[6~": "page_down",
  " ": "page_down",
  "\r": "enter",
  "\n": "enter",
  "\u001b": "escape",
  "\u0003": "interrupt",
};

/** One chunk of input. More than one key at once is typing ahead or a paste, and no key at all. */
export function readKey(chunk: string): Key | undefined {
  const named = sequences[chunk];
  if (named !== undefined) return named;
  return /^[!-~]$/.test(chunk) ? { letter: chunk } : undefined;
}
