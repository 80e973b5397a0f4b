// One connection to the daemon, as an ACP client on the official SDK. It starts nothing and decides nothing.
import { connect, type Socket } from "node:net";
import { client, type ClientConnection } from "@agentclientprotocol/sdk";
import { asObject } from "../json.ts";
import type { JsonObject, Role } from "../protocol.ts";
import { linkError, offline } from "./link-error.ts";
import { messageStream, type OnUpdates } from "./message-stream.ts";

/** Where the daemon listens, and the version that it must have. */
export interface DaemonAddress {
  readonly socketPath: string;
  readonly version: string;
}

export interface AcpLinkOptions {
  readonly daemon: DaemonAddress;
  readonly role: Role;
  readonly events: boolean;
  readonly onUpdates?: OnUpdates;
  readonly onNotification?: (method: string, params: JsonObject) => void;
  /** What an agent asks of this client; the signal says that no answer is wanted any more. */
  readonly onRequest?: (method: string, params: JsonObject, signal: AbortSignal) => Promise<object>;
}

const closeMs = 1000;

/** The same for all connections: sessions of the console share agent processes. */
const capabilities = { elicitation: { form: {}, url: {} } };

export class AcpLink {
  /** Resolves when the connection is over, from whichever side. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #connection: ClientConnection;

  private constructor(socket: Socket, options: AcpLinkOptions) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    const app = client({ name: "acp-console" })
      .onRequest("*", async ({ method, params, signal }) => {
        if (options.onRequest === undefined) throw new Error(`the console does not serve ${method}`);
        return await options.onRequest(method, asObject(params), signal);
      })
      .onNotification("*", ({ method, params }) => options.onNotification?.(method, asObject(params)));
    this.#connection = app.connect(messageStream(socket, options.onUpdates ?? (() => undefined)));
    this.#connection.signal.addEventListener("abort", () => socket.destroy(), { once: true });
  }

  /** Throws a LinkError: nobody listens, another version listens. */
  static async open(options: AcpLinkOptions): Promise<AcpLink> {
    const { version } = options.daemon;
    const link = new AcpLink(await dialled(options.daemon.socketPath), options);
    try {
      await link.request("initialize", {
        protocolVersion: 1,
        clientCapabilities: capabilities,
        clientInfo: { name: "acp-console", version },
        _meta: { "acp-master": { version, agent: null, role: options.role, events: options.events, echo: true } },
      });
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /** Waits as long as it takes, or as the connection lives. Aborting asks for an early answer. */
  async request(method: string, params: object, cancel?: AbortSignal): Promise<JsonObject> {
    try {
      const options = cancel === undefined ? {} : { cancellationSignal: cancel };
      return asObject(await this.#connection.agent.request(method, params, options));
    } catch (error) {
      throw linkError(error, !this.#connection.signal.aborted);
    }
  }

  notify(method: string, params: object): void {
    // A connection that is gone is seen elsewhere.
    void this.#connection.agent.notify(method, params).catch(() => {});
  }

  /** What was answered already is still written; nothing is read any more. */
  close(): void {
    // Answers of this turn of the event loop are on their way to the socket.
    setImmediate(() => {
      this.#socket.end(() => this.#connection.close());
      // A daemon that takes nothing is not waited for.
      setTimeout(() => this.#connection.close(), closeMs).unref();
    });
  }
}

function dialled(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", (error) => reject(offline(error)));
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // Its close tells what there is to know.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}
