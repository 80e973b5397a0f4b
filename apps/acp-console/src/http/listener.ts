// The listening server: the fence before everything, the routes, and the upgrade to a WebSocket for who is logged in.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { type WebSocket, WebSocketServer } from "ws";
import { closeCodes, subprotocol } from "../protocol.ts";
import type { Settings } from "../settings.ts";
import { cookiesOf } from "./credentials.ts";
import { type FenceSettings, refusalOf } from "./fence.ts";
import type { Login, Logins } from "./logins.ts";
import { routes } from "./routes.ts";

/** The longest frame of a page: a prompt with pictures. */
export const maxMessageBytes = 8 * 1024 * 1024;
const mostPages = 64;
const socketPath = "/api/socket";

export interface ListenerPorts {
  readonly logins: Logins;
  readonly opened: (socket: WebSocket, login: Login) => void;
}

export class Listener {
  /** How many requests the fence refused. */
  refused = 0;
  readonly #settings: Settings;
  readonly #ports: ListenerPorts;
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #sockets = new Map<WebSocket, Login>();
  #fence: FenceSettings;
  #listener: ReturnType<typeof getRequestListener> | undefined;

  private constructor(settings: Settings, ports: ListenerPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#fence = { ...settings, hasTls: settings.tls !== null };
    const limits = { requireHostHeader: false, headersTimeout: 15_000, requestTimeout: 30_000 };
    const handle = (request: IncomingMessage, response: ServerResponse): void => this.#request(request, response);
    this.#server =
      settings.tls === null
        ? createServer(limits, handle)
        : createTlsServer(
            { ...limits, cert: readFileSync(settings.tls.cert), key: readFileSync(settings.tls.key) },
            handle,
          );
    this.#server.maxConnections = 1024;
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      clientTracking: false,
      perMessageDeflate: false,
      // Only ours is named in the answer: the other one is a secret.
      handleProtocols: () => subprotocol,
    });
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
  }

  /** Throws an Error when the address cannot be had or the certificate cannot be read. */
  static async open(settings: Settings, ports: ListenerPorts): Promise<Listener> {
    const listener = new Listener(settings, ports);
    await listener.#listen();
    return listener;
  }

  /** The address that people open. */
  get origin(): string {
    const [first] = this.#settings.origins;
    if (first !== undefined) return first;
    const { host } = this.#settings;
    return `${this.#fence.hasTls ? "https" : "http"}://${isIPv6(host) ? `[${host}]` : host}:${this.#fence.port}`;
  }

  logOut(login: Login): void {
    for (const [socket, each] of this.#sockets) if (each === login) socket.close(closeCodes.loggedOut, "logged out");
  }

  /** Ends everything that is open. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.close(closeCodes.ending, "the console ends");
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    // A browser that does not answer the goodbye is not waited for.
    const timer = setTimeout(() => {
      for (const socket of this.#sockets.keys()) socket.terminate();
      this.#server.closeAllConnections();
    }, 1000);
    await closed;
    clearTimeout(timer);
  }

  async #listen(): Promise<void> {
    const { host, port } = this.#settings;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, exclusive: true }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    const address = this.#server.address();
    this.#fence = { ...this.#fence, port: isAddress(address) ? address.port : port };
    const { logins } = this.#ports;
    const app = routes({
      version: this.#settings.version,
      pageFolder: this.#settings.pageFolder,
      logins,
      cookieName: this.#cookieName,
      isSecure: (name) => this.#fence.hasTls || this.#settings.origins.includes(`https://${name ?? ""}`),
      loggedOut: (login) => this.logOut(login),
    });
    this.#listener = getRequestListener(app.fetch);
  }

  /** Cookies do not separate ports: two consoles of one host must not take each other's. */
  get #cookieName(): string {
    return `acp-console-${this.#fence.port}`;
  }

  #refusal(request: IncomingMessage): string | undefined {
    const { host, origin, "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest } = request.headers;
    const caller = {
      method: request.method ?? "",
      path: (request.url ?? "").split("?", 1)[0] ?? "",
      host,
      origin,
      fetchSite: text(site),
      fetchMode: text(mode),
      fetchDest: text(dest),
      peer: request.socket.remoteAddress,
    };
    const refusal = refusalOf(caller, this.#fence);
    if (refusal !== undefined) this.refused++;
    return refusal;
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    const refusal = this.#refusal(request);
    if (refusal !== undefined || this.#listener === undefined) {
      response.writeHead(403, { "Content-Type": "text/plain", Connection: "close" });
      response.end(`Refused: ${refusal ?? "not ready"}\n`);
      return;
    }
    void this.#listener(request, response);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => {});
    if (this.#refusal(request) !== undefined) return refuse(socket, "403 Forbidden");
    if (request.url !== socketPath) return refuse(socket, "404 Not Found");
    const [protocol, key, ...more] = (request.headers["sec-websocket-protocol"] ?? "").split(/\s*,\s*/);
    const keyText = key?.startsWith("key.") ? key.slice("key.".length) : undefined;
    const login = this.#ports.logins.find(cookiesOf(request.headers.cookie, this.#cookieName), keyText);
    if (protocol !== subprotocol || more.length > 0 || login === undefined) return refuse(socket, "401 Unauthorized");
    if (this.#sockets.size >= mostPages) return refuse(socket, "503 Service Unavailable");
    this.#webSockets.handleUpgrade(request, socket, head, (opened) => {
      this.#sockets.set(opened, login);
      opened.once("close", () => this.#sockets.delete(opened));
      this.#ports.opened(opened, login);
    });
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(",") : value;

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === "object" && address !== null;
