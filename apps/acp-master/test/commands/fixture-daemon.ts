// A daemon of a few lines: it speaks the protocol on the socket of an installation and answers what the test says.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Installation } from "./command-line.ts";

/** JSON of any shape: a test reads what it expects, and fails where that is not there. */
export type Loose = ReturnType<typeof JSON.parse>;

/** What a test says to a request: a result, or a thrown `Refusal`. */
export type Answer = (params: Loose, peer: Peer) => unknown;

export class Refusal {
  readonly error: object;
  constructor(code: number, message: string, data?: object) {
    this.error = { code, message, ...(data === undefined ? {} : { data }) };
  }
}

/** One connection of a client. */
export class Peer {
  readonly received: Loose[] = [];
  readonly closed: Promise<unknown>;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (message: Loose) => void>();
  #nextId = 1;

  constructor(socket: Socket, answers: Readonly<Record<string, Answer>>) {
    this.#socket = socket;
    this.closed = once(socket, "close");
    socket.on("error", () => {}); // a client that is killed resets the connection
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) void this.#take(JSON.parse(line), answers);
    });
  }

  async #take(message: Loose, answers: Readonly<Record<string, Answer>>): Promise<void> {
    this.received.push(message);
    if (message.method === undefined) return this.#waiting.get(message.id)?.(message);
    const answer = answers[message.method];
    if (message.id === undefined) return void answer?.(message.params, this);
    try {
      if (answer === undefined) throw new Refusal(-32601, "no such method");
      this.send({ id: message.id, result: (await answer(message.params, this)) ?? {} });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.send({ id: message.id, error: error.error });
    }
  }

  send(message: object): void {
    this.#socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** A line as it is. */
  sendText(text: string): void {
    this.#socket.write(text);
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  request(method: string, params: object, id = this.#nextId++): Promise<Loose> {
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    return answered;
  }

  update(sessionId: string, update: object): void {
    this.notify("session/update", { sessionId, update });
  }

  hangUp(): void {
    this.#socket.destroy();
  }
}

export class FixtureDaemon implements AsyncDisposable {
  readonly peers: Peer[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(place: Installation, answers: Readonly<Record<string, Answer>>): Promise<FixtureDaemon> {
    const all = {
      initialize: () => ({ protocolVersion: 1, _meta: { "acp-master": { version: "0.1.0", clientId: "c1" } } }),
      ...answers,
    };
    const server = createServer((socket) => daemon.peers.push(new Peer(socket, all)));
    const daemon = new FixtureDaemon(server);
    server.listen(place.socket);
    await once(server, "listening");
    writeFileSync(join(place.home, "run", "master.json"), JSON.stringify({ pid: process.pid, socket: place.socket }));
    return daemon;
  }

  /** Every request and notification of every client, as [method, params]. */
  get heard(): [string, Loose][] {
    return this.peers
      .flatMap((peer) => peer.received)
      .filter(({ method }) => method !== undefined)
      .map(({ method, params }) => [method, params]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const peer of this.peers) peer.hangUp();
    await closed;
  }
}
