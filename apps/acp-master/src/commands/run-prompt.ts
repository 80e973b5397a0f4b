// One prompt through the daemon, as an ordinary ACP client: session, preset, prompt, answers to what the agent asks. It decides no permission by itself but to refuse.
import { client as sdkClient, type ClientConnection, RequestError } from "@agentclientprotocol/sdk";
import { grants, refuse } from "@acp-master/permission-core";
import { connectAcp } from "../client/acp-connection.ts";
import { answeredError, ClientError } from "../client/client-error.ts";
import { type Ask, sessionRow } from "../client/session-rows.ts";
import { WorkspaceFileError, WorkspaceFiles } from "../client/workspace-files.ts";
import { realPathOf, resolvePlaces } from "../config/places.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { VERSION } from "../version.ts";
import { TerminalAsker, type TerminalAnswer } from "./ask-on-terminal.ts";
import { switchPreset } from "./preset.ts";
import { RunReport } from "./run-report.ts";
import { startedDaemon } from "./started-daemon.ts";

export interface PromptRun {
  readonly agent: string | undefined;
  readonly prompt: string;
  readonly cwd: string | undefined;
  readonly preset: string | undefined;
  readonly confirmPreset: boolean;
  readonly sessionId: string | undefined;
  readonly json: boolean;
}

export async function runPrompt(run: PromptRun): Promise<ExitCode> {
  const socketPath = await startedDaemon(resolvePlaces(process.env));
  const report = new RunReport(run.json);
  const interrupt = new Interrupt();
  const asker =
    process.stdin.isTTY && process.stderr.isTTY
      ? new TerminalAsker(process.stdin, process.stderr, () => interrupt.press())
      : undefined;
  const files: { current: WorkspaceFiles | undefined } = { current: undefined };
  let sessionId: string | undefined;
  let refusals = 0;

  const app = sdkClient({ name: "acp-master run" })
    .onRequest("session/request_permission", async ({ params, signal }) => {
      report.question(params);
      const answer = asker === undefined ? unasked(params.options) : await asker.ask({ params, signal });
      if (!signal.aborted && isRefusal(params.options, answer)) refusals++;
      report.answer(params, answer, asker === undefined);
      return { outcome: answer };
    })
    .onRequest("fs/read_text_file", async ({ params }) => ({
      content: await served(files.current, (workspace) => workspace.read(params.path, params)),
    }))
    .onRequest("fs/write_text_file", async ({ params }) => {
      await served(files.current, (workspace) => workspace.write(params.path, params.content));
      return {};
    });
  const connection = await connectAcp(socketPath, app, (id, json) => {
    if (id === sessionId) report.update(json);
  });
  const ask = asking(connection);
  try {
    await ask("initialize", introduction(run));
    const session = await openSession(ask, run);
    files.current = await WorkspaceFiles.open(session.cwd);
    sessionId = session.sessionId;
    report.session(session.sessionId);
    if (run.preset !== undefined) {
      await inPreset(ask, session.sessionId, run);
    }
    interrupt.arm(
      () => void connection.agent.notify("session/cancel", { sessionId: session.sessionId }).catch(() => {}),
    );
    const prompt = [{ type: "text", text: run.prompt }];
    const { stopReason } = await ask<{ stopReason: string }>("session/prompt", { sessionId, prompt });
    const exitCode = exitCodeOf(stopReason, refusals, interrupt.pressed);
    report.result({ sessionId, stopReason, refusals, exitCode });
    return exitCode;
  } finally {
    report.end();
    interrupt.disarm();
    connection.close();
  }
}

/** Errors come out as ClientErrors, whatever the SDK makes of them. */
function asking(connection: ClientConnection): Ask {
  return async <Result>(method: string, params: object) => {
    try {
      return await connection.agent.request<Result>(method, params);
    } catch (error) {
      if (!(error instanceof RequestError) || connection.signal.aborted) {
        throw new ClientError("connection_lost", "the connection to the daemon ended", { cause: error });
      }
      throw answeredError(error, VERSION);
    }
  };
}

function introduction(run: PromptRun): object {
  const agent = run.sessionId === undefined ? run.agent : null;
  return {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
    clientInfo: { name: "acp-master run", version: VERSION },
    _meta: { "acp-master": { version: VERSION, role: "controller", ...(agent === undefined ? {} : { agent }) } },
  };
}

async function openSession(ask: Ask, run: PromptRun): Promise<{ sessionId: string; cwd: string }> {
  if (run.sessionId === undefined) {
    const cwd = run.cwd ?? process.cwd();
    const { sessionId } = await ask<{ sessionId: string }>("session/new", { cwd, mcpServers: [] });
    return { sessionId, cwd };
  }
  const row = await sessionRow(ask, run.sessionId);
  if (run.agent !== undefined && run.agent !== row.agent) {
    throw new CommandError(exitCodes.usage, `session ${row.sessionId} belongs to ${row.agent}`, "Leave the agent out.");
  }
  if (run.cwd !== undefined && realPathOf(run.cwd) !== realPathOf(row.cwd)) {
    throw new CommandError(exitCodes.usage, `session ${row.sessionId} works in ${row.cwd}`, "Leave --cwd out.");
  }
  await ask("session/resume", { sessionId: row.sessionId, cwd: row.cwd, mcpServers: [] });
  return { sessionId: row.sessionId, cwd: row.cwd };
}

/** A session that was only made for this run does not stay when its preset cannot be had. */
async function inPreset(ask: Ask, sessionId: string, run: PromptRun): Promise<void> {
  try {
    await switchPreset(ask, { sessionId, preset: run.preset ?? "", confirm: run.confirmPreset });
  } catch (error) {
    if (run.sessionId === undefined) await ask("_acp-master/session/close", { sessionId }).catch(() => {}); // the refusal is what is told
    throw error;
  }
}

function isRefusal(options: readonly { optionId: string; kind: string }[], answer: TerminalAnswer): boolean {
  return answer.outcome === "cancelled" || !grants(options, answer.optionId);
}

function unasked(options: readonly { optionId: string; kind: string }[]): TerminalAnswer {
  return refuse(options);
}

async function served<Result>(
  workspace: WorkspaceFiles | undefined,
  serve: (workspace: WorkspaceFiles) => Promise<Result>,
): Promise<Result> {
  try {
    if (workspace === undefined) throw new WorkspaceFileError("failed", "the session is not open yet");
    return await serve(workspace);
  } catch (error) {
    if (!(error instanceof WorkspaceFileError)) throw error;
    throw new RequestError(error.problem === "not_found" ? -32002 : -32602, error.message, { problem: error.problem });
  }
}

function exitCodeOf(stopReason: string, refusals: number, interrupted: boolean): ExitCode {
  if (interrupted) return exitCodes.interrupted;
  if (refusals > 0) return exitCodes.refused;
  return stopReason === "end_turn" ? exitCodes.done : exitCodes.failed;
}

/** Ctrl-C: the first cancels the turn, the second ends this program. Before there is a turn the first one ends it. */
class Interrupt {
  pressed = false;
  #cancel: (() => void) | undefined;
  readonly #onSignal = () => this.press();

  constructor() {
    process.on("SIGINT", this.#onSignal);
  }

  arm(cancel: () => void): void {
    this.#cancel = cancel;
  }

  disarm(): void {
    process.off("SIGINT", this.#onSignal);
  }

  press(): void {
    if (this.pressed || this.#cancel === undefined) process.exit(exitCodes.interrupted);
    this.pressed = true;
    this.#cancel();
  }
}
