// Which process serves whom: one per agent, definition and announced capabilities, started once however many ask, stopped
// when nobody needs it. Keeps the back-off of each agent.

import { AgentOutput } from "../agents/agent-output.ts";
import { type AgentExit, type AgentLog, AgentProcess } from "../agents/agent-process.ts";
import { type AgentDefinition, definitionDigest } from "../agents/agent-definition.ts";
import { BackOff } from "../agents/back-off.ts";
import type { Reaper } from "../agents/reaper.ts";
import { asRecord } from "../protocol/json-value.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";
import { VERSION } from "../version.ts";
import { agentErrorCode } from "./agent-error.ts";
import { AgentLink, type LinkOwner } from "./agent-link.ts";
import type { ClientCapabilities } from "./client-capabilities.ts";
import { json } from "./message.ts";
import { withMember } from "./raw-object.ts";
import { StartTrials } from "./start-trials.ts";
import { wait } from "../wait.ts";
import { type Envelope, parseFrame, spanBytes } from "@acp-master/wire";

/** Installing an agent on its first use takes minutes, answering `initialize` seconds. */
const INITIALIZE_MS = 180_000;
/** A wait of up to this long is sat out; a longer one is an answer. */
const PATIENT_MS = 2000;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

export interface PoolSettings {
  readonly reaper: Reaper;
  environment(definition: AgentDefinition): Record<string, string>;
  readonly maxFrameBytes: () => number;
  /** So long a process without session and client may run on. */
  readonly idleMs: () => number;
  readonly log: AgentLog;
}

export type Acquired =
  { readonly ok: true; readonly link: AgentLink } | { readonly ok: false; readonly error: RpcError };

export interface AgentEnd {
  readonly agent: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly at: number;
  readonly message: string;
}

export class AgentPool {
  readonly links = new Set<AgentLink>();
  /** The last ends of processes, newest last. */
  readonly ends: AgentEnd[] = [];
  readonly #settings: PoolSettings;
  readonly #owner: LinkOwner;
  readonly #starts = new Map<string, Promise<Acquired>>();
  readonly #backOffs = new Map<string, BackOff>();
  readonly #trials = new StartTrials<Acquired>();
  readonly #idle = new Map<AgentLink, () => void>();
  #stopping = false;

  constructor(settings: PoolSettings, owner: LinkOwner) {
    this.#settings = settings;
    this.#owner = owner;
  }

  /** Any live process of this agent; its answer to `initialize` serves everybody. */
  any(agent: string): AgentLink | undefined {
    return [...this.links].find((link) => link.agent === agent && link.state === "ready");
  }

  /**
   * The process for a client of these capabilities; started when there is none. With `alone` one in which no session runs
   * (agents that are configured to get a process per session).
   */
  acquire(definition: AgentDefinition, capabilities: ClientCapabilities, alone: boolean): Promise<Acquired> {
    const key = `${definition.name}\0${definitionDigest(definition)}\0${capabilities.digest}`;
    const found = [...this.links].find(
      (link) =>
        link.key === key &&
        link.state === "ready" &&
        (!alone || (link.sessions.size === 0 && link.creations.size === 0)),
    );
    if (found) return Promise.resolve({ ok: true, link: found });
    if (this.#stopping) {
      return Promise.resolve({ ok: false, error: fault("stopping", "acp-master is stopping; try again in a moment.") });
    }
    // A start for one session alone is nobody else's.
    if (alone && definition.share === "session") return this.#startInTurn(definition, key, capabilities);
    const running = this.#starts.get(key);
    if (running) return running;
    const start = this.#startInTurn(definition, key, capabilities).finally(() => this.#starts.delete(key));
    this.#starts.set(key, start);
    return start;
  }

  /** Called whenever a session or client left a process. */
  consider(link: AgentLink): void {
    const needed = link.sessions.size > 0 || link.clients.size > 0 || link.creations.size > 0;
    this.#idle.get(link)?.();
    this.#idle.delete(link);
    if (needed || link.state === "ended") return;
    const over = (): void => {
      this.#idle.delete(link);
      void this.retire(link);
    };
    this.#idle.set(link, wait(this.#settings.idleMs(), over));
  }

  /** Ends one process; no new session goes to it. */
  retire(link: AgentLink): Promise<AgentExit> {
    if (link.state !== "ended") link.state = "leaving";
    return link.process.stop();
  }

  forget(link: AgentLink, exit: AgentExit): void {
    this.#idle.get(link)?.();
    this.#idle.delete(link);
    this.links.delete(link);
    const { exitCode, signal, message } = exit;
    this.ends.push({ agent: link.agent, exitCode, signal, at: Date.now(), message });
    if (this.ends.length > 20) this.ends.shift();
    if (exit.cause === "stopped") return;
    this.#backOff(link.agent).failed(Date.now(), exit);
    this.#trials.failed(link.agent);
  }

  /** A process of the agent opened a session. That is no proof that it can do a turn, so failures still count. */
  opened(agent: string): void {
    this.#trials.proved(agent);
  }

  /** The agent did what it is for: earlier failures count no more. */
  worked(agent: string): void {
    this.#backOffs.get(agent)?.succeeded();
  }

  /** Another definition may cure what failed. */
  resetBackOffs(): void {
    this.#backOffs.clear();
  }

  /** Somebody cured it, or wants to see it fail again. */
  resetBackOff(agent: string): void {
    this.#backOffs.delete(agent);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const stopWaiting of this.#idle.values()) stopWaiting();
    this.#idle.clear();
    await Promise.allSettled([...this.links].map((link) => this.retire(link)));
    await Promise.allSettled(this.#starts.values());
  }

  #startInTurn(definition: AgentDefinition, key: string, capabilities: ClientCapabilities): Promise<Acquired> {
    return this.#trials.start(definition.name, () => this.#start(definition, key, capabilities));
  }

  async #start(definition: AgentDefinition, key: string, capabilities: ClientCapabilities): Promise<Acquired> {
    const attempt = this.#backOff(definition.name).attempt(Date.now());
    const waitMs = attempt.state === "ready" ? 0 : attempt.allowedAt - Date.now();
    if (attempt.state === "open" || (attempt.state === "waiting" && waitMs > PATIENT_MS)) {
      const message = `The agent ${definition.name} keeps failing and is not started again before ${Math.ceil(waitMs / 1000)} s have passed. To try at once: acp-master agents --retry ${definition.name}. ${attempt.reason}`;
      return { ok: false, error: fault("agent_failed_to_start", message) };
    }
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const output = await AgentOutput.open();
    if (this.#stopping) {
      output?.discard();
      return { ok: false, error: fault("stopping", "acp-master is stopping.") };
    }

    const link = new AgentLink(definition, key, capabilities, this.#owner);
    this.links.add(link);
    link.process = AgentProcess.start(definition, link, {
      reaper: this.#settings.reaper,
      environment: this.#settings.environment(definition),
      output,
      maxFrameBytes: this.#settings.maxFrameBytes(),
      maxQueuedBytes: MAX_QUEUED_BYTES,
      log: this.#settings.log,
    });
    const result = await initialize(link, capabilities);
    if (!result.ok) {
      await this.retire(link);
      return result;
    }
    this.consider(link);
    return result;
  }

  #backOff(agent: string): BackOff {
    let backOff = this.#backOffs.get(agent);
    if (!backOff) {
      backOff = new BackOff();
      this.#backOffs.set(agent, backOff);
    }
    return backOff;
  }
}

/** Agents are offered version 1 only: some answer a draft when they are asked for more. */
async function initialize(link: AgentLink, capabilities: ClientCapabilities): Promise<Acquired> {
  const failed = (message: string): Acquired => ({
    ok: false,
    error: fault("agent_failed_to_start", message, { stderrTail: link.process.stderrTail() }),
  });
  return await new Promise<Acquired>((resolve) => {
    const stopWaiting = wait(INITIALIZE_MS, () => {
      resolve(failed(`The agent ${link.agent} has not answered "initialize" for ${INITIALIZE_MS / 1000} s.`));
    });
    const params = withMember(
      json({ protocolVersion: 1, clientInfo: { name: "acp-master", title: "acp-master", version: VERSION } }),
      "clientCapabilities",
      capabilities.announced,
    );
    link.call("initialize", params, {
      answered(envelope) {
        stopWaiting();
        if (envelope.result.start < 0) {
          resolve(failed(`The agent ${link.agent} refused "initialize". ${errorText(envelope)}`));
          return;
        }
        const initialized = asRecord(parseFrame(envelope.bytes, envelope.result.start, envelope.result.end));
        if (initialized["protocolVersion"] !== 1) {
          resolve(
            failed(
              `The agent ${link.agent} speaks protocol version ${JSON.stringify(initialized["protocolVersion"]) ?? "unknown"}; acp-master speaks version 1. Use a version of the agent that speaks 1.`,
            ),
          );
          return;
        }
        link.initialized = initialized;
        link.initializedBytes = spanBytes(envelope.bytes, envelope.result);
        link.state = "ready";
        resolve({ ok: true, link });
      },
      failed(error) {
        stopWaiting();
        // Whatever ended it, it never became ready.
        resolve({ ok: false, error: fault("agent_failed_to_start", error.message, { ...error.data }) });
      },
    });
  });
}

const errorText = (answer: Envelope): string => `It answered with error code ${agentErrorCode(answer) ?? "unknown"}.`;
