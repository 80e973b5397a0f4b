// An agent that does everything the protocol has, the same way every time: sessions with a history, sign-in, modes, options,
// errors. What a prompt does is in turns.ts. It has no clock and no randomness.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Deferred } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { type Call, Fault, type Peer } from "./agent-peer.ts";
import { awkward } from "./respelling.ts";
import { runTurn } from "./turns.ts";

export interface TestSession {
  readonly sessionId: string;
  cwd: string;
  readonly history: object[];
  modeId: string;
  options: Record<string, string | boolean>;
  /** The running turn. */
  turn: { readonly cancelled: Deferred<void>; readonly ended: Deferred<void> } | undefined;
}

const pageSize = 2;

export class TestAgent {
  readonly #prefix: string;
  readonly #sessions = new Map<string, TestSession>();
  readonly #signals = new Map<string, Deferred<void>>();
  #signedIn = false;
  #lastSession = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
    for (const name of ["stored", "kept", "spare"]) this.#stored(`${prefix}-${name}`);
  }

  /** The agent's answer to a request; a Fault is its error answer. */
  async answer(method: string, params: Loose, call: Call): Promise<Loose> {
    switch (method) {
      case "authenticate":
        return await this.#authenticate(params, call);
      case "logout":
        if (!this.#signedIn) throw new Fault(-32000, "not signed in");
        this.#signedIn = false;
        return { _meta: { left: true } };
      case "session/new":
        return await this.#create(params, call.peer);
      case "session/load":
        return await this.#load(this.#moved(params), call.peer);
      case "session/resume":
        return this.#state(this.#moved(params));
      case "session/fork":
        return await this.#fork(this.#known(params.sessionId), params, call.peer);
      case "session/list":
        return this.#list(params);
      case "session/close":
      case "session/delete":
        return await this.#end(this.#known(params.sessionId));
      case "session/set_mode":
        return this.#setMode(this.#known(params.sessionId), params.modeId);
      case "session/set_model":
        return {};
      case "session/set_config_option":
        return this.#setOption(this.#known(params.sessionId), params);
      case "session/prompt":
        return await this.#prompt(this.#known(params.sessionId), params, call);
      case "_test/echo":
        return { ...params, _meta: awkward };
      default:
        throw new Fault(-32601, `"Method not found": ${method}`, { method });
    }
  }

  async notified(method: string, params: Loose, peer: Peer): Promise<void> {
    if (method === "session/cancel") this.#sessions.get(params.sessionId)?.turn?.cancelled.resolve();
    else if (method === "_test/signal") this.signal(params.name).resolve();
    else if (method === "_test/poke") await peer.notify("_test/poked", params);
  }

  /** A rendezvous by name: with another turn, or with the client. */
  signal(name: string): Deferred<void> {
    const known = this.#signals.get(name);
    if (known) return known;
    const made = new Deferred<void>();
    this.#signals.set(name, made);
    return made;
  }

  #known(sessionId: string): TestSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw new Fault(-32002, `Resource not found: ${sessionId}`, { sessionId, hint: [null, {}] });
    return session;
  }

  /** Opened again, maybe in another folder. */
  #moved({ sessionId, cwd }: Loose): TestSession {
    const session = this.#known(sessionId);
    session.cwd = cwd;
    return session;
  }

  #open(sessionId: string, cwd: string): TestSession {
    const options = { model: "small", "thinking aloud": false };
    const session = { sessionId, cwd, history: [], modeId: "careful", options, turn: undefined };
    this.#sessions.set(sessionId, session);
    return session;
  }

  #stored(sessionId: string): void {
    this.#open(sessionId, "/").history.push(
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: `what ${sessionId} was asked` } },
      {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: "what it said \u2713" },
        messageId: "m-1",
      },
      { sessionUpdate: "tool_call", toolCallId: "old", title: "an old call", kind: "read", status: "completed" },
      { sessionUpdate: "usage_update", used: 10, size: 200_000 },
    );
  }

  async #authenticate(params: Loose, { peer, requestId }: Call): Promise<object> {
    if (params.methodId !== "browser") throw new Fault(-32602, "unknown method", { methodId: params.methodId });
    const answer: string | undefined = params._meta?.answer;
    if (answer !== undefined) {
      const elicitationId = `sign-in-${answer}`;
      const { action } = await peer.request("elicitation/create", {
        mode: "url",
        requestId,
        elicitationId,
        url: "https://example.invalid/sign-in?a=1&b=%20",
        message: "Sign in, please",
        _meta: { answer },
      });
      if (action !== "accept") throw new Fault(-32000, "Authentication required", { action });
      await peer.notify("elicitation/complete", { elicitationId, _meta: awkward });
    }
    this.#signedIn = true;
    return { _meta: awkward };
  }

  async #create(params: Loose, peer: Peer): Promise<object> {
    if (!this.#signedIn) throw new Fault(-32000, "Authentication required", { authMethods: ["browser"] });
    if (typeof params.cwd !== "string" || !isAbsolute(params.cwd)) throw new Fault(-32602, "cwd is not absolute");
    if (!existsSync(params.cwd)) throw new Fault(-32602, "cwd does not exist", { cwd: params.cwd });
    if (params._meta?.fail === true) throw new Fault(-32603, "cannot start", { startupFailureReason: "on request" });
    const session = this.#open(`${this.#prefix}-${++this.#lastSession}`, params.cwd);
    await this.#announce(session, peer);
    return { sessionId: session.sessionId, ...this.#state(session) };
  }

  /** Before the answer, as some agents do it. */
  async #announce(session: TestSession, peer: Peer): Promise<void> {
    const availableCommands = [{ name: "say", description: "says", input: { hint: "what" } }];
    const update = { sessionUpdate: "available_commands_update", availableCommands };
    session.history.push(update);
    await peer.notify("session/update", { sessionId: session.sessionId, update });
  }

  async #load(session: TestSession, peer: Peer): Promise<object> {
    const { sessionId } = session;
    for (const update of session.history) await peer.notify("session/update", { sessionId, update });
    return this.#state(session);
  }

  async #fork(source: TestSession, params: Loose, peer: Peer): Promise<object> {
    const session = this.#open(`${source.sessionId}-fork`, params.cwd);
    session.history.push(...source.history);
    await this.#announce(session, peer);
    return { sessionId: session.sessionId, ...this.#state(session) };
  }

  #list({ cwd, cursor, _meta }: Loose): object {
    if (cursor !== undefined && !/^page-\d+$/.test(cursor)) throw new Fault(-32602, "unknown cursor", { cursor });
    const from = cursor === undefined ? 0 : Number(cursor.slice(5));
    const all = [...this.#sessions.values()].filter((session) => cwd === undefined || session.cwd === cwd);
    const sessions = all.slice(from, from + pageSize).map((session) => ({
      sessionId: session.sessionId,
      cwd: session.cwd,
      title: `session ${session.sessionId}`,
      updatedAt: "2026-01-02T03:04:05.678Z",
      _meta: awkward,
    }));
    const next = from + pageSize < all.length ? { nextCursor: `page-${from + pageSize}` } : {};
    return { sessions, ...next, _meta: { asked: _meta ?? null } };
  }

  /** A running turn is cancelled and ends first. */
  async #end({ sessionId, turn }: TestSession): Promise<object> {
    turn?.cancelled.resolve();
    await turn?.ended.promise;
    this.#sessions.delete(sessionId);
    return { _meta: { ended: sessionId } };
  }

  #setMode(session: TestSession, modeId: string): object {
    if (modeId !== "careful" && modeId !== "bold") throw new Fault(-32602, "Invalid params", { modeId });
    session.modeId = modeId;
    return { _meta: { modeId } };
  }

  #setOption(session: TestSession, { configId, value }: Loose): object {
    if (!(configId in session.options)) throw new Fault(-32602, "no such option", { configId });
    session.options[configId] = value;
    return { configOptions: this.optionsOf(session), _meta: awkward };
  }

  async #prompt(session: TestSession, params: Loose, call: Call): Promise<object> {
    if (!Array.isArray(params.prompt)) throw new Fault(-32602, "prompt is no list");
    for (const content of params.prompt) session.history.push({ sessionUpdate: "user_message_chunk", content });
    const turn = { cancelled: new Deferred<void>(), ended: new Deferred<void>() };
    session.turn = turn;
    try {
      return await runTurn({ agent: this, session, call, cancelled: turn.cancelled.promise }, params.prompt);
    } finally {
      session.turn = undefined;
      // Behind the turn's own answer.
      setImmediate(() => turn.ended.resolve());
    }
  }

  #state(session: TestSession): object {
    const availableModes = [
      { id: "careful", name: "Careful", description: null },
      { id: "bold", name: "Bold", _meta: awkward },
    ];
    return {
      modes: { currentModeId: session.modeId, availableModes },
      configOptions: this.optionsOf(session),
      _meta: { awkward },
    };
  }

  optionsOf(session: TestSession): object[] {
    const { options } = session;
    return [
      {
        id: "model",
        name: "Model",
        category: "model",
        type: "select",
        currentValue: options.model,
        options: [
          { group: "a", name: "Group A", options: [{ value: "small", name: "Small" }] },
          { group: "b", name: "Group B", options: [{ value: "large", name: "Large", _meta: awkward }] },
        ],
      },
      { id: "thinking aloud", name: "Thinking", type: "boolean", currentValue: options["thinking aloud"] },
    ];
  }
}
