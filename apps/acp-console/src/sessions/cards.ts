// The cards of direct proposals, from the review endpoints of the sessions' Helpers. It is connected only while a page could
// show a card to somebody who may decide: an endpoint without anybody in front of it must say so.
import { openReview, type ReviewClient, type ReviewEvent } from "@acp-master/helper-sdk/review";
import type { Card, DecisionEnd, DecisionRequest, Notice, ServerMessage } from "../protocol.ts";

interface Endpoint {
  client: ReviewClient | undefined;
  readonly cards: Map<string, Card>;
  readonly notices: Map<string, Notice>;
  retry: NodeJS.Timeout | undefined;
  retryMs: number;
}

/** An endpoint that closed may come back under the same path: a Helper that was started again. */
const firstRetryMs = 1000;
const longestRetryMs = 60_000;

export class Cards {
  readonly #tell: (message: ServerMessage) => void;
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(tell: (message: ServerMessage) => void) {
    this.#tell = tell;
  }

  /** The endpoints there are now; none while nobody could decide. */
  connect(paths: ReadonlySet<string>): void {
    for (const [path, endpoint] of this.#endpoints) {
      if (paths.has(path)) continue;
      this.#endpoints.delete(path);
      clearTimeout(endpoint.retry);
      endpoint.client?.close();
      if (endpoint.cards.size > 0 || endpoint.notices.size > 0) this.#tell(this.state);
    }
    for (const path of paths) {
      if (this.#endpoints.has(path)) continue;
      const endpoint: Endpoint = {
        client: undefined,
        cards: new Map(),
        notices: new Map(),
        retry: undefined,
        retryMs: firstRetryMs,
      };
      this.#endpoints.set(path, endpoint);
      this.#open(path, endpoint);
    }
  }

  get state(): ServerMessage {
    const all = [...this.#endpoints.values()];
    return {
      type: "cards",
      cards: all.flatMap(({ cards }) => [...cards.values()]),
      notices: all.flatMap(({ notices }) => [...notices.values()]),
    };
  }

  shown(proposalId: string): void {
    this.#of(proposalId)?.client?.shown(proposalId);
  }

  async decide(request: DecisionRequest): Promise<{ readonly end: DecisionEnd }> {
    const client = this.#of(request.proposalId)?.client;
    return { end: client === undefined ? "lost" : await client.decide(request) };
  }

  #of(proposalId: string): Endpoint | undefined {
    return [...this.#endpoints.values()].find(({ cards }) => cards.has(proposalId));
  }

  #open(path: string, endpoint: Endpoint): void {
    endpoint.client = openReview({
      path,
      name: "acp-console",
      onEvent: (event) => {
        if (this.#endpoints.get(path) === endpoint) this.#event(endpoint, event);
      },
      onClose: () => {
        if (this.#endpoints.get(path) !== endpoint) return;
        endpoint.client = undefined;
        const hadSome = endpoint.cards.size > 0 || endpoint.notices.size > 0;
        endpoint.cards.clear();
        endpoint.notices.clear();
        if (hadSome) this.#tell(this.state);
        endpoint.retry = setTimeout(() => this.#open(path, endpoint), endpoint.retryMs);
        endpoint.retryMs = Math.min(endpoint.retryMs * 2, longestRetryMs);
      },
    });
  }

  #event(endpoint: Endpoint, event: Exclude<ReviewEvent, { type: "decided" }>): void {
    switch (event.type) {
      case "welcome":
        endpoint.retryMs = firstRetryMs;
        for (const card of event.cards) endpoint.cards.set(card.proposalId, card);
        for (const notice of event.notices) endpoint.notices.set(notice.sessionId, notice);
        return this.#tell(this.state);
      case "card":
        endpoint.cards.set(event.card.proposalId, event.card);
        return this.#tell(event);
      case "over": {
        const { sessionId, proposalId, status, by } = event;
        endpoint.cards.delete(proposalId);
        return this.#tell({ type: "card_over", sessionId, proposalId, status, ...(by === undefined ? {} : { by }) });
      }
      case "notice":
        endpoint.notices.set(event.notice.sessionId, event.notice);
        return this.#tell(event);
      case "turn":
      case "refused":
        return; // shown elsewhere; its end follows
      default:
        return event satisfies never;
    }
  }
}
