// `acp-master tail SESSION`: replays a session and follows it as text. It only watches: it answers, prompts and restores nothing.
import type { Command } from "commander";
import { openMaster } from "../client/open-master.ts";
import { sessionRow } from "../client/session-rows.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { asRecord, asText, type JsonRecord } from "../protocol/json-value.ts";
import { Transcript } from "../display/transcript.ts";
import { examples, finish } from "./finish.ts";

interface TailOptions {
  readonly follow: boolean;
}

export function registerTail(program: Command): void {
  program
    .command("tail <session>")
    .description("show a session as text: its history, then what happens, until it is closed")
    .option("--no-follow", "end after the history")
    .addHelpText("after", examples("acp-master tail 3f0c", "acp-master tail 3f0c --no-follow > transcript.txt"))
    .action(finish(tail));
}

const print = (text: string) => process.stdout.write(text);

async function tail(given: string, options: TailOptions): Promise<ExitCode> {
  const transcript = new Transcript({
    text: print,
    notes: print,
    exact: false,
    prompts: true,
    surface: process.stdout,
  });
  let sessionId = given;
  let finishTail: ((exitCode: ExitCode) => void) | undefined;
  const ended = new Promise<ExitCode>((resolve) => (finishTail = resolve));

  const onEvent = (event: JsonRecord) => {
    const session = asRecord(event.session);
    if ((event.sessionId ?? session.sessionId) !== sessionId) return;
    if (event.type === "approval_requested") {
      transcript.note(`? waits for an answer: acp-master approve ${asText(event.approvalId)}`);
    } else if (event.type === "approval_resolved") {
      const by = asRecord(event.by);
      transcript.note(`  ${asText(asRecord(event.outcome).result)}, by ${asText(by.name) || asText(by.kind)}`);
    } else if (event.type === "session_removed" || session.state === "closed") {
      transcript.note("The session is closed.");
      finishTail?.(exitCodes.done);
    }
  };

  await using master = await openMaster({
    name: "acp-master tail",
    role: "observer",
    events: true,
    clientCapabilities: { session: { notices: {}, compaction: {} } },
    onNotification: (method, params) => {
      const fields = asRecord(params);
      if (method === "_acp-master/closing") {
        transcript.note(`The daemon ends (${asText(fields.reason)}).`);
        finishTail?.(exitCodes.done);
      } else if (method === "_acp-master/event") onEvent(fields);
      else if (method === "session/update" && fields.sessionId === sessionId) transcript.update(fields.update);
    },
  });
  const interrupt = () => finishTail?.(exitCodes.interrupted);
  // From the first line on: an interrupt during the history is one too.
  process.once("SIGINT", interrupt);
  const lost = master.closed.then((): never => {
    throw new CommandError(
      exitCodes.failed,
      "the connection to the daemon ended while the session was followed",
      "Run the same command again to go on.",
    );
  });
  const follow = async (): Promise<ExitCode> => {
    const row = await sessionRow((method, params) => master.request(method, params), given);
    ({ sessionId } = row);
    await master.request("session/load", { sessionId, cwd: row.cwd, mcpServers: [] }, { timeoutMs: 0 });
    return options.follow && row.state !== "closed" ? await ended : exitCodes.done;
  };
  try {
    return await Promise.race([follow(), ended, lost]);
  } finally {
    process.off("SIGINT", interrupt);
    transcript.end();
  }
}
