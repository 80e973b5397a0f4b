// One master for the tests of a file. Every test opens its own connections and sessions on agents named in advance.
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent, type ScriptedAgentOptions } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

export type Way = "socket" | "shim";
export const ways: readonly Way[] = ["socket", "shim"];

/** A client with a session, and the process that runs it. */
export interface Talk extends AsyncDisposable {
  readonly client: RawClient;
  readonly sessionId: string;
  readonly process: ScriptedProcess;
}

export interface TalkOptions {
  readonly way?: Way;
  readonly capabilities?: Loose;
  readonly events?: boolean;
}

export class OneMaster implements AsyncDisposable {
  readonly master: Master;
  readonly #agents: ReadonlyMap<string, ScriptedAgent>;
  readonly #places: ReadonlyMap<string, ScriptedProcess>;

  private constructor(
    master: Master,
    agents: ReadonlyMap<string, ScriptedAgent>,
    places: ReadonlyMap<string, ScriptedProcess>,
  ) {
    this.master = master;
    this.#agents = agents;
    this.#places = places;
  }

  /** The first agent is the default one. The session ids of each start with its name, so that none clashes with another's. */
  static async start(
    agents: Readonly<Record<string, ScriptedAgentOptions>>,
    config: Readonly<Record<string, unknown>> = {},
  ): Promise<OneMaster> {
    const places = new Map<string, ScriptedProcess>();
    const made = new Map(
      Object.entries(agents).map(([name, options]) => {
        let sessions = 0;
        const newSession = (_: Loose, process: ScriptedProcess) => {
          const sessionId = `${name}-${++sessions}`;
          places.set(sessionId, process);
          return { sessionId, ...options.session };
        };
        return [name, fakeAgent({ ...options, auto: { "session/new": newSession, ...options.auto } })];
      }),
    );
    const master = await startMaster({
      agents: Object.fromEntries(made),
      config: { defaultAgent: Object.keys(agents)[0], helper: { use: "ask", isolation: "shared" }, ...config },
    });
    return new OneMaster(master, made, places);
  }

  agent(name: string): ScriptedAgent {
    const agent = this.#agents.get(name);
    if (!agent) throw new Error(`the test names no agent ${name}`);
    return agent;
  }

  /** A connection on which nothing was said; `agent` counts on the shim only. */
  async connection(way: Way = "socket", agent?: string): Promise<RawClient> {
    if (way === "socket") return await this.master.client();
    return this.master.connect(["--no-start", ...(agent === undefined ? [] : [agent])]);
  }

  /** An initialised client; `null`: it asks only the master. */
  async client(agent: string | null, { way, capabilities, events }: TalkOptions = {}): Promise<RawClient> {
    const client = await this.connection(way, agent ?? undefined);
    await client.initialize({ agent, capabilities, ...(events === undefined ? {} : { events }) });
    return client;
  }

  /** A new client in a new session of the agent. */
  async talk(agent: string, options: TalkOptions = {}): Promise<Talk> {
    const client = await this.client(agent, options);
    const { sessionId } = await client.newSession();
    const process = this.#places.get(sessionId);
    if (!process) throw new Error(`no process of ${agent} opened the session ${sessionId}`);
    return { client, sessionId, process, [Symbol.asyncDispose]: () => client.close() };
  }

  async status(): Promise<Loose> {
    return JSON.parse((await this.master.cli(["status", "--json"])).stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.master[Symbol.asyncDispose]();
    for (const agent of this.#agents.values()) await agent[Symbol.asyncDispose]();
  }
}
