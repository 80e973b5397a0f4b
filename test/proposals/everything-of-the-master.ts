// Where a word that must not come into the master could be: its memory, its files, its answers.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Master } from "../harness/master.ts";

/** The environment of a daemon whose memory is looked at; the folder must be there. */
export const dumpsMemory = (folder: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${new URL("memory-dump.mjs", import.meta.url).href}`,
  MEMORY_DUMP: folder,
});

/** Asks the daemon everything that can be asked, by command and by client, until it is told to stop. */
export function poll(master: Master): AsyncDisposable & { readonly answers: string[] } {
  const answers: string[] = [];
  const over = new AbortController();
  const run = async (): Promise<void> => {
    const client = await master.client();
    await client.initialize({ agent: null, events: true });
    while (!over.signal.aborted) {
      answers.push((await master.cli(["approvals", "--json"])).stdout);
      for (const method of ["status", "sessions", "approvals", "agents"]) {
        answers.push(JSON.stringify(await client.call(`_acp-master/${method}`, {})));
      }
    }
    answers.push((await master.cli(["status", "--json"])).stdout, (await master.cli(["doctor", "--json"])).stdout);
    for (const { text } of client.lines.all) answers.push(text);
  };
  const done = run();
  return {
    answers,
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await done;
    },
  };
}

export async function nowhereInMemory(master: Master, memory: string, words: readonly string[]): Promise<void> {
  process.kill(master.pid, "SIGUSR2");
  await eventually(() => readdirSync(memory).includes("done"), "the memory is written", 60_000);
  const [heap, views] = [readFileSync(join(memory, "heap")), readFileSync(join(memory, "views"))];
  // The session's folder is in both: so would the words be.
  expect([heap.includes(master.work), heap.length > 1_000_000, views.length > 0]).toEqual([true, true, true]);
  for (const word of words) {
    expect(heap.includes(word), `${word} in a string`).toBe(false);
    expect(near(views, word), `${word} in a buffer`).toBe("");
  }
  for (const name of readdirSync(memory)) rmSync(join(memory, name));
}

/** Where a word stands: the head of the array and the bytes around it. */
function near(bytes: Buffer, word: string): string {
  const at = bytes.indexOf(word);
  if (at < 0) return "";
  const head = bytes.lastIndexOf("\n# ", at);
  return `${bytes.toString("latin1", head, head + 100)} … ${bytes.toString("latin1", at - 100, at + 50)}`;
}

/** The files below a folder that hold the word; what lies below `except` is not looked at. */
export function filesWith(word: string, folder: string, except?: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (path === except) return [];
    if (entry.isDirectory()) return filesWith(word, path, except);
    return entry.isFile() && statSync(path).size > 0 && readFileSync(path).includes(word) ? [path] : [];
  });
}
