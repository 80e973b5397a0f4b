// The person's answers to a proposal. They rest while one is on its way; the card goes when the Helper says so.
import { useState } from "preact/hooks";
import type { Card, DecisionEnd, DecisionRequest } from "../../../src/protocol.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

const ends: Readonly<Record<DecisionEnd, string>> = {
  confirmed: "Handed over.",
  cancelled: "Rejected.",
  unavailable: "It could not be carried out.",
  lost: "Somebody else was first, or it had ended.",
  invalid: "It can not be decided like this.",
};

export interface CardDecision {
  readonly isSent: boolean;
  /** What became of it, or why it did not arrive. */
  readonly note: string;
  readonly decide: (decision: DecisionRequest) => void;
}

export function useCardDecision(): CardDecision {
  const page = usePage();
  const [isSent, setSent] = useState(false);
  const [note, setNote] = useState("");
  const decide = async (decision: DecisionRequest): Promise<void> => {
    if (isSent || !page.isController.value || page.link === undefined) return;
    setSent(true);
    setNote("The decision is on its way…");
    try {
      const { end } = await page.link.request("card.decide", decision);
      setNote(ends[end]);
      if (end === "invalid") setSent(false);
    } catch (error) {
      setSent(false);
      setNote(error instanceof Error ? error.message : String(error));
    }
  };
  return { isSent, note, decide: (decision) => void decide(decision) };
}

interface Props {
  readonly card: Card;
  readonly decision: CardDecision;
  readonly isGuarded: boolean;
}

export function CardButtons({ card, decision, isGuarded }: Props) {
  const page = usePage();
  const { proposalId } = card;
  const rests = isGuarded || decision.isSent || !page.isController.value;
  const decide = (request: DecisionRequest): void => {
    if (!rests) decision.decide(request);
  };
  return (
    <div class="answers">
      <div class="options">
        {card.choices.flatMap(({ choice, modes }, at) =>
          modes.map((mode) => (
            <button
              type="button"
              class={mode === "run" ? "allow" : ""}
              aria-disabled={rests}
              onClick={() => decide({ proposalId, decision: "confirm", choice, mode })}
              key={`${choice} ${mode}`}
            >
              {at + 1}: {mode === "run" ? "Run" : "Insert, not run"}
            </button>
          )),
        )}
        <button
          type="button"
          class="reject"
          aria-disabled={rests}
          onClick={() => decide({ proposalId, decision: "cancel" })}
        >
          Reject
        </button>
      </div>
      <p class="receipt" role="status">
        <Visible text={decision.note} use="lines" />
      </p>
    </div>
  );
}
