// The console's lasting connection to the daemon: it asks for events, keeps the roster, and comes back when the daemon does.
// Each connection is a generation; what belongs to one ends with it.
import { setTimeout as pause } from "node:timers/promises";
import { asList, asObject, asText } from "../json.ts";
import type { DaemonMessage, JsonObject } from "../protocol.ts";
import { AcpLink, type DaemonAddress } from "./acp-link.ts";
import { LinkError, offline } from "./link-error.ts";
import type { Roster } from "./roster.ts";

export interface DaemonLinkPorts {
  /** The roster holds the lists of a new generation. */
  connected(): void;
  /** The generation is over; or the first one did not come about. */
  offline(): void;
  /** The daemon went and said that it does not come back; or the one that is there is of another version. */
  ended(): void;
}

const eventMethod = "_acp-master/event";
const firstWaitMs = 500;
const longestWaitMs = 10_000;
const mostPages = 10_000;

export class DaemonLink {
  readonly #daemon: DaemonAddress;
  readonly #roster: Roster;
  readonly #ports: DaemonLinkPorts;
  readonly #ending = new AbortController();
  #link: AcpLink | undefined;
  #generation = 0;
  #problem: string | undefined;
  #closing: string | undefined;

  constructor(daemon: DaemonAddress, roster: Roster, ports: DaemonLinkPorts) {
    this.#daemon = daemon;
    this.#roster = roster;
    this.#ports = ports;
  }

  get state(): DaemonMessage {
    const generation = this.#generation;
    if (this.#link !== undefined) return { type: "daemon", state: "connected", generation };
    return {
      type: "daemon",
      state: "offline",
      generation,
      restarting: this.#closing === "restart",
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    };
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Throws a LinkError: offline, or what the daemon answered. */
  async request(method: string, params: object): Promise<JsonObject> {
    if (this.#link === undefined) throw offline();
    return await this.#link.request(method, params);
  }

  /** Runs until `close`, or until the daemon has ended for good. */
  async run(): Promise<void> {
    for (let waitMs = firstWaitMs; !this.#ending.signal.aborted;) {
      try {
        await this.#live();
        waitMs = firstWaitMs;
      } catch (error) {
        if (error instanceof LinkError && error.reason === "version_mismatch") return this.#ports.ended();
        this.#problem = "No daemon runs. Start one: acp-master serve";
        this.#ports.offline();
      }
      if (this.#closing === "stop") return this.#ports.ended();
      // Many consoles of one daemon must not come back at one moment.
      await pause(waitMs / 2 + Math.random() * (waitMs / 2), undefined, { signal: this.#ending.signal }).catch(
        () => {},
      );
      waitMs = Math.min(waitMs * 2, longestWaitMs);
    }
  }

  close(): void {
    this.#ending.abort();
    this.#link?.close();
  }

  /** One generation, from its connection to its end. */
  async #live(): Promise<void> {
    // Until the lists are there; a list is never older than the last event before it.
    let early: JsonObject[] | undefined = [];
    const closing = this.#closing;
    const link = await AcpLink.open({
      daemon: this.#daemon,
      role: "controller",
      events: true,
      onNotification: (method, params) => {
        if (method !== eventMethod) return;
        if (params["type"] === "closing") this.#closing = asText(params["reason"]);
        else if (early === undefined) this.#roster.event(params);
        else early.push(params);
      },
    });
    try {
      if (this.#ending.signal.aborted) return;
      // What the former daemon said of itself; this one may have spoken already.
      if (this.#closing === closing) this.#closing = undefined;
      const sessions = await sessionRows(link);
      const approvals = asList((await link.request("_acp-master/approvals", {}))["approvals"]);
      this.#roster.load(sessions, approvals);
      this.#link = link;
      this.#generation++;
      this.#problem = undefined;
      this.#ports.connected();
      for (const event of early) this.#roster.event(event);
      early = undefined;
      await link.closed;
    } finally {
      link.close();
      if (this.#link === link) {
        this.#link = undefined;
        this.#roster.end();
        this.#problem = "The daemon is gone. It is looked for until it is back.";
        this.#ports.offline();
      }
    }
  }
}

async function sessionRows(link: AcpLink): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < mostPages; page++) {
    const answer = asObject(await link.request("_acp-master/sessions", cursor === undefined ? {} : { cursor }));
    rows.push(...asList(answer["sessions"]));
    cursor = answer["nextCursor"];
    if (typeof cursor !== "string") break;
  }
  return rows;
}
