// Reads a file: through the client where it offers that (it may have unsaved text), else from the disk.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "./command.ts";

const shownCharacters = 8_000;

export const readCommand: Command = {
  name: "read",
  hint: "PATH",
  description: "Read a text file and show it",
  async run(turn, rest) {
    const path = resolve(turn.cwd, rest.trim());
    const toolCallId = turn.session.nextToolCallId();
    const rawInput = { path };
    const locations = [{ path }];
    await turn.announce({
      toolCallId,
      title: `Read ${path}`,
      kind: "read",
      status: "in_progress",
      rawInput,
      locations,
    });
    try {
      const text = turn.capabilities.fs?.readTextFile
        ? (await turn.client.request("fs/read_text_file", { sessionId: turn.sessionId, path })).content
        : await readFile(path, "utf8");
      const shown = text.slice(0, shownCharacters);
      const content = [{ type: "content" as const, content: { type: "text" as const, text: shown } }];
      await turn.progress({ toolCallId, status: "completed", content, rawOutput: { characters: text.length } });
      await turn.say(`${path} has ${text.length} characters:\n${shown}\n`);
    } catch (error) {
      await turn.progress({ toolCallId, status: "failed" });
      await turn.say(`I cannot read ${path}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  },
};
