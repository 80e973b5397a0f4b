// The cards that wait, as a list to choose from. Pure.
import type { Card, Notice } from "@acp-master/helper-sdk/review";
import type { Size } from "../card/card-view.ts";
import { fitted, wrapped } from "../card/wrap.ts";

export interface ListView {
  readonly cards: readonly Card[];
  readonly notices: readonly Notice[];
  readonly selected: number;
  /** There is a Helper that could have one. */
  readonly isWatching: boolean;
  /** What became of the card that was here before. */
  readonly message: string;
}

export function listFrame(view: ListView, { columns, rows }: Size): string[] {
  const { cards, notices, selected, message } = view;
  const none = view.isWatching ? "No proposal waits." : "No session takes proposals now.";
  const title = fitted(cards.length === 0 ? none : `${cards.length} waiting`, columns);
  const keys = wrapped(cards.length === 0 ? "q quit" : "enter open  j/k choose  q quit", columns);
  const said = [...notices.map(({ text, count }) => `! ${text}${count > 1 ? ` (${count} times)` : ""}`), message];
  const below = said.filter((line) => line !== "").flatMap((line) => wrapped(line, columns));
  const room = Math.max(rows - 1 - below.length - keys.length, 1);
  const first = Math.max(0, Math.min(selected - room + 1, cards.length - room));
  const list = cards
    .slice(first, first + room)
    .map((card, index) => fitted(`${first + index === selected ? ">" : " "} ${headline(card)}`, columns));
  const filled = [...list, ...Array.from({ length: room - list.length }, () => "")];
  return [title, ...filled, ...below, ...keys];
}

/** One line that tells a card from another. */
export function headline({ agent, cwd, choices, detached }: Card): string {
  return `${choices.map((each) => each.title).join(" / ")} (${agent} in ${cwd}${detached ? ", detached" : ""})`;
}
