// Writes a file after asking, with the change shown as a diff. In mode "bold" it does not ask.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Turn } from "../turn.ts";
import type { Command } from "./command.ts";

async function before(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return null; // a new file
  }
}

async function write(turn: Turn, path: string, content: string): Promise<void> {
  if (turn.capabilities.fs?.writeTextFile) {
    await turn.client.request("fs/write_text_file", { sessionId: turn.sessionId, path, content });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

export const writeCommand: Command = {
  name: "write",
  hint: "PATH TEXT",
  description: "Write TEXT to a file, after asking",
  async run(turn, rest) {
    const [, name = "", text = ""] = /^\s*(\S+)\s?([\s\S]*)$/.exec(rest) ?? [];
    if (name === "") return turn.say("Say where to write: /write PATH TEXT\n");
    const path = resolve(turn.cwd, name);
    const call = turn.describe({
      toolsName: "local_fs",
      toolName: "write_file",
      args: { path, content: text },
      diffOld: (await before(path)) ?? "",
      diffNew: text,
    });
    const { toolCallId } = call;
    await turn.announce(call);
    const answer = turn.session.stored.modeId === "bold" ? { allowed: true as const } : await turn.mayI(call);
    if (!answer.allowed) {
      await turn.progress({ toolCallId, status: "failed" });
      return turn.say(`I did not write ${path}: ${answer.why}.\n`);
    }
    await turn.progress({ toolCallId, status: "in_progress" });
    try {
      await write(turn, path, text);
      await turn.progress({ toolCallId, status: "completed" });
      return await turn.say(`I wrote ${Buffer.byteLength(text)} bytes to ${path}.\n`);
    } catch (error) {
      await turn.progress({ toolCallId, status: "failed" });
      return turn.say(`I cannot write ${path}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  },
};
