// Takes the composer's place while a session waits for a person: one question at a time, the others counted and in reach.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { useState } from "preact/hooks";
import { placeOf, type Waiting } from "../model/queue.ts";
import { ApprovalPanel } from "./approval-panel.tsx";
import { CardPanel } from "./card-panel.tsx";
import { QuestionPanel } from "./question-panel.tsx";

export function WaitingPanel({ queue }: { queue: readonly Waiting[] }) {
  const [chosen, choose] = useState<string>();
  const at = placeOf(queue, chosen);
  const waiting = queue[at];
  if (waiting === undefined) return null;
  const go = (to: number): void => choose(queue[to]?.key);
  const position = queue.length > 1 ? <Position at={at} count={queue.length} go={go} /> : null;
  switch (waiting.kind) {
    case "question":
      return <QuestionPanel elicitation={waiting.elicitation} position={position} key={waiting.key} />;
    case "approval":
      return <ApprovalPanel approval={waiting.approval} position={position} key={waiting.key} />;
    case "card":
      return <CardPanel card={waiting.card} position={position} key={waiting.key} />;
  }
}

function Position({ at, count, go }: { at: number; count: number; go: (to: number) => void }) {
  return (
    <span class="position" role="group" aria-label="What waits">
      <button type="button" class="quiet" aria-label="The one before" onClick={() => go((at + count - 1) % count)}>
        ‹
      </button>{" "}
      {at + 1} of {count}{" "}
      <button type="button" class="quiet" aria-label="The next one" onClick={() => go((at + 1) % count)}>
        ›
      </button>
    </span>
  );
}
