// A card in front of a person: where they are in it, and what a key means. Pure. Run and Insert do nothing before
// everything that would happen has been on the screen.
import type { Card, DecisionRequest, Mode } from "@acp-master/helper-sdk/review";
import { type CardRows, cardRows, choiceOf, type ShownCard } from "./card-rows.ts";
import type { Key } from "./keys.ts";
import { fitted, wrapped } from "./wrap.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface CardView extends ShownCard {
  readonly size: Size;
  /** The first body row on the screen. */
  readonly top: number;
  /** So many rows from the first one on have been on the screen. */
  readonly seen: number;
}

const leastColumns = 20;

export type Pressed =
  | { readonly do: "show"; readonly view: CardView }
  | { readonly do: "decide"; readonly request: DecisionRequest }
  | { readonly do: "leave" }
  | { readonly do: "interrupt" };

export function openCard(card: Card, place: string | undefined, size: Size): CardView {
  return settled({ card, choice: card.recommended, place, size, top: 0, seen: 0 });
}

/** A card that has changed; what was seen of it counts only while it would do the same. */
export function withCard(view: CardView, card: Card): CardView {
  const isSame = JSON.stringify(card.choices) === JSON.stringify(view.card.choices);
  return isSame ? settled({ ...view, card }) : openCard(card, view.place, view.size);
}

export function withSize(view: CardView, size: Size): CardView {
  return settled({ ...view, size, top: 0, seen: 0 });
}

export function press(view: CardView, key: Key): Pressed {
  if (typeof key === "object") return pressLetter(view, key.letter);
  const page = Math.max(bodyHeight(view) - 1, 1);
  switch (key) {
    case "up":
      return scrolled(view, -1);
    case "down":
    case "enter":
      return scrolled(view, 1);
    case "page_up":
      return scrolled(view, -page);
    case "page_down":
      return scrolled(view, page);
    case "escape":
      return { do: "leave" };
    case "interrupt":
      return { do: "interrupt" };
  }
  return key satisfies never;
}

function pressLetter(view: CardView, letter: string): Pressed {
  const { proposalId, choices } = view.card;
  switch (letter) {
    case "r":
      return confirm(view, "run");
    case "i":
      return confirm(view, "insert");
    case "c":
      return { do: "decide", request: { proposalId, decision: "cancel" } };
    case "q":
      return { do: "leave" };
    case "k":
      return scrolled(view, -1);
    case "j":
      return scrolled(view, 1);
    default: {
      const choice = choices.find((each) => String(each.choice) === letter)?.choice;
      if (choice === undefined || choice === view.choice) return { do: "show", view };
      return { do: "show", view: settled({ ...view, choice, top: 0, seen: 0 }) };
    }
  }
}

/** Before everything was seen the key reads on. */
function confirm(view: CardView, mode: Mode): Pressed {
  const { card, choice } = view;
  if (!choiceOf(card, choice).modes.includes(mode)) return { do: "show", view };
  if (!isAllSeen(view)) return press(view, "page_down");
  return { do: "decide", request: { proposalId: card.proposalId, decision: "confirm", choice, mode } };
}

export function isAllSeen(view: CardView): boolean {
  return view.seen >= rowsOf(view).decisive;
}

function scrolled(view: CardView, by: number): Pressed {
  return { do: "show", view: settled({ ...view, top: view.top + by }) };
}

/** Scrolled no further than there is text, and what is on the screen now is seen. */
function settled(view: CardView): CardView {
  if (isTooSmall(view)) return { ...view, top: 0, seen: 0 };
  const height = bodyHeight(view);
  const { rows } = rowsOf(view);
  const top = Math.min(Math.max(view.top, 0), Math.max(rows.length - height, 0));
  const seen = top <= view.seen ? Math.max(view.seen, Math.min(top + height, rows.length)) : view.seen;
  return { ...view, top, seen };
}

export interface Around {
  /** How many other cards there are. */
  readonly waiting: number;
  /** Keys count now. */
  readonly isAwake: boolean;
}

/** The whole screen, from the first row on. */
export function frame(view: CardView, { waiting, isAwake }: Around): string[] {
  if (isTooSmall(view)) return wrapped("Too small for a card: make it larger.", Math.max(view.size.columns, 1));
  const { rows } = rowsOf(view);
  const height = bodyHeight(view);
  const body = rows.slice(view.top, view.top + height);
  const filled = [...body, ...Array.from({ length: height - body.length }, () => "")];
  const { columns } = view.size;
  const state = fitted(stateLine(view, rows.length, height), columns);
  const keys = keyRows(view).map((row, index) => (isAwake ? row : index === 0 ? "..." : ""));
  return [fitted(headLine(view, waiting), columns), ...filled, state, ...keys];
}

function headLine({ card }: CardView, waiting: number): string {
  const others = waiting === 0 ? "" : `, ${waiting} more`;
  return card.detached ? `Detached proposal${others}: the agent waits no more` : `Proposal${others}`;
}

function stateLine(view: CardView, total: number, height: number): string {
  const below = total - view.top - height;
  if (below <= 0) return "";
  return isAllSeen(view) ? `-- ${below} more rows --` : `-- ${below} more rows: read on with space --`;
}

/** What can be pressed. A key that would do nothing is not offered. */
function keyRows({ card, choice, size }: CardView): string[] {
  const { modes } = choiceOf(card, choice);
  const keys = [
    ...(modes.includes("run") ? ["r run"] : []),
    ...(modes.includes("insert") ? ["i insert"] : []),
    "c cancel",
    ...(card.choices.length > 1 ? [`${card.choices.map((each) => each.choice).join("/")} choose`] : []),
    "q later",
  ];
  return wrapped(keys.join("  "), size.columns);
}

function bodyHeight(view: CardView): number {
  return Math.max(view.size.rows - 2 - keyRows(view).length, 1);
}

function isTooSmall(view: CardView): boolean {
  return view.size.columns < leastColumns || view.size.rows < 3 + keyRows(view).length;
}

function rowsOf(view: CardView): CardRows {
  return cardRows(view, view.size.columns);
}
