// The cards that wait in any number of Helpers, each with the way to decide it. Owns the connections.
import {
  type Card,
  type DecisionEnd,
  type DecisionRequest,
  type Notice,
  openReview,
  type ReviewClient,
  type ReviewEvent,
} from "@acp-master/helper-sdk/review";

export interface OpenCardsOptions {
  /** Who decides, as others are told. */
  readonly name: string;
  /** The place in which the cards are shown, where it is one that could be typed into. */
  readonly place?: string;
  readonly onChange: (change: CardChange) => void;
}

export type CardChange =
  /** A card has come, or one that was here has changed. */
  | { readonly type: "card"; readonly card: Card; readonly isNew: boolean }
  | { readonly type: "over"; readonly proposalId: string; readonly status: string; readonly by?: string }
  | { readonly type: "notices" }
  /** A Helper has said all it had to say at first, or cannot be asked. */
  | { readonly type: "settled" };

interface Endpoint {
  readonly client: ReviewClient;
  readonly cards: Map<string, Card>;
  readonly notices: Map<string, Notice>;
  readonly shown: Set<string>;
  isSettled: boolean;
}

export class OpenCards implements Disposable {
  readonly #options: OpenCardsOptions;
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(options: OpenCardsOptions) {
    this.#options = options;
  }

  /** Exactly these Helpers from now on, by the path of their review endpoint. */
  follow(paths: Iterable<string>): void {
    const wanted = new Set(paths);
    for (const [path, endpoint] of this.#endpoints) if (!wanted.has(path)) endpoint.client.close();
    for (const path of wanted) if (!this.#endpoints.has(path)) this.#connect(path);
  }

  /** Oldest deadline first. */
  get cards(): Card[] {
    const all = [...this.#endpoints.values()].flatMap(({ cards }) => [...cards.values()]);
    return all.toSorted((a, b) => a.deadline - b.deadline);
  }

  get notices(): Notice[] {
    return [...this.#endpoints.values()].flatMap(({ notices }) => [...notices.values()]);
  }

  get isWatching(): boolean {
    return this.#endpoints.size > 0;
  }

  /** Each Helper has said what waits in it, or is not there. */
  get isSettled(): boolean {
    return [...this.#endpoints.values()].every((endpoint) => endpoint.isSettled);
  }

  /** A person can see this card now. Saying it again does nothing. */
  shown(proposalId: string): void {
    const endpoint = this.#of(proposalId);
    if (endpoint === undefined || endpoint.shown.has(proposalId)) return;
    endpoint.shown.add(proposalId);
    endpoint.client.shown(proposalId);
  }

  async decide(request: DecisionRequest): Promise<DecisionEnd> {
    return (await this.#of(request.proposalId)?.client.decide(request)) ?? "lost";
  }

  [Symbol.dispose](): void {
    for (const { client } of this.#endpoints.values()) client.close();
  }

  #of(proposalId: string): Endpoint | undefined {
    return [...this.#endpoints.values()].find(({ cards }) => cards.has(proposalId));
  }

  #connect(path: string): void {
    const { name, place } = this.#options;
    const cards = new Map<string, Card>();
    const notices = new Map<string, Notice>();
    const client = openReview({
      path,
      name,
      ...(place === undefined ? {} : { place }),
      onEvent: (event) => this.#take(endpoint, event),
      onClose: () => this.#closed(path, endpoint),
    });
    const endpoint: Endpoint = { client, cards, notices, shown: new Set(), isSettled: false };
    this.#endpoints.set(path, endpoint);
  }

  #take(endpoint: Endpoint, event: Exclude<ReviewEvent, { type: "decided" }>): void {
    const { onChange } = this.#options;
    switch (event.type) {
      case "welcome":
        for (const notice of event.notices) endpoint.notices.set(notice.sessionId, notice);
        for (const card of event.cards) this.#put(endpoint, card);
        endpoint.isSettled = true;
        return onChange({ type: "settled" });
      case "card":
        return this.#put(endpoint, event.card);
      case "over": {
        const { proposalId, status, by } = event;
        endpoint.cards.delete(proposalId);
        endpoint.shown.delete(proposalId);
        return onChange({ type: "over", proposalId, status, ...(by === undefined ? {} : { by }) });
      }
      case "notice":
        endpoint.notices.set(event.notice.sessionId, event.notice);
        return onChange({ type: "notices" });
      case "turn":
      case "refused": // the connection closes, which says the same
        return;
    }
    event satisfies never;
  }

  #put({ cards }: Endpoint, card: Card): void {
    const isNew = !cards.has(card.proposalId);
    cards.set(card.proposalId, card);
    this.#options.onChange({ type: "card", card, isNew });
  }

  #closed(path: string, endpoint: Endpoint): void {
    if (this.#endpoints.get(path) === endpoint) this.#endpoints.delete(path);
    const { onChange } = this.#options;
    for (const proposalId of endpoint.cards.keys()) onChange({ type: "over", proposalId, status: "unavailable" });
    onChange({ type: "settled" });
  }
}
