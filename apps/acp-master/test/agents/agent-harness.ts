// Starts real agents for the tests and sees to it that none is left when a test ends.
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { AgentDefinition } from "../../src/agents/agent-definition.ts";
import { AgentOutput } from "../../src/agents/agent-output.ts";
import { AgentProcess } from "../../src/agents/agent-process.ts";
import type { AgentExit, AgentPeer, AgentProcessOptions } from "../../src/agents/agent-process.ts";
import { agentEnvironment } from "../../src/agents/environment.ts";
import { Reaper } from "../../src/agents/reaper.ts";
import { carriersOf } from "./process-table.ts";

export function agentDefinition(command: string, args: readonly string[] = []): AgentDefinition {
  return {
    name: "tested",
    command,
    args,
    env: {},
    passEnv: [],
    share: "pool",
    shell: "sh",
    arming: "required",
    approvalsOption: "auto",
  };
}

/** The other side of an agent: keeps what comes, in order, and wakes whoever waits for it. */
export class Listener implements AgentPeer {
  /** Frames as text, then "exited" once per call. */
  readonly seen: string[] = [];
  readonly exits: AgentExit[] = [];
  drains = 0;
  #waiting: (() => void)[] = [];

  frame(bytes: Buffer, start: number, end: number): void {
    this.#note(bytes.toString("utf8", start, end));
  }

  chunkEnd(): void {}

  drained(): void {
    this.drains++;
    this.#wake();
  }

  exited(exit: AgentExit): void {
    this.exits.push(exit);
    this.#note("exited");
  }

  async saw(count: number): Promise<string[]> {
    await this.reached(() => this.seen.length >= count);
    return this.seen;
  }

  async reached(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #note(what: string): void {
    this.seen.push(what);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Through what an agent's stdout comes. */
export type OutputKind = "connection" | "pipe";

/** More than any test starts. */
const OUTPUTS = 8;

export class Stage {
  readonly runMarker = randomBytes(16).toString("hex");
  readonly reaper = Reaper.start({ runMarker: this.runMarker });
  readonly logged: LogLine[] = [];
  readonly #started: AgentProcess[] = [];
  #outputs: (AgentOutput | undefined)[] = [];

  async prepare(kind: OutputKind): Promise<void> {
    if (kind === "pipe") {
      this.#outputs = Array.from({ length: OUTPUTS });
      return;
    }
    this.#outputs = await Promise.all(Array.from({ length: OUTPUTS }, () => AgentOutput.open()));
    expect(this.#outputs).not.toContain(undefined);
  }

  start(definition: AgentDefinition, options: Partial<AgentProcessOptions> = {}) {
    const peer = new Listener();
    const note = (level: LogLine["level"]) => (fields: object, message: string) => {
      this.logged.push({ level, fields: { ...fields }, message });
    };
    expect(this.#outputs.length, "outputs that are left").toBeGreaterThan(0);
    const agent = AgentProcess.start(definition, peer, {
      output: this.#outputs.pop(),
      reaper: this.reaper,
      environment: agentEnvironment(definition, process.env, this.runMarker),
      maxFrameBytes: 1024 * 1024,
      maxQueuedBytes: 1024 * 1024,
      log: { info: note("info"), warn: note("warn"), error: note("error") },
      ...options,
    });
    this.#started.push(agent);
    return { agent, peer };
  }

  sh(script: string, options: Partial<AgentProcessOptions> = {}) {
    return this.start(agentDefinition("/bin/sh", ["-c", script]), options);
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((agent) => agent.stop()));
    for (const output of this.#outputs) output?.discard();
    await this.reaper[Symbol.asyncDispose]();
  }
}

/** A fresh stage for every test; afterwards no process of it may be left. */
export function useStage(output: OutputKind): () => Stage {
  let stage: Stage | undefined;
  beforeEach(async () => {
    stage = new Stage();
    await stage.prepare(output);
  });
  afterEach(async () => {
    if (stage === undefined) return;
    await stage.close();
    expect(carriersOf(stage.runMarker)).toEqual([]);
    expect(stage.reaper.pid).toBeUndefined();
  });
  return () => stage!;
}
