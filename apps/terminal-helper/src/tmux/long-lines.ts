// Whether a terminal takes a long line whole. One that collects lines itself, as below `cat` or a running command, drops
// what goes beyond its buffer without a word; one whose program reads key by key, as a shell does at its prompt, does not.
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** The smallest such buffer that is in use has 1024 bytes. */
const safeLineBytes = 1000;
const pauseMs = 50;

export function hasLongLine(input: string): boolean {
  return input.split("\n").some((line) => Buffer.byteLength(line) > safeLineBytes);
}

/** Waits for a shell that has just been started, for as long as the signal lets it. */
export async function takesLongLines(tty: string, patienceMs: number, signal: AbortSignal): Promise<boolean> {
  for (let waited = 0; ; waited += pauseMs) {
    if (await readsKeyByKey(tty, signal)) return true;
    if (waited >= patienceMs || signal.aborted) return false;
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

async function readsKeyByKey(tty: string, signal: AbortSignal): Promise<boolean> {
  try {
    await using terminal = await open(tty, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    const stty = spawn("stty", ["-a"], { stdio: [terminal.fd, "pipe", "ignore"], signal });
    stty.on("error", () => {}); // there is no such program, or the signal ended it: nothing was said
    const said = stty.stdout === null ? "" : await text(stty.stdout);
    return /(?:^|\s)-icanon(?:\s|;|$)/.test(said);
  } catch {
    return false; // the terminal is gone
  }
}
