// All that lives on this page: the link, what is known, what is shown. Parts read its signals and call its methods.
import { batch, computed, signal } from "@preact/signals";
import type { ApprovalRow, Card, ServerMessage } from "../../../src/protocol.ts";
import { Link } from "../connection/link.ts";
import { logIn, logOut, storedKey, takeToken } from "../connection/log-in.ts";
import { asRecord, asText } from "../model/json-value.ts";
import { hashOf, placeOfHash, type Place } from "../model/place.ts";
import { waitingCount } from "../model/queue.ts";
import { emptyView, nextView, type Happening } from "../model/view.ts";
import { Answers } from "./answers.ts";
import { Notifier, type Asked } from "./notifier.ts";
import { OpenSession } from "./open-session.ts";

export class PageState {
  readonly view = signal(emptyView);
  readonly place = signal<Place>({ at: "start" });
  /** Set while this browser is not logged in: why. */
  readonly loggedOut = signal<{ readonly problem: string } | undefined>(undefined);
  readonly open = signal<OpenSession | undefined>(undefined);
  readonly answers = new Answers(async (answers) => (await this.link?.request("answer", { answers }))?.results ?? []);
  readonly notifier = new Notifier((sessionId) => this.go({ at: "session", sessionId }));
  readonly isController = computed(() => this.view.value.role === "controller" && this.view.value.isConnected);
  readonly waiting = computed(() => waitingCount(this.view.value));
  link: Link | undefined;
  /** The composer that comes next takes the focus wherever it is: a person has just made its session. */
  wantsComposer = false;
  readonly #drafts = new Map<string, string>();
  readonly #seenCards = new Set<string>();

  async start(): Promise<void> {
    const token = takeToken();
    addEventListener("hashchange", () => void this.#arrive());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.link?.tryNow());
    const problem = token === undefined ? "" : await this.logIn(token);
    if (storedKey() === undefined) this.loggedOut.value = { problem };
    else if (this.link === undefined) this.#connect();
    this.#goTo(placeOfHash(location.hash));
  }

  /** Empty, or why not. */
  async logIn(token: string): Promise<string> {
    const result = await logIn(token);
    if (!result.ok) return result.problem;
    this.link?.close();
    this.#connect();
    return "";
  }

  async logOut(): Promise<void> {
    this.link?.close();
    const key = storedKey();
    if (key !== undefined) await logOut(key);
    this.loggedOut.value = { problem: "" };
  }

  go(place: Place): void {
    if (hashOf(place) === location.hash) this.#goTo(place);
    else location.hash = hashOf(place);
  }

  /** A card is on the screen; told once for each. */
  cardSeen(proposalId: string): void {
    if (this.#seenCards.has(proposalId) || this.link === undefined) return;
    this.#seenCards.add(proposalId);
    // A failure means that the connection went: the card comes again with the next.
    this.link.request("card.shown", { proposalId }).catch(() => this.#seenCards.delete(proposalId));
  }

  /** An address that was put into this very tab may bring a new token. */
  async #arrive(): Promise<void> {
    const token = takeToken();
    if (token !== undefined) this.loggedOut.value = await this.#loggedOutAfter(token);
    this.#goTo(placeOfHash(location.hash));
  }

  async #loggedOutAfter(token: string): Promise<{ problem: string } | undefined> {
    const problem = await this.logIn(token);
    return problem === "" || storedKey() !== undefined ? undefined : { problem };
  }

  #connect(): void {
    const key = storedKey();
    if (key === undefined) return;
    this.loggedOut.value = undefined;
    this.link = new Link(key, {
      message: (message) => batch(() => this.#receive(message)),
      disconnected: () => batch(() => this.#disconnected()),
      loggedOut: () => {
        this.loggedOut.value = { problem: "This log-in has ended." };
      },
    });
  }

  #receive(message: ServerMessage): void {
    const before = this.view.value;
    this.#happen(message);
    const open = this.open.value;
    switch (message.type) {
      case "daemon":
        this.answers.clear();
        open?.interrupt();
        break;
      case "session": {
        const { sessionId, state } = message.session;
        const isClosing = state === "closed" && before.sessions.get(sessionId)?.state !== "closed";
        // Its attachment is over; it can still be read.
        if (isClosing && open?.sessionId === sessionId) open.interrupt();
        this.#attach();
        break;
      }
      case "sessions":
        this.#attach();
        break;
      case "updates":
        open?.updates(message);
        break;
      case "attachment_lost":
        if (open?.isCurrent(message.attachment) === true) open.lose(message.error.message);
        break;
      case "card_over":
        this.#seenCards.delete(message.proposalId);
        break;
      case "approval_resolved":
        this.answers.forget(message.approvalId);
        break;
      case "approval":
        if (!before.approvals.some((row) => row.approvalId === message.approval.approvalId))
          this.notifier.asked(askedFor(message.approval));
        break;
      case "card":
        if (!before.cards.some((card) => card.proposalId === message.card.proposalId))
          this.notifier.asked(proposed(message.card));
        break;
      default:
    }
    const { approvals, cards } = this.view.value;
    this.notifier.keepOnly(
      new Set([...approvals.map((row) => row.approvalId), ...cards.map((card) => card.proposalId)]),
    );
  }

  #disconnected(): void {
    this.#happen({ type: "disconnected" });
    this.answers.clear();
    this.notifier.keepOnly(new Set());
    this.open.value?.interrupt();
  }

  #happen(message: ServerMessage | Happening): void {
    this.view.value = nextView(this.view.value, message);
  }

  #goTo(place: Place): void {
    this.place.value = place;
    const sessionId = place.at === "session" ? place.sessionId : undefined;
    const before = this.open.value;
    if (before?.sessionId === sessionId) return;
    if (before !== undefined) {
      this.#drafts.set(before.sessionId, before.draft.value);
      before.detach();
      this.#happen({ type: "left", sessionId: before.sessionId });
    }
    if (sessionId === undefined) {
      this.open.value = undefined;
      return;
    }
    const open = new OpenSession(sessionId, () => this.link);
    open.draft.value = this.#drafts.get(sessionId) ?? "";
    this.open.value = open;
    this.#attach();
  }

  /** Once the session is known: an address may name one that is still being made. */
  #attach(): void {
    const { sessions, isStale } = this.view.value;
    const open = this.open.value;
    if (open !== undefined && !isStale && sessions.has(open.sessionId) && !open.isAsked) void open.attach();
  }
}

const askedFor = ({ approvalId, sessionId, agent, params }: ApprovalRow): Asked => ({
  key: approvalId,
  sessionId,
  title: `${agent} asks for permission`,
  body: asText(asRecord(params.toolCall).title),
});

const proposed = ({ proposalId, sessionId, agent, choices }: Card): Asked => ({
  key: proposalId,
  sessionId,
  title: `${agent} proposes`,
  body: choices[0]?.title ?? "",
});
