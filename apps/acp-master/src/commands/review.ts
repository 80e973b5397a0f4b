// `acp-master review`: the cards of direct proposals in this terminal. The terminal Helper's own program shows and decides
// them; this one only tells it where the Helpers of the sessions are.
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import type { MasterClient } from "../client/master-client.ts";
import { openMaster } from "../client/open-master.ts";
import { sessionRows } from "../client/session-rows.ts";
import { CommandError, exitCodes } from "../display/errors.ts";
import { asRecord } from "../protocol/json-value.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

export function registerReview(program: Command): void {
  program
    .command("review")
    .description("show what agents propose for your terminal, and decide it with a key")
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
Needs \`"helper": { "use": "terminal" }\`. Without a terminal, or with --json, it lists what waits and decides nothing.
${examples("acp-master review", "acp-master review --json")}`,
    )
    .action(finish(review));
}

async function review({ json }: JsonOption): Promise<number> {
  let feed: Feed | undefined;
  await using master = await openMaster({
    name: "acp-master review",
    role: "observer",
    events: true,
    onNotification: (method, params) => {
      const { type } = asRecord(params);
      if (method === "_acp-master/event" && (type === "session_changed" || type === "session_removed")) feed?.changed();
    },
  });
  const { endpoints, ended } = startReview(json === true);
  feed = new Feed(master, endpoints);
  feed.changed();
  const exitCode = await Promise.race([ended, master.closed]);
  if (exitCode !== undefined) return exitCode;
  endpoints.end(); // it gives the terminal back before it ends
  await ended;
  throw new CommandError(
    exitCodes.failed,
    "the connection to the daemon ended",
    "Run the same command again to go on.",
  );
}

interface Review {
  readonly endpoints: Writable;
  readonly ended: Promise<number>;
}

function startReview(json: boolean): Review {
  const path = fileURLToPath(new URL("helper-terminal.js", import.meta.url));
  const args = [path, "review", ...(json ? ["--json"] : [])];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["inherit", "inherit", "inherit", "pipe"] });
  const endpoints = child.stdio[3];
  if (!isWritable(endpoints)) throw new TypeError("The program that reviews has no pipe.");
  endpoints.on("error", () => {}); // it has ended, and `ended` says so
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(exitCodes.failed));
    child.once("exit", (code) => resolve(code ?? exitCodes.failed));
  });
  return { endpoints, ended };
}

function isWritable(stream: unknown): stream is Writable {
  return typeof stream === "object" && stream !== null && "write" in stream;
}

/** Says where the Helpers of all sessions are, whenever that changes. */
class Feed {
  readonly #master: MasterClient;
  readonly #endpoints: Writable;
  #said: string | undefined;
  #isAsking = false;
  #isStale = false;

  constructor(master: MasterClient, endpoints: Writable) {
    this.#master = master;
    this.#endpoints = endpoints;
  }

  changed(): void {
    this.#isStale = true;
    if (this.#isAsking) return;
    // A question that fails has lost the daemon: nothing more will be said.
    void this.#ask().catch(() => this.#endpoints.end());
  }

  /** Changes while the rows are asked for are asked about once more. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        const rows = await sessionRows((method, params) => this.#master.request(method, params));
        this.#say(JSON.stringify([...new Set(rows.flatMap((row) => row.review ?? []))]));
      }
    } finally {
      this.#isAsking = false;
    }
  }

  #say(line: string): void {
    if (line === this.#said) return;
    this.#said = line;
    this.#endpoints.write(`${line}\n`);
  }
}
