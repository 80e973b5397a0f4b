// A client of the proposal socket that sends what it is told and keeps what it gets.
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { isJsonObject } from "../src/strict-json.ts";

function parsed(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  if (!isJsonObject(value)) throw new Error("a line is no object");
  return value;
}

export class RawClient {
  readonly socket: Socket;
  #received = "";
  #isClosed = false;
  readonly #watchers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString();
      this.#changed();
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  static async open(path: string): Promise<RawClient> {
    const socket = connect(path);
    const client = new RawClient(socket);
    await once(socket, "connect");
    return client;
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** The next lines, parsed; fails when the connection closes before. */
  async lines(count: number): Promise<Record<string, unknown>[]> {
    await this.#until(() => this.#received.split("\n").length > count || this.#isClosed);
    const whole = this.#received.split("\n").slice(0, -1);
    if (whole.length < count) throw new Error(`only ${whole.length} of ${count} lines came`);
    return whole.map(parsed);
  }

  /** All lines up to the close. */
  async all(): Promise<Record<string, unknown>[]> {
    await this.#until(() => this.#isClosed);
    return this.#received.split("\n").slice(0, -1).map(parsed);
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        const watch = () => {
          this.#watchers.delete(watch);
          resolve();
        };
        this.#watchers.add(watch);
      });
    }
  }

  #changed(): void {
    for (const watch of this.#watchers) watch();
  }
}
