// A daemon with the terminal Helper, a tmux with a person in front of it, and an agent whose shell the test plays.
import type { AgentEntry } from "../harness/home.ts";
import { Master } from "../harness/master.ts";
import { descendantsOf } from "../harness/processes.ts";
import type { Program } from "../harness/program.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { askingAgent, converse, type Conversation } from "../permissions/conversation.ts";
import { approved, commandOf, linesOf, payload, runInShell } from "../proposals/proposing.ts";
import { TestTmux } from "./tmux.ts";

/** What the key line of a card says once keys count. */
export const keysCount = "c cancel";

export interface StageOptions {
  /** Whether somebody is in front of tmux; else cards are seen by `acp-master review` only. */
  readonly attached?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** The Helper's program in place of `terminal`. */
  readonly helper?: (tmux: TestTmux, folder: string) => readonly string[];
  /** Further agents; they may use the folder. */
  readonly agents?: (folder: string) => Readonly<Record<string, AgentEntry>>;
}

export class Stage implements AsyncDisposable {
  readonly master = new Master();
  readonly agent: ScriptedAgent = askingAgent();
  tmux!: TestTmux;
  /** The pane that turns are bound to. */
  pane!: string;

  static async open(options: StageOptions = {}): Promise<Stage> {
    const stage = new Stage();
    try {
      await stage.#open(options);
    } catch (cause) {
      await stage[Symbol.asyncDispose]();
      throw cause;
    }
    return stage;
  }

  async #open({ attached = true, helper, agents, ...size }: StageOptions): Promise<void> {
    const { master } = this;
    this.tmux = await TestTmux.start({ env: master.env, ...size });
    if (attached) await this.tmux.attach();
    [this.pane = ""] = await this.tmux.run("list-panes", "-F", "#{pane_id}");
    await this.tmux.holds(this.pane, "$");
    const use = helper === undefined ? "terminal" : { command: helper(this.tmux, master.folder) };
    master.configure({
      config: { defaultAgent: "fake", helper: { use, tmux: this.tmux.server } },
      agents: { fake: this.agent, ...agents?.(master.folder) },
    });
    await master.serve();
  }

  talk(): Promise<Conversation> {
    return converse(this.master, { agent: "fake" });
  }

  /** The agent has asked, and its shell runs the command. */
  async propose(talk: Conversation, json = payload()): Promise<Proposing> {
    const command = commandOf(talk, json);
    await approved(talk, command);
    return new Proposing(runInShell(talk, command));
  }

  /** As `propose`; the person sees the card and its keys count. */
  async card(talk: Conversation, json = payload()): Promise<Proposing> {
    const proposing = await this.propose(talk, json);
    await this.tmux.sees(keysCount);
    return proposing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.tmux?.[Symbol.asyncDispose]();
    } finally {
      await this.master[Symbol.asyncDispose]();
      await this.agent[Symbol.asyncDispose]();
    }
  }
}

/** A proposal as the agent's shell sees it. */
export class Proposing {
  readonly program: Program;

  constructor(program: Program) {
    this.program = program;
  }

  /** The exit code and the status of each line. */
  async end(): Promise<{ code: number | null; statuses: string[] }> {
    const { code, lines } = await linesOf(this.program);
    return { code, statuses: lines.map(({ status }) => status) };
  }

  /** The command that proposes is killed, and with it the shell that waits for it. */
  async kill(): Promise<void> {
    const [proposer = { pid: this.program.pid }] = descendantsOf(this.program.pid);
    process.kill(proposer.pid, "SIGKILL");
    await this.program.exited;
  }
}
