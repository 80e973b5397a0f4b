// The Helper's end of the proposal socket: one request line per connection, then the lines it is given. It knows framing,
// bounds and places; what a request means it leaves to others.
import { type Server, type Socket, createServer } from "node:net";
import type { HelperInstance } from "./channel.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type EndpointPlace, platformPlace } from "./endpoint.ts";
import { maxConnections, readMs } from "./limits.ts";
import { LineBuffer } from "./line-buffer.ts";
import { codeOf, listenPrivately } from "./private-listener.ts";

/** One connection whose request has arrived. */
export interface Responder {
  /** Writes one line; `false` when it could not be handed over. */
  send(line: string): Promise<boolean>;
  /** Closes after what was sent. Doing it twice is fine. */
  close(): void;
  /** Calls back when the other side is gone; at once if it already is. */
  onGone(gone: () => void): void;
}

export interface ServerOptions {
  readonly folder: string;
  readonly instance: HelperInstance;
  /** Called once per connection with its line, without the line end. It must close the connection. */
  readonly serve: (line: Buffer, responder: Responder) => void;
  /** The socket is lost; nobody can connect any more. */
  readonly onLost: () => void;
  readonly log: (event: string, fields: Readonly<Record<string, string | number>>) => void;
  readonly place?: EndpointPlace;
  readonly clock?: Clock;
}

export type OpenedServer =
  { readonly ok: true; readonly server: ProposalServer } | { readonly ok: false; readonly message: string };

export class ProposalServer implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #closed: Promise<void> | undefined;

  private constructor(path: string, options: ServerOptions) {
    this.path = path;
    // A client may close its half and still read.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#admit(socket, options));
  }

  /** Binds in a folder that is proven to be private; what cannot be proven is a refusal with a message for people. */
  static async open(options: ServerOptions): Promise<OpenedServer> {
    const place = options.place ?? platformPlace();
    const endpoint = place.path(options.folder, options.instance);
    if (!endpoint.ok) return endpoint;
    const opened = new ProposalServer(endpoint.path, options);
    const server = opened.#server;
    const listening = await listenPrivately(server, { folder: options.folder, path: endpoint.path }, place);
    if (!listening.ok) return listening;
    server.on("error", (error) => options.log("proposal_socket_error", { code: codeOf(error) }));
    server.on("close", () => opened.#lost(options));
    return { ok: true, server: opened };
  }

  /** Takes no more connections, closes those there are and removes the socket. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
      for (const socket of this.#connections) socket.destroy();
    });
    await this.#closed;
  }

  #lost(options: ServerOptions): void {
    if (this.#closed === undefined) options.onLost();
  }

  #admit(socket: Socket, options: ServerOptions): void {
    const { log } = options;
    socket.on("error", () => {}); // 'close' follows and says all that matters
    if (this.#connections.size >= maxConnections) {
      log("proposal_connection_refused", { connections: this.#connections.size });
      socket.destroy();
      return;
    }
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
    readOneLine(socket, { clock: options.clock ?? systemClock, ...options });
  }
}

type Reading = Pick<ServerOptions, "serve" | "log"> & { readonly clock: Clock };

function readOneLine(socket: Socket, { serve, log, clock }: Reading): void {
  const buffer = new LineBuffer();
  const give = (why: string) => {
    log("proposal_frame_dropped", { why, bytes: buffer.pendingBytes });
    stop();
    socket.destroy();
  };
  const onData = (chunk: Buffer) => {
    const [first] = buffer.push(chunk);
    if (first === undefined) return;
    if (first.event === "too_long") return give("too_long");
    stop();
    serve(first.line, responderOf(socket));
  };
  const onEnd = () => give("ended");
  const stopTimer = clock.after(readMs, () => give("timeout"));
  const stop = () => {
    stopTimer();
    socket.off("data", onData).off("end", onEnd).off("close", stop);
  };
  socket.on("data", onData).once("end", onEnd).once("close", stop);
}

function responderOf(socket: Socket): Responder {
  let isGone = socket.destroyed || socket.readableEnded;
  const waiting: (() => void)[] = [];
  const gone = () => {
    if (isGone) return;
    isGone = true;
    for (const call of waiting.splice(0)) call();
  };
  // What else a client sends is nothing to anybody; reading it is how its end is seen.
  socket.once("end", gone).once("close", gone).resume();
  return {
    send: async (line) =>
      await new Promise((resolve) => {
        if (socket.destroyed || !socket.writable) return resolve(false);
        const onClose = () => resolve(false);
        socket.once("close", onClose);
        socket.write(`${line}\n`, (error) => {
          socket.off("close", onClose);
          resolve(error === undefined || error === null);
        });
      }),
    close: () => {
      if (socket.destroyed) return;
      socket.end(() => socket.destroy());
    },
    onGone: (call) => {
      if (isGone) call();
      else waiting.push(call);
    },
  };
}
