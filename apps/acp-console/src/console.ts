// The console as a whole: one lasting link to the daemon, the pages, and what goes from one to the other.
import { clearInterval, setInterval } from "node:timers";
import type { WebSocket } from "ws";
import { Page } from "./browsers/page.ts";
import { performer } from "./browsers/perform.ts";
import { DaemonLink } from "./daemon/daemon-link.ts";
import { Roster } from "./daemon/roster.ts";
import { asList } from "./json.ts";
import { Listener, maxMessageBytes } from "./http/listener.ts";
import { type Login, Logins, tokenMinutes } from "./http/logins.ts";
import { Control, type ControlRequest } from "./process/control.ts";
import { writeRunFile } from "./process/run-file.ts";
import type { Role, ServerMessage } from "./protocol.ts";
import { Cards } from "./sessions/cards.ts";
import { Elicitations } from "./sessions/elicitations.ts";
import { Viewers } from "./sessions/viewers.ts";
import type { Settings } from "./settings.ts";

const aliveMs = 20_000;
/** So long it waits for a daemon that is gone, when no page waits with it. */
const aloneMs = 10 * 60_000;

export class Console {
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  readonly #settings: Settings;
  readonly #logins = new Logins(() => performance.now());
  readonly #pages = new Set<Page>();
  readonly #viewers = new Viewers();
  readonly #cards = new Cards((message) => this.#tell(message));
  readonly #roster: Roster;
  readonly #link: DaemonLink;
  readonly #perform: ReturnType<typeof performer>;
  #listener: Listener | undefined;
  #control: Control | undefined;
  #removeRunFile: (() => void) | undefined;
  #alive: NodeJS.Timeout | undefined;
  #alone: NodeJS.Timeout | undefined;
  #isEnding = false;
  #hasEnded: () => void = () => {};

  private constructor(settings: Settings) {
    this.#settings = settings;
    this.ended = new Promise((resolve) => (this.#hasEnded = resolve));
    const daemon = { socketPath: settings.socketPath, version: settings.version };
    const elicitations = new Elicitations((sessionId, message) => this.#viewers.tell(sessionId, message));
    this.#roster = new Roster({
      tell: (message) => this.#tell(message),
      approval: async (approvalId) =>
        asList((await this.#link.request("_acp-master/approvals", { approvalId }))["approvals"])[0],
      removed: (sessionId) => {
        for (const page of this.#pages) page.detach(sessionId);
      },
      reviewsChanged: () => this.#connectCards(),
    });
    this.#link = new DaemonLink(daemon, this.#roster, {
      connected: () => this.#connected(),
      offline: () => this.#offline(),
      ended: () => void this.end(),
    });
    this.#perform = performer({ daemon, link: this.#link, roster: this.#roster, elicitations, cards: this.#cards });
  }

  /** Ready for pages when this is done; the daemon may come later. Throws an Error that says what is in the way. */
  static async start(settings: Settings): Promise<Console> {
    const console = new Console(settings);
    try {
      await console.#open();
    } catch (error) {
      await console.end();
      throw error;
    }
    return console;
  }

  get origin(): string {
    return this.#listener?.origin ?? "";
  }

  async end(): Promise<void> {
    if (this.#isEnding) return await this.ended;
    this.#isEnding = true;
    clearInterval(this.#alive);
    clearTimeout(this.#alone);
    this.#control?.close();
    this.#removeRunFile?.();
    this.#link.close();
    this.#connectCards();
    await this.#listener?.close();
    this.#hasEnded();
  }

  async #open(): Promise<void> {
    const { version, runFile, controlPath } = this.#settings;
    this.#listener = await Listener.open(this.#settings, {
      logins: this.#logins,
      opened: (socket, login) => this.#opened(socket, login),
    });
    this.#control = await Control.open(controlPath, (request) => this.#answer(request));
    this.#removeRunFile = writeRunFile(runFile, {
      pid: process.pid,
      address: this.origin,
      version,
      startedAt: new Date().toISOString(),
    });
    this.#alive = setInterval(() => {
      for (const page of this.#pages) page.checkAlive();
    }, aliveMs);
    this.#waitAlone();
    void this.#link.run();
  }

  #answer(request: ControlRequest): object {
    switch (request.ask) {
      case "address": {
        const role: Role = this.#settings.readOnly ? "observer" : request.role;
        const address = `${this.origin}/#token=${this.#logins.token(role)}`;
        return { address, role, minutes: tokenMinutes };
      }
      case "state":
        return {
          pid: process.pid,
          address: this.origin,
          settings: this.#settings,
          pages: this.#pages.size,
          connected: this.#link.isConnected,
          refused: this.#listener?.refused ?? 0,
        };
      case "stop":
        setImmediate(() => void this.end());
        return { pid: process.pid };
      default:
        return request satisfies never;
    }
  }

  #opened(socket: WebSocket, login: Login): void {
    const page = new Page(socket, login.role, { viewers: this.#viewers, perform: this.#perform });
    this.#pages.add(page);
    socket.once("close", () => {
      this.#pages.delete(page);
      this.#connectCards();
    });
    page.send({ type: "hello", version: this.#settings.version, role: login.role, maxMessageBytes });
    for (const message of this.#state()) page.send(message);
    this.#connectCards();
  }

  /** Only while somebody could decide on a card. */
  #connectCards(): void {
    const canDecide = !this.#isEnding && [...this.#pages].some((page) => page.role === "controller");
    this.#cards.connect(canDecide ? this.#roster.reviewPaths : new Set());
  }

  #state(): ServerMessage[] {
    return [
      this.#link.state,
      { type: "sessions", sessions: this.#roster.sessions, stale: !this.#link.isConnected },
      { type: "approvals", approvals: this.#roster.approvals },
      this.#cards.state,
    ];
  }

  #connected(): void {
    clearTimeout(this.#alone);
    this.#connectCards();
    for (const message of this.#state()) this.#tell(message);
  }

  #offline(): void {
    this.#tell(this.#link.state);
    for (const page of this.#pages) page.detachAll();
    this.#connectCards();
    this.#waitAlone();
  }

  #waitAlone(): void {
    clearTimeout(this.#alone);
    if (this.#isEnding || this.#link.isConnected) return;
    this.#alone = setTimeout(() => (this.#pages.size === 0 ? void this.end() : this.#waitAlone()), aloneMs);
  }

  #tell(message: ServerMessage): void {
    const text = JSON.stringify(message);
    for (const page of this.#pages) page.sendText(text);
  }
}
