// A proposal that the shown session's agent made. It came from the Helper, past the master.
import type { ComponentChildren } from "preact";
import type { Card } from "../../../src/protocol.ts";
import { CardBody } from "./card-body.tsx";
import { CardButtons, useCardDecision } from "./card-decision.tsx";
import { Deadline } from "./deadline.tsx";
import { PanelFrame } from "./panel-frame.tsx";
import { Visible } from "./visible.tsx";

export function CardPanel({ card, position }: { card: Card; position: ComponentChildren }) {
  const decision = useCardDecision();
  const { proposalId, choices } = card;
  const run = (at: number): void => {
    const chosen = choices[at];
    if (chosen?.modes.includes("run") === true)
      decision.decide({ proposalId, decision: "confirm", choice: chosen.choice, mode: "run" });
  };
  return (
    <PanelFrame
      heading={
        <>
          <Visible text={card.agent} /> proposes
        </>
      }
      position={position}
      className="card"
      choices={choices.length}
      choose={run}
      refuse={() => decision.decide({ proposalId, decision: "cancel" })}
    >
      {({ isGuarded }) => (
        <>
          <CardBody card={card} />
          <Deadline at={card.deadline} ends="Ends by itself" />
          <CardButtons card={card} decision={decision} isGuarded={isGuarded} />
        </>
      )}
    </PanelFrame>
  );
}
