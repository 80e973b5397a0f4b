// A real agent, a model for it, and a client that reaches it: directly, or through `acp-master connect`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeHome, type AgentEntry, type Home } from "../harness/home.ts";
import { Master } from "../harness/master.ts";
import { descendantsOf } from "../harness/processes.ts";
import { Program } from "../harness/program.ts";
import { RawClient } from "../harness/raw-client.ts";
import { ScriptedModel } from "../model/server.ts";
import type { RealAgent } from "./real-agents.ts";

export type Route = "directly" | "through the master";

export class Stage implements AsyncDisposable {
  readonly client: RawClient;
  readonly home: Home;
  readonly model: ScriptedModel;
  readonly #entry: AgentEntry;

  private constructor(home: Home, client: RawClient, model: ScriptedModel, entry: AgentEntry) {
    this.home = home;
    this.client = client;
    this.model = model;
    this.#entry = entry;
    client.cwd = home.work;
  }

  static async open(agent: RealAgent, route: Route): Promise<Stage> {
    const model = await ScriptedModel.start();
    const home = route === "directly" ? makeHome() : new Master();
    // The agent's folder lies inside the home, so the home's leak check finds what the agent leaves.
    const folder = join(home.folder, "agent");
    mkdirSync(folder);
    const entry = agent.define(folder, model.url);
    home.configure({ config: { helper: { use: "ask" } }, agents: { [agent.name]: entry } });
    if (home instanceof Master) await home.serve();
    const client = home instanceof Master ? home.connect([agent.name]) : Stage.#direct(home, entry);
    return new Stage(home, client, model, entry);
  }

  static #direct(home: Home, entry: AgentEntry): RawClient {
    const { ACP_MASTER_HOME: _, ...env } = home.env;
    const program = new Program(entry.command, entry.args ?? [], { env: { ...env, ...entry.env }, cwd: home.work });
    const client = RawClient.overProgram(program);
    home.own(client);
    return client;
  }

  get master(): Master {
    if (this.home instanceof Master) return this.home;
    throw new Error("this stage has no master");
  }

  /** How many processes of the agent were started by the master; a start of its own children does not count. */
  agentProcesses(): number {
    if (!(this.home instanceof Master)) return 1;
    const { pid } = this.home;
    const program = this.#entry.args?.[0] ?? this.#entry.command;
    return descendantsOf(pid).filter((one) => one.ppid === pid && one.command.includes(program)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.home[Symbol.asyncDispose]();
    } finally {
      await this.model[Symbol.asyncDispose]();
    }
  }
}
