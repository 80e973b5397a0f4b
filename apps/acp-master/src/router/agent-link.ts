// One agent process as an ACP peer: the requests in flight both ways, the sessions that run in it, the clients bound to
// it. Numbers its requests from 1; keeps the agent's own ids as the bytes they are.

import { Envelope, type Edit, peek, splice, stringEquals } from "@acp-master/wire";
import type { AgentExit, AgentPeer, AgentProcess } from "../agents/agent-process.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import { asRecord } from "../protocol/json-value.ts";
import { fault, INTERNAL_ERROR, INVALID_REQUEST, type RpcError } from "../protocol/reasons.ts";
import type { ClientCapabilities } from "./client-capabilities.ts";
import type { ClientConnection } from "./client-connection.ts";
import { EMPTY_OBJECT, errorFrame, notificationFrame, requestFrame, resultFrame } from "./message.ts";
import { IncomingRequests } from "./incoming-requests.ts";
import { idText } from "./kept-frame.ts";
import type { Lane } from "./lane.ts";
import type { Session } from "./session.ts";
import { wait } from "../wait.ts";

/** A request put to the agent. Exactly one of the two is called, once. */
export interface OutgoingCall {
  /** The session in whose order the answer stands. */
  readonly session?: Session | undefined;
  /** Whose request it is: the exact text of the id that the client gave it. */
  readonly origin?: { readonly client: ClientConnection; readonly id: string };
  answered(envelope: Envelope): void;
  failed(error: RpcError): void;
}

/** A session/new, load, resume or fork that the agent has not answered. */
export interface Creation {
  readonly client: ClientConnection;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** The session that frames named before the answer came. */
  session: Session | undefined;
}

export interface LinkOwner {
  update(link: AgentLink, envelope: Envelope): void;
  /** The end of what was read at once: runs of updates go out. */
  chunkEnd(link: AgentLink): void;
  agentRequest(link: AgentLink, envelope: Envelope): void;
  agentNotification(link: AgentLink, envelope: Envelope): void;
  /** A line that says that it is JSON-RPC 2.0 and has a method, but is no legal message; no other request has its id. */
  badRequest(link: AgentLink, envelope: Envelope): void;
  /** The process is gone; its requests are about to fail. */
  exiting(link: AgentLink): void;
  ended(link: AgentLink, exit: AgentExit): void;
}

/** Longer than a Helper can hold up a lane: by then it has answered, or was found at fault. */
const LAST_WORDS_MS = 15_000;

const SESSION_UPDATE = Buffer.from("session/update");
const VERSION_2 = Buffer.from("2.0");
const MAX_DEPARTED = 1000;

export class AgentLink implements AgentPeer {
  readonly definition: AgentDefinition;
  readonly key: string;
  /** What this process was told that its clients can do. */
  readonly announced: ClientCapabilities;
  readonly startedAt = Date.now();
  readonly sessions = new Map<string, Session>();
  /** Of the last sessions that left: what is still on its way from them belongs to no session that is just being made. */
  readonly departed = new Set<string>();
  readonly clients = new Set<ClientConnection>();
  readonly creations = new Set<Creation>();
  readonly incoming = new IncomingRequests();
  /** Child sessions that the agent announced, and the session they belong to. */
  readonly children = new Map<string, Session>();
  /** Sessions that ignored a cancel: what they still send is nobody's. */
  readonly givenUp = new Set<string>();
  state: "starting" | "ready" | "leaving" | "ended" = "starting";
  /** The agent's answer to `initialize`. */
  initialized: Record<string, unknown> = {};
  /** The same as it came. */
  initializedBytes: Buffer = EMPTY_OBJECT;
  process!: AgentProcess;
  /** An authenticate is running; the next one waits for it. */
  authenticating: Promise<void> = Promise.resolve();
  lateAnswers = 0;

  readonly #owner: LinkOwner;
  readonly #calls = new Map<number, OutgoingCall>();
  readonly #envelope = new Envelope();
  #wasUpdate = false;
  #lastCall = 0;

  constructor(definition: AgentDefinition, key: string, announced: ClientCapabilities, owner: LinkOwner) {
    this.definition = definition;
    this.announced = announced;
    this.key = key;
    this.#owner = owner;
  }

  get agent(): string {
    return this.definition.name;
  }

  get instance(): string {
    return this.process.instance;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return asRecord(this.initialized["agentCapabilities"]);
  }

  /** The session runs here from now on. */
  take(session: Session): void {
    this.sessions.set(session.agentId, session);
    this.departed.delete(session.agentId);
  }

  /** The session runs here no more; the sessions under it go with it. Returns the ids of all. */
  leave(session: Session): string[] {
    const children = [...this.children].filter(([, parent]) => parent === session).map(([agentId]) => agentId);
    for (const agentId of children) this.children.delete(agentId);
    if (this.sessions.get(session.agentId) === session) this.sessions.delete(session.agentId);
    const left = [session.agentId, ...children];
    for (const agentId of left) this.#depart(agentId);
    return left;
  }

  /** Whether the agent announced `sessionCapabilities.<name>` (or loadSession). */
  can(name: "load" | "list" | "resume" | "close" | "delete" | "fork"): boolean {
    if (name === "load") return this.capabilities["loadSession"] === true;
    const value = asRecord(this.capabilities["sessionCapabilities"])[name];
    return value !== undefined && value !== null && value !== false;
  }

  /** Sends a request of the master's own. */
  call(method: string, params: Buffer, call: OutgoingCall): number {
    return this.#send((id) => requestFrame(id, method, params), call);
  }

  /** Passes a client's request on under an id of this process. `edits` change other spans of it. */
  forward(
    source: { bytes: Buffer; start: number; end: number; id: { start: number; end: number } },
    edits: readonly Edit[],
    call: OutgoingCall,
  ): number {
    return this.#send((id) => {
      const all = [...edits, { start: source.id.start, end: source.id.end, bytes: Buffer.from(id, "latin1") }];
      if (all.length > 1) all.sort((a, b) => a.start - b.start);
      return splice(source.bytes, source.start, source.end, all);
    }, call);
  }

  notify(method: string, params: Buffer): void {
    this.process.write(notificationFrame(method, params));
  }

  /** Writes a whole frame, LF included. False: the agent does not read and its queue is full. */
  write(frame: Buffer): boolean {
    return this.state !== "ended" && this.process.write(frame);
  }

  /** Tells the agent that nobody needs the answer any more; the answer is still awaited. */
  cancelCall(id: number): void {
    if (this.#calls.has(id)) this.notify("$/cancel_request", Buffer.from(`{"requestId":${id}}`));
  }

  /** The client whose request went to the agent under this id. */
  originOf(text: string): OutgoingCall["origin"] {
    return this.#calls.get(callNumber(text))?.origin;
  }

  /** `id` is the exact text of the agent's id. Answers what is not answered yet, once. */
  answer(id: string, result: Buffer): void {
    if (this.incoming.ended(id)) this.reply(id, resultFrame(id, result));
  }

  refuse(id: string, error: RpcError): void {
    if (this.incoming.ended(id)) this.reply(id, errorFrame(id, error));
  }

  /** A client's answer, already under the agent's id. */
  relayAnswer(id: string, frame: Buffer): void {
    if (this.incoming.ended(id)) this.reply(id, frame);
  }

  /** Writes an answer. One that an agent leaves no room for becomes an error, so that it is not waited for in vain. */
  reply(id: string, frame: Buffer): void {
    if (this.state === "ended" || this.process.sendAnswer(frame)) return;
    const message = "The answer did not fit into what this agent has not read yet; ask again.";
    this.process.sendAnswer(errorFrame(id, fault("busy", message)));
  }

  // -- AgentPeer

  frame(bytes: Buffer, start: number, end: number): void {
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    switch (envelope.kind) {
      case "notification":
        if (this.#isUpdate(envelope)) this.#owner.update(this, envelope);
        else this.#owner.agentNotification(this, envelope);
        return;
      case "response":
        this.#response(envelope);
        return;
      case "request":
        this.#owner.agentRequest(this, envelope);
        return;
      case "invalid":
        this.#invalid(envelope);
    }
  }

  #isUpdate(envelope: Envelope): boolean {
    if (!envelope.repeats) this.#wasUpdate = stringEquals(envelope.bytes, envelope.method, SESSION_UPDATE);
    return this.#wasUpdate;
  }

  chunkEnd(): void {
    this.#owner.chunkEnd(this);
    this.#envelope.release();
  }

  exited(exit: AgentExit): void {
    this.state = "ended";
    const lanes = Array.from(this.sessions.values(), ({ lane }) => lane).filter((lane) => lane.busy);
    if (lanes.length === 0) this.#end(exit);
    else void this.#endBehind(lanes, exit);
  }

  /** What it said before its end still waits for a Helper: that comes first, in order, answers included. */
  async #endBehind(lanes: readonly Lane[], exit: AgentExit): Promise<void> {
    await new Promise<void>((resolve) => {
      const stopWaiting = wait(LAST_WORDS_MS, resolve);
      void Promise.all(lanes.map((lane) => lane.emptied())).then(() => {
        stopWaiting();
        resolve();
      });
    });
    this.#end(exit);
  }

  #end(exit: AgentExit): void {
    this.#owner.exiting(this);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.incoming.abandonAll();
    const error = exitError(this.agent, exit);
    for (const call of calls) call.failed(error);
    this.#owner.ended(this, exit);
  }

  /** A response that waited in its session's lane. */
  resume(frame: Buffer): void {
    this.frame(frame, 0, frame.length - 1);
    this.#envelope.release();
  }

  #depart(agentId: string): void {
    this.departed.add(agentId);
    const oldest = this.departed.values().next();
    if (this.departed.size > MAX_DEPARTED && !oldest.done) this.departed.delete(oldest.value);
  }

  #send(frame: (id: string) => Buffer, call: OutgoingCall): number {
    const id = ++this.#lastCall;
    if (this.state === "ended") {
      call.failed(fault("agent_exited", `The agent ${this.agent} has ended; send the request again to start it anew.`));
      return id;
    }
    this.#calls.set(id, call);
    // One that could not be started, or is ending, fails this with its exit, which says why.
    if (!this.process.send(frame(String(id))) && this.process.inputOpen) {
      this.#calls.delete(id);
      call.failed(fault("busy", `The agent ${this.agent} does not read its input; try again when it goes on.`));
    }
    return id;
  }

  #response(envelope: Envelope): void {
    const id = callId(envelope);
    const call = this.#calls.get(id);
    if (!call) {
      this.lateAnswers++;
      return;
    }
    // A session that lives elsewhere by now has its lane there.
    if (call.session?.route === this && call.session.lane.busy) {
      call.session.lane.follow(Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1)));
      return;
    }
    this.#owner.chunkEnd(this);
    this.#calls.delete(id);
    try {
      call.answered(envelope);
    } catch {
      // Whoever asked is told; all others go on.
      call.failed({
        code: INTERNAL_ERROR,
        message: `acp-master could not read the answer of the agent ${this.agent}: it is malformed or nested too deep.`,
      });
    }
  }

  /** What does not even say that it is JSON-RPC 2.0 is a log line, whatever else it looks like. */
  #invalid(envelope: Envelope): void {
    const { bytes, start, end } = envelope;
    const claimsToBeOne = envelope.id.start >= 0 && stringEquals(bytes, envelope.jsonrpc, VERSION_2);
    const isResponse = envelope.method.start < 0 && (envelope.result.start >= 0 || envelope.error.start >= 0);
    if (claimsToBeOne && isResponse) {
      const id = callId(envelope);
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      call?.failed({
        code: INVALID_REQUEST,
        message: `The agent ${this.agent} sent an answer that is no legal JSON-RPC response.`,
      });
      return;
    }
    if (claimsToBeOne && envelope.method.start >= 0 && !this.incoming.isOpen(idText(envelope))) {
      this.#owner.badRequest(this, envelope);
      return;
    }
    this.process.noise(bytes.subarray(start, end));
  }
}

/** Ids match by their exact bytes: `1e0` and `"1"` are none of ours. */
function callId({ bytes, id }: Envelope): number {
  if (id.end - id.start > 15 || bytes[id.start] === 0x30) return 0;
  let number = 0;
  for (let at = id.start; at < id.end; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return 0;
    number = number * 10 + digit;
  }
  return number;
}

const callNumber = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0);

export function exitError(agent: string, exit: AgentExit): RpcError {
  if (exit.cause === "failed_to_start") {
    return fault("agent_failed_to_start", exit.message, { stderrTail: exit.stderrTail });
  }
  return fault("agent_exited", exit.message, {
    exitCode: exit.exitCode,
    signal: exit.signal,
    stderrTail: exit.stderrTail,
    agent,
  });
}
