// A session with an open turn, seen from both ends: the clients that may decide and the agent process that asks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/events.ts";
import type { Line, Loose, Message } from "../harness/lines.ts";
import type { Home } from "../harness/home.ts";
import type { Master } from "../harness/master.ts";
import type { InitializeOptions, RawClient } from "../harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent, type ScriptedAgentOptions } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

export const PERMISSION = "session/request_permission";
export const EVENT = "_acp-master/event";

export const yesNo = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

export const CANCELLED = { outcome: { outcome: "cancelled" } };
export const selected = (optionId: string): Loose => ({ outcome: { outcome: "selected", optionId } });

let agents = 0;
/** Which process made which session. */
const madeBy = new Map<string, ScriptedProcess>();

/** An agent whose prompts the test answers and whose session ids are unlike any other's. */
export function askingAgent(options: ScriptedAgentOptions = {}): ScriptedAgent {
  const own = ++agents;
  let sessions = 0;
  return fakeAgent({
    ...options,
    auto: {
      "session/prompt": false,
      "session/new": (_params: Loose, process: ScriptedProcess) => {
        const sessionId = `a${own}-s${++sessions}`;
        madeBy.set(sessionId, process);
        return { sessionId, ...options.session };
      },
      ...options.auto,
    },
  });
}

export interface Turn {
  readonly done: Promise<Message>;
  /** The prompt as the agent got it. */
  readonly prompt: Line;
}

/** One session of one agent. */
export class Conversation {
  readonly master: Master;
  readonly client: RawClient;
  readonly sessionId: string;
  readonly process: ScriptedProcess;
  turn!: Turn;

  constructor(place: { master: Master; client: RawClient; sessionId: string; process: ScriptedProcess }) {
    this.master = place.master;
    this.client = place.client;
    this.sessionId = place.sessionId;
    this.process = place.process;
  }

  async startTurn(client = this.client): Promise<Turn> {
    const done = client.prompt(this.sessionId, "go on", 30_000);
    const prompt = await this.process.received(
      ({ method, params }) => method === "session/prompt" && params.sessionId === this.sessionId,
    );
    this.turn = { done, prompt };
    return this.turn;
  }

  async endTurn(stopReason = "end_turn"): Promise<Message> {
    await this.process.answer(this.turn.prompt, { stopReason });
    return this.turn.done;
  }

  /** The agent asks; gives the promise of the whole response. */
  ask(toolCallId: string, more: { toolCall?: object; options?: Loose; id?: string | number; meta?: object } = {}) {
    const toolCall = { toolCallId, title: "Run it", kind: "execute", rawInput: { command: "true" }, ...more.toolCall };
    const params = {
      sessionId: this.sessionId,
      toolCall,
      options: more.options ?? yesNo,
      ...(more.meta === undefined ? {} : { _meta: more.meta }),
    };
    return this.process.request(PERMISSION, params, more.id, 30_000);
  }

  /** Another controller of this session. */
  async join(options: InitializeOptions = {}): Promise<RawClient> {
    const client = await this.master.client();
    await client.initialize({ agent: null, events: true, ...options });
    await client.call("session/load", { sessionId: this.sessionId, cwd: this.master.work, mcpServers: [] });
    return client;
  }

  /** Resolves when everything that the agent wrote before has reached the master and what followed has left. */
  async settle(): Promise<void> {
    const text = `mark ${Math.random()}`;
    const seen = this.client.waitFor(
      ({ method, params }) => method === "session/update" && params.update.content?.text === text,
    );
    await this.process.say(this.sessionId, text);
    await seen;
  }

  /** The agent's answers so far, by the id of its request. */
  answersTo(id: string | number): Message[] {
    return this.process.lines.all
      .map((line) => line.message)
      .filter((message) => message.id === id && message.method === undefined);
  }
}

/** A client with a session of this agent in which a turn runs. */
export async function converse(
  master: Master,
  options: InitializeOptions & { agent: string; session?: object; turn?: boolean },
): Promise<Conversation> {
  const { session, turn = true, ...initialize } = options;
  const client = await master.client();
  await client.initialize({ events: true, ...initialize });
  const { sessionId } = await client.newSession(session);
  const process = madeBy.get(sessionId);
  if (process === undefined) throw new Error(`no asking agent made the session ${sessionId}`);
  const conversation = new Conversation({ master, client, sessionId, process });
  if (turn) await conversation.startTurn();
  return conversation;
}

export interface Offer {
  readonly line: Line;
  readonly id: string;
  readonly approvalId: string;
  readonly askedAt: string;
  readonly params: Loose;
}

/** The next question that this client gets (about this tool call). */
export async function nextOffer(client: RawClient, toolCallId?: string): Promise<Offer> {
  const line = await client.next(
    ({ method, params }) =>
      method === PERMISSION && (toolCallId === undefined || params.toolCall.toolCallId === toolCallId),
  );
  const { id, params } = line.message;
  return { line, id: String(id), params, ...params._meta["acp-master"] };
}

export const answerOffer = (client: RawClient, offer: { readonly id: string }, result: Loose): Promise<void> =>
  client.send({ jsonrpc: "2.0", id: offer.id, result });

/** The event that tells how this approval ended. */
export async function resolvedEvent(client: RawClient, approvalId: string): Promise<Loose> {
  const line = await client.waitFor(
    ({ method, params }) => method === EVENT && params.type === "approval_resolved" && params.approvalId === approvalId,
  );
  return line.message.params;
}

/** One line as an agent writes it, for several in one write. */
export const jsonLine = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

/** The notification that takes this question back. */
export const withdrawal = (client: RawClient, offer: Offer): Promise<Line> =>
  client.waitFor(({ method, params }) => method === "$/cancel_request" && params.requestId === offer.id);

/** What is recorded, without a line that is still being written or that a kill -9 tore while it was; both of them count for nothing. */
export function auditRecords(home: Home): Loose[] {
  const lines = readFileSync(join(home.home, "state", "audit.ndjson"))
    .toString("latin1")
    .split("\n");
  return lines.slice(0, -1).flatMap((line, n) => {
    const torn = lines[n + 1]?.match(/"type":"recovered",.*"torn":(\d+)/)?.[1];
    return Number(torn) === line.length ? [] : [JSON.parse(Buffer.from(line, "latin1").toString())];
  });
}

export const decisions = (home: Home, approvalId?: string): Loose[] =>
  auditRecords(home).filter(
    (record) => record.type === "decision" && (approvalId === undefined || record.approvalId === approvalId),
  );

/** The last line of this event about this approval in the daemon's log. */
export const logLine = (home: Home, event: string, approvalId?: string): Promise<Loose> =>
  eventually(
    () =>
      home
        .logLines()
        .findLast((line) => line.event === event && (approvalId === undefined || line.approvalId === approvalId)),
    `a log line ${event}`,
  );
