// The console of one test's daemon, and pages of it as a browser has them: log-in, cookie, WebSocket.
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { WebSocket } from "ws";
import type { ApprovalRow, Reply, Requests, ResultOf, ServerMessage } from "../../apps/acp-console/src/protocol.ts";
import { Deferred, patient, Seen, within } from "../harness/events.ts";
import type { Home } from "../harness/home.ts";
import type { Loose } from "../harness/lines.ts";
import { processGone } from "../harness/processes.ts";

const subprotocol = "acp-console.v1";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What a browser keeps of a log-in. */
export interface Credentials {
  readonly cookie: string;
  readonly key: string;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path: string;
  /** Over those of a browser; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export type MessageOf<Type extends ServerMessage["type"]> = Extract<ServerMessage, { type: Type }>;

export class RunningConsole implements AsyncDisposable {
  readonly #home: Home;
  readonly port: number;
  readonly pid: number;

  private constructor(home: Home, port: number) {
    this.#home = home;
    this.pid = RunningConsole.file(home).pid;
    this.port = port;
  }

  /** Runs `acp-master console`; the home ends it when it goes. */
  static async start(home: Home): Promise<RunningConsole> {
    await RunningConsole.address(home);
    return RunningConsole.at(home, Number(new URL(RunningConsole.file(home).address).port));
  }

  /** The console that runs already, on this port. */
  static at(home: Home, port: number): RunningConsole {
    const console = new RunningConsole(home, port);
    home.own(console);
    return console;
  }

  /** What `acp-master console --json ARGS…` prints: an address that logs in once. */
  static async address(home: Home, args: readonly string[] = []): Promise<string> {
    const ran = await home.cli(["console", "--json", ...args], { deadlineMs: 30_000 });
    if (ran.code !== 0) throw new Error(`acp-master console ended with ${ran.code}: ${ran.stderr}`);
    return JSON.parse(ran.stdout).address;
  }

  /** `run/console.json`. */
  static file(home: Home): { pid: number; address: string; version: string } {
    return JSON.parse(readFileSync(join(home.home, "run", "console.json"), "utf8"));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** A token, asked for where the command line asks. */
  async token(role: "controller" | "observer" = "controller"): Promise<string> {
    const socket = connect(join(this.#home.home, "run", "web.sock"));
    socket.write(`${JSON.stringify({ ask: "address", role })}\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    return tokenIn(JSON.parse(Buffer.concat(chunks).toString("utf8")).address);
  }

  /** One request as a browser's own page sends it. */
  http({ method = "GET", path, headers = {}, body }: HttpRequest): Promise<HttpAnswer> {
    const all = { Host: `127.0.0.1:${this.port}`, ...headers };
    const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined);
    const answer = new Promise<HttpAnswer>((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port: this.port, method, path, headers: Object.fromEntries(given), setHost: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
    return within(answer, `${method} ${path}`);
  }

  /** `POST /api/login` with this token. */
  login(token: string, headers: HttpRequest["headers"] = {}): Promise<HttpAnswer> {
    return this.http({
      method: "POST",
      path: "/api/login",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        Origin: this.origin,
        ...headers,
      },
      body: "{}",
    });
  }

  /** A log-in that works. */
  async credentials(role: "controller" | "observer" = "controller"): Promise<Credentials> {
    const answer = await this.login(await this.token(role));
    if (answer.status !== 200) throw new Error(`the log-in was answered with ${answer.status}: ${answer.body}`);
    const cookie = (answer.headers["set-cookie"]?.[0] ?? "").split(";", 1)[0] ?? "";
    return { cookie, key: JSON.parse(answer.body).key };
  }

  /** A WebSocket as a browser's page opens it; `headers` over those of a browser. */
  socket(credentials: Credentials | undefined, headers: HttpRequest["headers"] = {}, options: object = {}): WebSocket {
    const all = { Origin: this.origin, ...(credentials ? { Cookie: credentials.cookie } : {}), ...headers };
    const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined);
    const protocols = credentials === undefined ? [subprotocol] : [subprotocol, `key.${credentials.key}`];
    return new WebSocket(`ws://127.0.0.1:${this.port}/api/socket`, protocols, {
      headers: Object.fromEntries(given),
      perMessageDeflate: false,
      ...options,
    });
  }

  /** A page that is logged in and has its first state. */
  async page(credentials?: Credentials): Promise<ConsolePage> {
    const page = new ConsolePage(this.socket(credentials ?? (await this.credentials())));
    this.#home.own(page);
    await page.next("cards");
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(this.pid, "SIGTERM");
    } catch {
      return; // it went with its daemon
    }
    await processGone(this.pid);
  }
}

/** What an address logs in with. */
export const tokenIn = (address: string): string => new URL(address).hash.slice("#token=".length);

/** One tab. */
export class ConsolePage implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly messages = new Seen<ServerMessage>("page", (message) => JSON.stringify(message).slice(0, 300));
  /** The close code. */
  readonly closed: Promise<number>;
  readonly #replies = new Map<number, Deferred<Reply>>();
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      const message: ServerMessage = JSON.parse(data.toString("utf8"));
      if (message.type === "reply") this.#replies.get(message.id)?.resolve(message);
      this.messages.add(message);
    });
    this.closed = new Promise((resolve) =>
      socket.once("close", (code) => {
        this.messages.end(`the connection closed with ${code}`);
        for (const reply of this.#replies.values()) reply.reject(new Error(`the connection closed with ${code}`));
        resolve(code);
      }),
    );
    socket.on("error", (error) => this.messages.end(`the connection failed: ${error.message}`));
  }

  /** Sends a request; gives its id and its reply. */
  ask<Op extends keyof Requests>(op: Op, params: Requests[Op]["params"]): { id: number; reply: Promise<Reply> } {
    const id = ++this.#lastId;
    const reply = new Deferred<Reply>();
    this.#replies.set(id, reply);
    this.socket.send(JSON.stringify({ id, op, ...params }));
    return { id, reply: patient(within(reply.promise, `the reply to ${op}`, 20_000, () => this.messages.tail())) };
  }

  /** The result; throws at an error. */
  async request<Op extends keyof Requests>(op: Op, params: Requests[Op]["params"]): Promise<ResultOf<Op>> {
    const reply = await this.ask(op, params).reply;
    if (!reply.ok) throw new Error(`${op}: ${JSON.stringify(reply.error)}`);
    // What it really is, is for each test to see.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return reply.result as ResultOf<Op>;
  }

  /** The reason of the error that this is answered with. */
  async refusal<Op extends keyof Requests>(op: Op, params: Requests[Op]["params"]): Promise<string | undefined> {
    const reply = await this.ask(op, params).reply;
    if (reply.ok) throw new Error(`${op} was not refused: ${JSON.stringify(reply.result)}`);
    return reply.error.reason;
  }

  /** The next message of this type that was not taken before. */
  async next<Type extends ServerMessage["type"]>(
    type: Type,
    fits: (message: MessageOf<Type>) => boolean = () => true,
    deadlineMs?: number,
  ): Promise<MessageOf<Type>> {
    const isIt = (message: ServerMessage): message is MessageOf<Type> => message.type === type;
    const found = await this.messages.take((each) => isIt(each) && fits(each), `the next ${type}`, deadlineMs);
    if (!isIt(found)) throw new Error("a message of another type was taken");
    return found;
  }

  /** As `next`, of what comes from now on. */
  coming<Type extends ServerMessage["type"]>(
    type: Type,
    fits: (message: MessageOf<Type>) => boolean = () => true,
    deadlineMs?: number,
  ): Promise<MessageOf<Type>> {
    const past = new Set<ServerMessage>(this.messages.all);
    return this.next(type, (message) => !past.has(message) && fits(message), deadlineMs);
  }

  /** The row of this open approval, from whichever message told of it. */
  async approval(toolCallId: string): Promise<ApprovalRow> {
    const rowIn = (each: ServerMessage): ApprovalRow | undefined => {
      const rows = each.type === "approvals" ? each.approvals : each.type === "approval" ? [each.approval] : [];
      return rows.find((row) => row.toolCallId === toolCallId);
    };
    const found = rowIn(await this.messages.waitFor((each) => rowIn(each) !== undefined, `approval ${toolCallId}`));
    if (found === undefined) throw new Error("a message without the row was found");
    return found;
  }

  /** Every update of a session so far, over all batches. */
  updates(sessionId: string): Loose[] {
    return this.messages.all.flatMap((each) =>
      each.type === "updates" && each.sessionId === sessionId ? [...each.updates] : [],
    );
  }

  /** Resolves once this text has been shown in the session. */
  async text(sessionId: string, text: string): Promise<void> {
    const holds = (each: ServerMessage): boolean =>
      each.type === "updates" &&
      each.sessionId === sessionId &&
      each.updates.some((update: Loose) => update.content?.text === text);
    await this.messages.waitFor(holds, `the text ${text}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await within(this.closed, "the page closes", 5000).catch(() => this.socket.terminate());
  }
}
