// One prompt, from its text to its stop reason: finds the command, runs it, and tells a cancel from a failure.
import {
  RequestError,
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { commandFor } from "./commands/index.ts";
import type { Session } from "./session.ts";
import { Turn } from "./turn.ts";

export interface PromptRun {
  readonly session: Session;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Aborts when the client cancels the request itself. */
  readonly signal: AbortSignal;
  readonly prompt: readonly ContentBlock[];
}

const textOf = (prompt: readonly ContentBlock[]): string =>
  prompt.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join(" ");

export async function runPrompt(run: PromptRun): Promise<StopReason> {
  const { session } = run;
  if (session.turn !== undefined) {
    throw new RequestError(-32600, "A turn is already running in this session. Wait for its end, or cancel it.");
  }
  const controller = new AbortController();
  session.turn = controller;
  const signal = AbortSignal.any([controller.signal, run.signal]);
  try {
    for (const content of run.prompt) session.remember({ sessionUpdate: "user_message_chunk", content });
    const turn = new Turn(session, run.client, run.capabilities, signal);
    const text = textOf(run.prompt);
    await nameSession(turn, text);
    const { command, rest } = commandFor(text);
    await command.run(turn, rest);
    return signal.aborted ? "cancelled" : "end_turn";
  } catch (error) {
    if (signal.aborted) return "cancelled";
    throw error;
  } finally {
    session.turn = undefined;
  }
}

/** The first prompt is the title. */
async function nameSession(turn: Turn, text: string): Promise<void> {
  const { stored } = turn.session;
  if (stored.title !== undefined) return;
  stored.title = text.slice(0, 60);
  const update = { sessionUpdate: "session_info_update" as const, title: stored.title, updatedAt: stored.updatedAt };
  await turn.client.notify("session/update", { sessionId: turn.sessionId, update });
}
