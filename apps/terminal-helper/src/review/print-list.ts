// The cards that wait, as text for programs and pipes. It decides nothing and counts as nobody who has seen them.
import { headline } from "./list-view.ts";
import { OpenCards } from "./open-cards.ts";

const patienceMs = 5_000;

/** Tab-separated lines below a header; with `json` an object `{cards, notices}`. */
export async function printList(paths: readonly string[], { json }: { readonly json: boolean }): Promise<string> {
  using open = await answered(paths);
  const { cards, notices } = open;
  if (json) return `${JSON.stringify({ cards, notices }, undefined, 2)}\n`;
  const rows = cards.map((card) => {
    const ends = new Date(card.deadline).toISOString();
    return [card.proposalId, card.sessionId, card.target ?? "-", ends, headline(card)];
  });
  return [["proposal", "session", "target", "ends", "what"], ...rows].map((cells) => `${cells.join("\t")}\n`).join("");
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
