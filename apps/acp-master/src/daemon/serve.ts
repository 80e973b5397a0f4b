// The daemon: puts places, configuration, socket, agents, Helpers and records together, and takes them apart in order.

import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { agentEnvironment } from "../agents/environment.ts";
import { type AgentRow, agentRow, resolveAgents } from "../agents/catalogue.ts";
import { Reaper } from "../agents/reaper.ts";
import { AuditLog } from "../audit/audit-log.ts";
import { type LoadedConfig, loadConfig } from "../config/load-config.ts";
import { type Places, resolvePlaces } from "../config/places.ts";
import type { Config } from "../config/schema.ts";
import { watchConfig } from "../config/watch-config.ts";
import { resolveHelperSpec } from "../helper/helper-spec.ts";
import { JournalWriter } from "../journal/journal-writer.ts";
import { adoptKept } from "../router/keep-sessions.ts";
import { Router } from "../router/router.ts";
import { SessionStore } from "../router/session-store.ts";
import { VERSION } from "../version.ts";
import { collectWholeHeapRarely } from "./heap-growth.ts";
import { createLogger, type Logger } from "./logger.ts";
import { openMasterSocket } from "./master-socket.ts";
import { ensurePrivateFolder } from "./private-folder.ts";
import { openProposalPlaces, type ProposalPlaces } from "./proposal-places.ts";
import { readyLine } from "./ready-line.ts";
import { onShutdownSignal, tolerateClosedOutput } from "./shutdown-signals.ts";
import { startLockWithin } from "./start-lock.ts";
import { takeStartReport } from "./start-report.ts";

/** Longer than any drain takes. */
const STATE_MS = 60_000;
/** So often it is looked whether anybody needs the daemon. */
const lookMs = 5000;

type StopReason = "stop" | "restart";

/** Runs until it is stopped. Returns the exit code: 0 after an orderly stop, 1 when it could not start. */
export async function serve(options: { readonly json: boolean }): Promise<number> {
  collectWholeHeapRarely();
  using _output = tolerateClosedOutput();
  const report = takeStartReport(process.env);
  const refuse = (reason: string, error: string): number => {
    report({ ready: false, reason, error });
    process.stderr.write(`acp-master: ${error}\n`);
    return 1;
  };
  const places = resolvePlaces(process.env);
  const loaded = loadConfig(places.configFile);
  if (!loaded.ok) return refuse("config", loaded.message);
  const folder = ensurePrivateFolder(places.stateDir);
  if (!folder.ok) return refuse(folder.reason, folder.message);
  // A log that cannot be written is lost, no more; but others must not be able to read it or lead it elsewhere.
  const logFolder = ensurePrivateFolder(places.logDir);
  if (!logFolder.ok && logFolder.reason === "rights") return refuse(logFolder.reason, logFolder.message);

  // Who has the socket is the daemon: nothing else is opened or started before.
  let accept = (socket: Socket): void => void early.push(socket);
  const early: Socket[] = [];
  const opened = await openMasterSocket(places, (socket) => accept(socket));
  if (!opened.ok) return refuse(opened.reason, opened.message);
  await using socket = opened.socket;
  // A daemon that is still ending has given its socket back, but not the records yet.
  const state = await startLockWithin(places.stateDir, "state", STATE_MS);
  if (!state) {
    return refuse(
      "unclear",
      `Another daemon still writes in ${places.stateDir}; look for one that does not end (ps) and end it.`,
    );
  }
  const daemon = new Daemon(places, loaded.config);
  accept = (client) => daemon.router.accept(client);
  for (const client of early) accept(client);
  const facts = { pid: process.pid, socket: socket.path, version: VERSION };
  using _signals = onShutdownSignal({ stop: () => daemon.askToStop("stop") });
  report({ ready: true, ...facts });
  process.stdout.write(readyLine(facts, options.json));
  const reason = await daemon.stopAsked;
  await socket.stopAccepting();
  await daemon.stop(reason);
  state.release();
  return 0;
}

class Daemon {
  readonly router: Router;
  readonly stopAsked: Promise<StopReason>;
  readonly #log: Logger;
  readonly #reaper: Reaper;
  readonly #record: AuditLog;
  readonly #journals: JournalWriter;
  readonly #store: SessionStore;
  readonly #watch: Disposable;
  readonly #places: Places;
  readonly #proposals: ProposalPlaces;
  readonly #idle: NodeJS.Timeout;
  #config: Config;
  #configProblem: string | undefined;
  #stop!: (reason: StopReason) => void;

  constructor(places: Places, config: Config) {
    this.#places = places;
    this.#config = config;
    this.stopAsked = new Promise((resolve) => (this.#stop = resolve));
    this.#log = createLogger(places, config.log.level);
    const runMarker = randomUUID();
    this.#reaper = Reaper.start({ runMarker, log: this.#log });
    this.#record = AuditLog.open(places.stateDir, { sync: config.audit.sync, log: this.#log });
    const reportJournal = (what: string): void => this.#log.warn({ what }, "journal");
    this.#journals = new JournalWriter({ report: reportJournal });
    this.#store = new SessionStore(places.stateDir, this.#journals, reportJournal);
    const proposer = fileURLToPath(new URL("acp-propose.js", import.meta.url));
    const proposals = openProposalPlaces(places, proposer, process.env);
    this.#proposals = proposals;
    if (proposals.problem !== undefined) this.#log.warn({ reason: proposals.problem }, "no direct proposals");
    const noAgent = { env: {}, passEnv: [] };
    this.router = new Router({
      config,
      agents: () => this.#agents,
      agentRows: () => this.#agentRows,
      reaper: this.#reaper,
      agentEnvironment: (definition) => ({
        ...agentEnvironment(definition, process.env, runMarker),
        ...proposals.agentEnvironment,
      }),
      helpers: {
        spec: ({ agent }) =>
          resolveHelperSpec(this.#config.agents[agent.name]?.helper ?? this.#config.helper, {
            configDir: dirname(places.configFile),
          }),
        environment: { ...agentEnvironment(noAgent, process.env, runMarker), ...proposals.helperEnvironment },
        socketDir: proposals.socketDir,
        version: VERSION,
        maxFrameBytes: config.limits.frameBytes,
        limit: config.limits.helpers,
      },
      host: {
        program: fileURLToPath(new URL("host-client.js", import.meta.url)),
        environment: agentEnvironment(noAgent, process.env, runMarker),
      },
      record: this.#record,
      store: this.#store,
      log: this.#log,
      socketPath: places.socketPath,
      noProposals: () => proposals.problem,
      configStatus: () => ({
        file: places.configFile,
        ...(this.#configProblem === undefined ? {} : { problem: this.#configProblem }),
      }),
      stop: (reason) => this.askToStop(reason),
    });
    this.#watch = watchConfig(places.configFile, (loaded) => this.#reconfigure(loaded));
    this.#idle = setInterval(() => this.#exitWhenIdle(), lookMs);
    this.#idle.unref();
    this.#log.info({ version: VERSION, socket: places.socketPath }, "daemon started");
    adoptKept(this.router).catch((error: unknown) => this.#log.error({ err: error }, "kept sessions"));
  }

  askToStop(reason: StopReason): void {
    this.#stop(reason);
  }

  /** Everything is settled, written and gone when this returns. */
  async stop(reason: StopReason): Promise<void> {
    clearInterval(this.#idle);
    this.#watch[Symbol.dispose]();
    this.#log.info({ reason }, "daemon stops");
    await this.router.running.drain(this.#config.daemon.drainSeconds * 1000);
    await this.router.stop(reason);
    this.#proposals[Symbol.dispose]();
    await this.#reaper[Symbol.asyncDispose]();
    this.#store[Symbol.dispose]();
    await this.#journals[Symbol.asyncDispose]();
    this.#record[Symbol.dispose]();
    this.#log.info({ reason }, "daemon stopped");
  }

  #catalogue = lazily(() =>
    resolveAgents({
      agents: this.#config.agents,
      demoAgent: fileURLToPath(new URL("demo-agent.js", import.meta.url)),
      environment: process.env,
    }),
  );

  get #agents(): ReturnType<Router["settings"]["agents"]> {
    return new Map([...this.#catalogue.value].map(([name, entry]) => [name, entry.definition]));
  }

  get #agentRows(): readonly AgentRow[] {
    // What is on PATH may have changed since it was looked up.
    this.#catalogue.forget();
    return [...this.#catalogue.value.values()].map(agentRow);
  }

  #reconfigure(loaded: LoadedConfig): void {
    if (!loaded.ok) {
      this.#configProblem = loaded.message;
      this.#log.warn(
        { file: this.#places.configFile },
        "the changed configuration is not valid; the old one stays in force",
      );
      return;
    }
    this.#configProblem = undefined;
    this.#config = loaded.config;
    this.#catalogue.forget();
    this.#log.level = loaded.config.log.level;
    this.#log.info({ file: this.#places.configFile }, "configuration changed");
    this.router.reconfigure(loaded.config);
  }

  #exitWhenIdle(): void {
    const minutes = this.#config.daemon.idleExitMinutes;
    if (minutes > 0 && this.router.idleMs(lookMs) >= minutes * 60_000) this.askToStop("stop");
  }
}

/** Looked up when it is first needed, until it is forgotten. */
function lazily<Value>(make: () => Value): { readonly value: Value; forget(): void } {
  let made: { readonly value: Value } | undefined;
  return {
    get value() {
      made ??= { value: make() };
      return made.value;
    },
    forget() {
      made = undefined;
    },
  };
}
