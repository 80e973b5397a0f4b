// The cards that wait, as text for programs and pipes. It decides nothing and counts as nobody who has seen them.
import { visibleLine } from "@acp-master/helper-sdk";
import { headline } from "./list-view.ts";
import { OpenCards } from "./open-cards.ts";

const patienceMs = 5_000;

/** Tab-separated lines below a header; with `json` an object `{cards, notices}`. */
export async function printList(paths: readonly string[], { json }: { readonly json: boolean }): Promise<string> {
  using open = await answered(paths);
  const { cards, notices } = open;
  if (json) return `${asciiJson({ cards, notices })}\n`;
  const rows = cards.map((card) => {
    const ends = new Date(card.deadline).toISOString();
    return [card.proposalId, visibleLine(card.sessionId), card.target ?? "-", ends, headline(card)];
  });
  return [["proposal", "session", "target", "ends", "what"], ...rows].map((cells) => `${cells.join("\t")}\n`).join("");
}

/** The same value for a parser, and nothing in it that a terminal would obey. */
function asciiJson(value: object): string {
  return JSON.stringify(value, undefined, 2).replace(/[^\n -~]/g, escapedUnit);
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Once every Helper has said what waits in it, or is late. */
async function answered(paths: readonly string[]): Promise<OpenCards> {
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(open), patienceMs);
    const open = new OpenCards({ name: "acp-master review", onChange: () => settle() });
    const settle = () => {
      if (!open.isSettled) return;
      clearTimeout(timer);
      resolve(open);
    };
    open.follow(paths);
    settle();
  });
}
