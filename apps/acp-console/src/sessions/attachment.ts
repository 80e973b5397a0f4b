// One page that shows one session: a connection of its own to the daemon, which replays and follows. Closing it is leaving
// the session, so a session that no page shows has no controller here.
import { AcpLink, type DaemonAddress } from "../daemon/acp-link.ts";
import { asList, asObject } from "../json.ts";
import type { JsonObject, Opened, Role, Update } from "../protocol.ts";
import type { Elicitations } from "./elicitations.ts";
import { TranscriptOrder } from "./transcript-order.ts";

export interface AttachmentOptions {
  readonly daemon: DaemonAddress;
  readonly role: Role;
  readonly sessionId: string;
  readonly cwd: string;
  readonly elicitations: Elicitations;
  /** The daemon is read no faster than this takes. */
  readonly onUpdates: (updates: readonly Update[]) => Promise<void> | undefined;
}

export class Attachment {
  readonly sessionId: string;
  /** What the load answered. */
  readonly opened: Opened;
  readonly #link: AcpLink;
  readonly #questions: Set<Promise<unknown>>;

  private constructor(sessionId: string, opened: Opened, link: AcpLink, questions: Set<Promise<unknown>>) {
    this.sessionId = sessionId;
    this.opened = opened;
    this.#link = link;
    this.#questions = questions;
  }

  /** The whole transcript has been handed to `onUpdates` when this is done. Throws a LinkError. */
  static async open(options: AttachmentOptions, cancel: AbortSignal): Promise<Attachment> {
    const { sessionId, cwd, elicitations } = options;
    const order = new TranscriptOrder();
    const questions = new Set<Promise<unknown>>();
    const link = await AcpLink.open({
      daemon: options.daemon,
      role: options.role,
      events: false,
      onUpdates: (params) => {
        const updates = params.filter((each) => each["sessionId"] === sessionId).flatMap((each) => order.take(each));
        return updates.length === 0 ? undefined : options.onUpdates(updates);
      },
      onRequest: async (method, params, signal) => {
        if (method === "elicitation/create") {
          const question = elicitations.ask(sessionId, params, signal);
          questions.add(question);
          return await question.finally(() => questions.delete(question));
        }
        // People see every approval in the list of all, and answer it there: this dialog is never what decides.
        if (method === "session/request_permission") return await untilWithdrawn(signal);
        throw new Error(`the console does not serve ${method}`);
      },
    });
    const close = (): void => link.close();
    cancel.addEventListener("abort", close, { once: true });
    if (cancel.aborted) close();
    try {
      const result = await link.request("session/load", { sessionId, cwd, mcpServers: [] });
      return new Attachment(sessionId, openedOf(result), link, questions);
    } catch (error) {
      link.close();
      throw error;
    } finally {
      cancel.removeEventListener("abort", close);
    }
  }

  get closed(): Promise<void> {
    return this.#link.closed;
  }

  /** Questions of the agent that only this connection can answer; resolves when none is open. */
  get questions(): Promise<unknown> | undefined {
    return this.#questions.size === 0 ? undefined : Promise.allSettled(this.#questions);
  }

  request(method: string, params: object, cancel?: AbortSignal): Promise<JsonObject> {
    return this.#link.request(method, { sessionId: this.sessionId, ...params }, cancel);
  }

  cancel(): void {
    this.#link.notify("session/cancel", { sessionId: this.sessionId });
  }

  close(): void {
    this.#link.close();
  }
}

function untilWithdrawn(signal: AbortSignal): Promise<object> {
  const withdrawn = { outcome: { outcome: "cancelled" } };
  if (signal.aborted) return Promise.resolve(withdrawn);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(withdrawn), { once: true }));
}

function openedOf({ modes, models, configOptions }: JsonObject): Opened {
  return {
    ...(typeof modes === "object" && modes !== null ? { modes: asObject(modes) } : {}),
    ...(typeof models === "object" && models !== null ? { models: asObject(models) } : {}),
    ...(Array.isArray(configOptions) ? { configOptions: asList(configOptions).map(asObject) } : {}),
  };
}
