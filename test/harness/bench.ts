// One master for a whole file of tests, and for each test a scripted agent that no other test uses. It starts no agent.
import { eventually } from "./events.ts";
import type { Loose } from "./lines.ts";
import { type Master, startMaster } from "./master.ts";
import type { InitializeOptions, RawClient } from "./raw-client.ts";
import { type Auto, fakeAgent, type ScriptedAgent, type ScriptedAgentOptions } from "./scripted-agent.ts";
import type { ScriptedProcess } from "./scripted-process.ts";

export interface BenchOptions {
  /** Unused agents for `agent()`, with the defaults. */
  readonly agents: number;
  /** Further agents by name, which need options of their own at their start. */
  readonly named?: Readonly<Record<string, ScriptedAgentOptions>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** An agent of one test. */
export interface Bay {
  readonly name: string;
  readonly agent: ScriptedAgent;
  /** A client of this agent, initialised. */
  client(options?: InitializeOptions): Promise<RawClient>;
  /** The n-th process of the agent. */
  process(n?: number): Promise<ScriptedProcess>;
  /** Resolves once everything that this client sent before has passed the master and reached its agent. */
  reached(client: RawClient): Promise<void>;
}

/** Answered by every agent of a bench; for round trips through master and agent. */
const PING = "_bench/ping";

export class Bench implements AsyncDisposable {
  readonly master: Master;
  readonly #agents: ReadonlyMap<string, ScriptedAgent>;
  readonly #unused: string[];

  private constructor(master: Master, agents: ReadonlyMap<string, ScriptedAgent>, unused: string[]) {
    this.master = master;
    this.#agents = agents;
    this.#unused = unused;
  }

  static async start(options: BenchOptions): Promise<Bench> {
    const unused = Array.from({ length: options.agents }, (_, n) => `agent-${n + 1}`);
    const agents = new Map(unused.map((name) => [name, fakeAgent({ sessionIds: idsOf(name), auto: { [PING]: {} } })]));
    for (const [name, own] of Object.entries(options.named ?? {})) {
      agents.set(name, fakeAgent({ ...own, auto: { [PING]: {}, ...own.auto } }));
    }
    const config = { helper: { use: "ask", isolation: "shared" }, ...options.config };
    const master = await startMaster({ agents: Object.fromEntries(agents), config });
    return new Bench(master, agents, unused);
  }

  /** An agent that no other test has; `auto` changes what it answers. */
  agent(auto: Readonly<Record<string, Auto>> = {}): Bay {
    const name = this.#unused.shift();
    if (name === undefined) throw new Error("the bench has no unused agent left; start it with more");
    return this.named(name, auto);
  }

  named(name: string, auto: Readonly<Record<string, Auto>> = {}): Bay {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new Error(`the bench has no agent ${name}`);
    for (const [method, answer] of Object.entries(auto)) agent.setAuto(method, answer);
    return {
      name,
      agent,
      client: async (options = {}) => {
        const client = await this.master.client();
        await client.initialize({ agent: name, ...options });
        return client;
      },
      process: (n = 0) => agent.process(n),
      reached: async (client) => void (await client.call(PING, {})),
    };
  }

  /** Cuts a client off; resolves when the master has seen that it is gone. */
  async leave(client: RawClient): Promise<void> {
    const answer = await client.waitFor((message) => message.result?._meta?.["acp-master"] !== undefined);
    const { clientId } = answer.message.result._meta["acp-master"];
    await client.close();
    await using watcher = await this.master.client();
    await watcher.initialize({ agent: null });
    await eventually(async () => {
      const { sessions } = await watcher.call("_acp-master/sessions", {});
      return sessions.every((row: Loose) => row.clients.every((each: Loose) => each.clientId !== clientId));
    }, "the master has seen that the client is gone");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.master[Symbol.asyncDispose]();
    for (const agent of this.#agents.values()) await agent[Symbol.asyncDispose]();
  }
}

/** No two agents give the same id, so that what clients see is what agents gave. */
const idsOf = (name: string): string[] => Array.from({ length: 100 }, (_, n) => `${name}.${n + 1}`);

/** What an agent announces, for `auto.initialize`. */
export const announcing = (capabilities: Loose, more: Loose = {}): Loose => ({
  protocolVersion: 1,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: {},
    ...capabilities,
    sessionCapabilities: { list: {}, resume: {}, close: {}, ...capabilities.sessionCapabilities },
  },
  agentInfo: { name: "scripted", version: "1.0.0" },
  authMethods: [],
  ...more,
});

/** A chunk of the agent's message. */
export const chunk = (text: string): Loose => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});
