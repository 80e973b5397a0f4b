// A card as rows of text: what would happen comes whole and first, then why. Pure; every text of a card is visible already.
import type { Card, CardAction, CardChoice } from "@acp-master/helper-sdk/review";
import { wrapped } from "./wrap.ts";

export interface CardRows {
  readonly rows: readonly string[];
  /** How many of the first rows show what would happen: before they were seen nothing may. */
  readonly decisive: number;
}

export interface ShownCard {
  readonly card: Card;
  /** The number of the choice that is looked at. */
  readonly choice: number;
  /** What is known of the place now, for people: `work:0.1, zsh`. */
  readonly place: string | undefined;
}

export function cardRows({ card, choice: number, place }: ShownCard, columns: number): CardRows {
  const choice = choiceOf(card, number);
  const wrap = (text: string) => wrapped(text, columns);
  const into = place ?? card.target ?? "no pane";
  const actions = choice.actions.flatMap((action) => actionRows(action, into, columns));
  const rows = [
    ...(card.choices.length === 1 ? [] : choiceRows(card, number, columns)),
    ...wrap(choice.title),
    ...actions,
  ];
  const why = choice.rationale === "" ? [] : ["", ...wrap(choice.rationale)];
  return { rows: [...rows, ...why, "", ...wrap(`${card.agent} in ${card.cwd}`)], decisive: rows.length };
}

export function choiceOf(card: Card, number: number): CardChoice {
  const choice = card.choices.find((each) => each.choice === number) ?? card.choices[0];
  if (choice === undefined) throw new TypeError("A card has at least one choice.");
  return choice;
}

function choiceRows(card: Card, selected: number, columns: number): string[] {
  const marked = card.choices.map(({ choice, title }) => `${choice === selected ? "*" : " "} ${choice} ${title}`);
  return [...marked.flatMap((row) => wrapped(row, columns)), ""];
}

/** `> ` begins each line of what is typed and `+ ` what is left of it: a cut of ours is no line of the text. */
function actionRows(action: CardAction, into: string, columns: number): string[] {
  const { head, typed } = parted(action, into);
  const rows = typed.flatMap((line) =>
    wrapped(shownEnd(line), Math.max(columns - 2, 1)).map((row, index) => `${index === 0 ? ">" : "+"} ${row}`),
  );
  return [...wrapped(head, columns), ...rows];
}

/** What opens something says so in its first line. */
function parted({ type, lines }: CardAction, into: string): { head: string; typed: readonly string[] } {
  if (type === "send") return { head: `send to ${into}:`, typed: lines };
  const [head = type, ...typed] = lines;
  return { head, typed };
}

/** Blanks at the end of a line are part of it. */
function shownEnd(line: string): string {
  return line.replace(/ +$/, (blanks) => "\\u{20}".repeat(blanks.length));
}
