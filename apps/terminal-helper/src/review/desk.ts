// A person at a terminal with cards: shows the list or one card, takes keys, decides. Owns the screen and the connections.
import type { ReadStream, WriteStream } from "node:tty";
import { visibleLine } from "@acp-master/helper-sdk";
import type { Card, DecisionEnd, DecisionRequest } from "@acp-master/helper-sdk/review";
import { type CardView, frame, openCard, press, withCard, withSize } from "../card/card-view.ts";
import type { Key } from "../card/keys.ts";
import { keyAt, type Quiet, quietMs } from "../card/quiet.ts";
import { listFrame } from "./list-view.ts";
import { type CardChange, OpenCards } from "./open-cards.ts";
import { TerminalScreen } from "./terminal-screen.ts";

export interface DeskOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Who decides, as others are told. */
  readonly name: string;
  /** The place of this terminal, where it is one that could be typed into. */
  readonly place?: string;
  /** This card and no other: the desk closes with it. */
  readonly only?: string;
  /** What a card's place is called now. */
  readonly placeOf: (target: string | null) => Promise<string | undefined>;
}

const farewellMs = 10_000;

export type DeskEnd = "left" | "interrupted";

export class Desk implements Disposable {
  /** Resolves when the person leaves, and with `only` when its card is no more. */
  readonly closed: Promise<DeskEnd>;
  readonly #options: DeskOptions;
  readonly #cards: OpenCards;
  readonly #screen: TerminalScreen;
  #close: (end: DeskEnd) => void = () => {};
  #view: CardView | undefined;
  #quiet: Quiet = { since: performance.now() };
  /** Draws once more when keys begin to count. */
  #awakening: NodeJS.Timeout | undefined;
  #selected = 0;
  #message = "";
  #deciding: string | undefined;
  /** The last words are on the screen: any key closes, and so does their time. */
  #farewell: NodeJS.Timeout | undefined;

  constructor(options: DeskOptions) {
    this.#options = options;
    const { name, place, input, output } = options;
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.#screen = new TerminalScreen(input, output, {
      onKey: (key) => this.#press(key),
      onResize: () => this.#resized(),
      onEnd: () => this.#close("left"),
    });
    const onChange = (change: CardChange) => this.#changed(change);
    this.#cards = new OpenCards({ name, ...(place === undefined ? {} : { place }), onChange });
    this.#draw();
  }

  /** Exactly these review endpoints from now on. */
  follow(paths: Iterable<string>): void {
    this.#cards.follow(paths);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#farewell);
    clearTimeout(this.#awakening);
    this.#cards[Symbol.dispose]();
    this.#screen[Symbol.dispose]();
  }

  #changed(change: CardChange): void {
    const { only } = this.#options;
    if (change.type === "card") {
      const { card, isNew } = change;
      if (only !== undefined && card.proposalId !== only) return;
      if (this.#view?.card.proposalId === card.proposalId) this.#view = withCard(this.#view, card);
      else if (this.#view === undefined && isNew) this.#open(card);
    } else if (change.type === "over" && this.#view?.card.proposalId === change.proposalId) {
      if (this.#deciding !== change.proposalId) this.#leaveCard(overText(change.status, change.by));
    } else if (change.type === "settled" && only !== undefined && this.#cards.isSettled) {
      if (this.#view === undefined && this.#farewell === undefined) this.#close("left");
    }
    this.#draw();
  }

  #open(card: Card): void {
    this.#view = openCard(card, undefined, this.#screen.size);
    this.#beQuiet(performance.now());
    this.#message = "";
    void this.#options.placeOf(card.target).then((place) => {
      if (place === undefined || this.#view?.card.proposalId !== card.proposalId) return;
      this.#view = withSize({ ...this.#view, place }, this.#screen.size);
      this.#draw();
    });
  }

  #leaveCard(message: string): void {
    this.#view = undefined;
    this.#message = message;
    if (this.#options.only !== undefined) this.#close("left");
  }

  /** Where the list would not be there to say it. */
  #sayGoodbye(message: string): void {
    this.#view = undefined;
    this.#message = message;
    this.#farewell = setTimeout(() => this.#close("left"), farewellMs);
  }

  #press(key: Key | undefined): void {
    const { counts, quiet } = keyAt(this.#quiet, performance.now());
    if (quiet !== this.#quiet) this.#beQuiet(quiet.since);
    // Leaving is no decision: it never has to wait.
    if (key === "interrupt") return this.#close("interrupted");
    if (!counts || key === undefined || this.#deciding !== undefined) return;
    if (this.#farewell !== undefined) return this.#close("left");
    if (this.#view === undefined) this.#pressInList(key);
    else this.#pressInCard(this.#view, key);
    this.#draw();
  }

  #pressInCard(view: CardView, key: Key): void {
    const pressed = press(view, key);
    switch (pressed.do) {
      case "show":
        this.#view = pressed.view;
        return;
      case "leave":
        return this.#leaveCard("");
      case "interrupt":
        return this.#close("interrupted");
      case "decide":
        void this.#decide(pressed.request);
        return;
    }
    pressed satisfies never;
  }

  #pressInList(key: Key): void {
    const { cards } = this.#cards;
    if (typeof key === "object" && key.letter === "q") return this.#close("left");
    const isDown = key === "down" || (typeof key === "object" && key.letter === "j");
    const isUp = key === "up" || (typeof key === "object" && key.letter === "k");
    const to = this.#selected + (isDown ? 1 : 0) - (isUp ? 1 : 0);
    this.#selected = Math.max(0, Math.min(to, cards.length - 1));
    const card = cards[this.#selected];
    if (key === "enter" && card !== undefined) this.#open(card);
  }

  async #decide(request: DecisionRequest): Promise<void> {
    this.#deciding = request.proposalId;
    const end = await this.#cards.decide(request);
    this.#deciding = undefined;
    const isDone = end === "confirmed" || end === "cancelled";
    if (isDone || this.#options.only === undefined) this.#leaveCard(decidedText(end));
    else this.#sayGoodbye(decidedText(end));
    this.#draw();
  }

  #beQuiet(since: number): void {
    this.#quiet = { since };
    clearTimeout(this.#awakening);
    this.#awakening = setTimeout(() => {
      this.#awakening = undefined;
      this.#draw();
    }, quietMs);
  }

  #resized(): void {
    if (this.#view !== undefined) this.#view = withSize(this.#view, this.#screen.size);
    this.#draw();
  }

  /** Whatever is on the screen after this has been shown. */
  #draw(): void {
    const { only } = this.#options;
    const { notices, isWatching } = this.#cards;
    const cards = this.#cards.cards.filter((each) => only === undefined || each.proposalId === only);
    const { size } = this.#screen;
    this.#selected = Math.max(0, Math.min(this.#selected, cards.length - 1));
    if (this.#view === undefined) {
      const [selected, message] = [this.#selected, this.#message];
      this.#screen.draw(listFrame({ cards, notices, selected, isWatching, message }, size));
    } else {
      const id = this.#view.card.proposalId;
      const waiting = cards.filter((each) => each.proposalId !== id).length;
      this.#screen.draw(frame(this.#view, { waiting, isAwake: this.#awakening === undefined }));
    }
    // Each is in the list, on the screen itself, or counted on it.
    for (const { proposalId } of cards) this.#cards.shown(proposalId);
  }
}

function overText(status: string, by: string | undefined): string {
  return by === undefined ? `The proposal is over (${status}).` : `Decided by ${visibleLine(by)} (${status}).`;
}

function decidedText(end: DecisionEnd): string {
  switch (end) {
    case "confirmed":
      return "Handed over to the terminal.";
    case "cancelled":
      return "Cancelled.";
    case "unavailable":
      return "Nothing was done: the place or the terminal is not there any more.";
    case "lost":
      return "Nothing was done: the proposal was over before.";
    case "invalid":
      return "Nothing was done: the Helper does not know this choice.";
  }
  return end satisfies never;
}
