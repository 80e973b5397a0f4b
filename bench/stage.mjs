// What a run stands on: a folder, a daemon, relays, programs. Everything that is started here is ended here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Peer } from "./peer.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const programs = process.env.ACP_MASTER_PROGRAMS ?? here("../apps/acp-master/dist");
const master = join(programs, "acp-master.js");
/** What is on PATH under that name. */
const onPath = here("../bin/acp-master.cjs");
const agent = here("agent.mjs");

export class Stage {
  #folder = mkdtempSync(join(realpathSync(tmpdir()), "acp-bench-"));
  #ends = [];
  #named = 0;
  work = this.#make("work");
  #profiles;

  /** @param profiles the folder for CPU profiles of daemons and shims; none are made without it. */
  constructor(profiles) {
    this.#profiles = profiles;
  }

  get #profiling() {
    return this.#profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${this.#profiles}`];
  }

  #make(name) {
    const path = join(this.#folder, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  path(name) {
    return join(this.#folder, `${++this.#named}-${name}`);
  }

  /** A home of its own, with the bench's agent in its configuration. */
  home(config = {}) {
    const home = this.#make(`home-${++this.#named}`);
    const agents = { bench: { command: process.execPath, args: [agent] } };
    writeFileSync(join(home, "config.json"), JSON.stringify({ agents, defaultAgent: "bench", ...config }));
    return home;
  }

  /** Ends it with the stage. */
  own(child) {
    this.#ends.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    });
    return child;
  }

  /** A daemon: `{child, socket, home, memory()}`. */
  async daemon({ config, home = this.home(config) } = {}) {
    const report = this.path("memory");
    const memory = ["--expose-gc", "--import", here("report-memory.mjs")];
    const child = this.own(
      spawn(process.execPath, [...memory, ...this.#profiling, master, "serve", "--json"], {
        env: { ...process.env, ACP_MASTER_HOME: home, BENCH_MEMORY_FILE: report },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    return { child, home, socket: JSON.parse(line).socket, memory: () => memoryOf(child, report) };
  }

  async stop({ child }) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  }

  async #socketPeer(path) {
    const socket = connect(path);
    await once(socket, "connect");
    this.#ends.push(() => socket.destroy());
    return Object.assign(new Peer(socket, socket), { close: () => socket.destroy() });
  }

  #stdioPeer(command, args, env = process.env) {
    const child = this.own(spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] }));
    child.stdin.on("error", () => {});
    return Object.assign(new Peer(child.stdout, child.stdin), { child, close: () => child.stdin.end() });
  }

  async #relay(script, args = []) {
    const path = this.path("relay");
    const line = [here(script), ...args, path, process.execPath, agent];
    const child = this.own(spawn(process.execPath, line, { stdio: ["ignore", "pipe", "inherit"] }));
    await Promise.race([
      once(child.stdout, "data"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`${script} ended with ${code}`))),
    ]);
    return path;
  }

  direct() {
    return this.#stdioPeer(process.execPath, [agent]);
  }

  async relay() {
    return this.#socketPeer(await this.#relay("socket-relay.mjs"));
  }

  async relays() {
    return this.#stdioPeer(process.execPath, [here("stdio-relay.mjs"), await this.#relay("socket-relay.mjs")]);
  }

  async proxy() {
    return this.#socketPeer(await this.#relay("sdk-proxy.mjs"));
  }

  /** Over a program that listens at the path behind `args` and starts what stands behind that. */
  async relayed(script, args) {
    return this.#socketPeer(await this.#relay(script, args));
  }

  socket(daemon) {
    return this.#socketPeer(daemon.socket);
  }

  connect(home) {
    return this.#stdioPeer(process.execPath, [...this.#profiling, onPath, "connect", "bench"], {
      ...process.env,
      ACP_MASTER_HOME: home,
    });
  }

  /** Ends a daemon that a `connect` has started. */
  async stopHome(home) {
    const child = spawn(process.execPath, [master, "stop"], {
      env: { ...process.env, ACP_MASTER_HOME: home },
      stdio: "ignore",
    });
    await once(child, "exit");
  }

  async end() {
    for (const end of this.#ends.toReversed()) await end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** After a collection, in bytes: `{rss, heapUsed, external}`. */
async function memoryOf(child, report) {
  rmSync(report, { force: true });
  child.kill("SIGUSR2");
  while (!existsSync(report)) await new Promise((resolve) => setTimeout(resolve, 5));
  return JSON.parse(readFileSync(report, "utf8"));
}

/** Resident bytes of a process, without a collection. */
export const residentBytes = (pid) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
