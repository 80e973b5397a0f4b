// A scripted agent for a master's configuration, and the handles of every process that is started from it.
// What it answers by itself is written here, on the test's side; the process only carries bytes.
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deferred, patient, within } from "./events.ts";
import type { AgentEntry } from "./home.ts";
import { isRequest, LineSplitter, type Loose, type Message } from "./lines.ts";
import { killMarked, leftovers } from "./processes.ts";
import { ScriptedProcess } from "./scripted-process.ts";

/** A result, or a function that gives one; undefined leaves the request to the test; a throw is the error answer. */
export type Auto = object | null | boolean | ((params: Loose, agent: ScriptedProcess, message: Message) => Loose);

export interface ScriptedAgentOptions {
  /** Merged over the default capabilities (loadSession, list, resume, close). */
  readonly capabilities?: Loose;
  /** Merged over the default result of initialize. */
  readonly initialize?: Loose;
  /** The ids that `session/new` gives, in order and over all processes; then s-1, s-2 … */
  readonly sessionIds?: readonly string[];
  /** Merged over the result of `session/new` (modes, configOptions …). */
  readonly session?: Loose;
  /** Answers by method, over the defaults. `false`: the test answers. */
  readonly auto?: Readonly<Record<string, Auto>>;
  /** What must be so at the start of each process; see scripted-agent.mjs. */
  readonly start?: {
    ignoreTerm?: boolean;
    ignoreEof?: boolean;
    print?: string;
    printError?: string;
    exitAtStart?: number;
  };
  /** Merged over the definition (share, passEnv, shell, args …). */
  readonly definition?: Readonly<Record<string, unknown>>;
}

const program = fileURLToPath(new URL("./scripted-agent.mjs", import.meta.url));

export class ScriptedAgent implements AsyncDisposable {
  readonly definition: AgentEntry;
  /** The processes that were started so far. */
  readonly processes: ScriptedProcess[] = [];
  readonly marker: string = randomBytes(8).toString("hex");
  readonly #options: ScriptedAgentOptions;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Map<number, Deferred<ScriptedProcess>>();
  readonly #auto: Record<string, Auto>;
  #sessions = 0;

  constructor(options: ScriptedAgentOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-agent-"));
    const control = join(this.#folder, "control.sock");
    this.#server = createServer((socket) => this.#accept(socket)).listen(control);
    this.#auto = { ...this.#defaults(), ...options.auto };
    const { args, env, ...rest } = (options.definition ?? {}) as Partial<AgentEntry>;
    this.definition = {
      command: process.execPath,
      args: [program, ...(args ?? [])],
      env: {
        FAKE_CONTROL: control,
        FAKE_OPTIONS: JSON.stringify(options.start ?? {}),
        FIXTURE_RUN: this.marker,
        ...env,
      },
      ...rest,
    };
  }

  #defaults(): Record<string, Auto> {
    const { capabilities, initialize, session } = this.#options;
    return {
      initialize: {
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: {},
          sessionCapabilities: { list: {}, resume: {}, close: {} },
          ...capabilities,
        },
        agentInfo: { name: "scripted", version: "1.0.0" },
        authMethods: [],
        ...initialize,
      },
      authenticate: {},
      "session/new": () => {
        const n = this.#sessions++;
        return { sessionId: this.#options.sessionIds?.[n] ?? `s-${n + 1}`, ...session };
      },
      "session/load": { ...session },
      "session/resume": { ...session },
      "session/close": {},
      "session/delete": {},
      "session/list": { sessions: [] },
      "session/set_mode": {},
      "session/prompt": { stopReason: "end_turn" },
    };
  }

  /** The n-th process that was started (from 0), as soon as it has started. */
  process(n = 0, deadlineMs?: number): Promise<ScriptedProcess> {
    const there = this.processes[n];
    if (there !== undefined) return Promise.resolve(there);
    const waiting = this.#waiting.get(n) ?? new Deferred<ScriptedProcess>();
    this.#waiting.set(n, waiting);
    const started = (): string => `${this.processes.length} processes were started`;
    return patient(within(waiting.promise, `process ${n} of the scripted agent starts`, deadlineMs, started));
  }

  /** Changes an answer from now on. */
  setAuto(method: string, answer: Auto): void {
    this.#auto[method] = answer;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let agent: ScriptedProcess | undefined;
    const splitter = new LineSplitter((bytes) => {
      const event: Loose = JSON.parse(bytes.toString("utf8"));
      if (event.event === "hello") agent = this.#started(socket, event);
      else if (agent !== undefined) {
        const line = agent.event(event);
        if (line !== undefined && isRequest(line.message)) void this.#answer(agent, line.message);
      }
    });
    socket.on("data", (chunk: Buffer) => splitter.push(chunk));
    socket.on("error", () => {}); // a killed process resets; "close" follows
    socket.on("close", () => {
      this.#sockets.delete(socket);
      agent?.ended();
    });
  }

  #started(socket: Socket, hello: Loose): ScriptedProcess {
    const index = this.processes.length;
    const agent = new ScriptedProcess(socket, hello, index);
    this.processes.push(agent);
    this.#waiting.get(index)?.resolve(agent);
    this.#waiting.delete(index);
    return agent;
  }

  async #answer(agent: ScriptedProcess, message: Message): Promise<void> {
    const auto = this.#auto[message.method ?? ""];
    if (auto === undefined || auto === false) return;
    try {
      const result: unknown = typeof auto === "function" ? await auto(message.params, agent, message) : auto;
      if (result !== undefined) await agent.answer(message, result);
    } catch (error) {
      const thrown: Loose = error;
      const answer = { code: -32603, message: "failed", ...thrown, ...(thrown.message && { message: thrown.message }) };
      await agent.fail(message, answer).catch(() => {}); // the process may be gone by now
    }
  }

  /** Fails when one of its processes, or a child of one, still runs. Dispose the master first. */
  async [Symbol.asyncDispose](): Promise<void> {
    const left = await leftovers(this.marker, 4_000);
    killMarked(this.marker);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    rmSync(this.#folder, { recursive: true, force: true });
    if (left.length > 0) {
      throw new Error(`a scripted agent was left behind: ${left.map((one) => `${one.pid} ${one.command}`).join("; ")}`);
    }
  }
}

/** `await using agent = fakeAgent({ sessionIds: ["a"] })`, before the master that uses it. */
export const fakeAgent = (options: ScriptedAgentOptions = {}): ScriptedAgent => new ScriptedAgent(options);
