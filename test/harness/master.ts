// A real daemon for one test: `acp-master serve --json` in a home of its own.
import { within } from "./events.ts";
import { Home, type HomeOptions } from "./home.ts";
import { LineSplitter } from "./lines.ts";
import { processGone } from "./processes.ts";
import type { Exit, Program } from "./program.ts";
import { RawClient } from "./raw-client.ts";

export interface MasterOptions extends HomeOptions {
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
}

/** One run of `serve` in a home. */
export class Daemon {
  readonly program: Program;
  /** The ready line, parsed. */
  readonly ready: Promise<{ ready: true; pid: number; socket: string }>;

  constructor(home: Home, args: readonly string[] = []) {
    this.program = home.program(["serve", "--json", ...args]);
    this.ready = new Promise((resolve, reject) => {
      const splitter = new LineSplitter((bytes) => {
        try {
          resolve(JSON.parse(bytes.toString("utf8")));
        } catch {
          reject(new Error(`serve --json printed no JSON: ${bytes.toString("utf8").slice(0, 200)}`));
        }
      });
      this.program.child.stdout.on("data", (chunk: Buffer) => splitter.push(chunk));
      void this.program.exited.then((exit) =>
        reject(new Error(`serve ended before it was ready (${JSON.stringify(exit)}): ${this.program.stderr}`)),
      );
    });
    this.ready.catch(() => {});
  }

  waitReady(): Promise<{ ready: true; pid: number; socket: string }> {
    return within(this.ready, "serve is ready", 15_000, () => this.program.stderr.slice(-2000));
  }
}

export class Master extends Home {
  daemon!: Daemon;
  pid!: number;
  socket!: string;

  /** Starts (or starts again, after `stop` or `kill9`) the daemon in this home. */
  async serve(args: readonly string[] = []): Promise<void> {
    this.daemon = new Daemon(this, args);
    const ready = await this.daemon.waitReady();
    this.pid = ready.pid;
    this.socket = ready.socket;
  }

  /** A raw client on the socket; it is closed with the home. */
  async client(): Promise<RawClient> {
    const client = await RawClient.overSocket(this.socket);
    client.cwd = this.work;
    this.own(client);
    return client;
  }

  /** Kills the daemon as a crash would; nothing of it is asked to clear up. */
  async kill9(): Promise<void> {
    process.kill(this.pid, "SIGKILL");
    await processGone(this.pid);
    await this.daemon.program.exited;
  }

  /** SIGTERM; resolves with the exit. A daemon that does not end in time is killed, and that is an error. */
  stop(deadlineMs = 20_000): Promise<Exit> {
    return this.daemon.program.end("SIGTERM", deadlineMs);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    // Before the clients: a client's going is an event that the daemon would still act on.
    this.own({ [Symbol.asyncDispose]: async () => void (this.daemon.program.running && (await this.stop())) });
    await super[Symbol.asyncDispose]();
  }
}

/** `await using master = await startMaster({ agents: { fake: agent } })`. */
export async function startMaster(options: MasterOptions = {}): Promise<Master> {
  const master = new Master(options);
  try {
    await master.serve(options.args);
  } catch (cause) {
    await master[Symbol.asyncDispose]();
    throw cause;
  }
  return master;
}
