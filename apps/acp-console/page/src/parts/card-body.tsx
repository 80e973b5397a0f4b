// What a proposal would do: its choices with the exact text of each action. The Helper has made that text visible already.
import { useEffect } from "preact/hooks";
import type { Card } from "../../../src/protocol.ts";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function CardBody({ card }: { card: Card }) {
  const page = usePage();
  const { proposalId, choices, recommended, target, detached } = card;
  // Whoever proposed waits only a few seconds for somebody who can see it.
  useEffect(() => {
    const tell = (): void => {
      if (document.visibilityState === "visible") page.cardSeen(proposalId);
    };
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [proposalId]);
  return (
    <>
      <p class="muted">
        {target === null ? "For a new place" : <>For {<Visible text={target} />}</>}
        {detached && ". Who proposed it does not wait any more; it can still be decided."}
      </p>
      <div class="asked" tabIndex={0} role="group" aria-label="What is proposed">
        {choices.map(({ choice, title, rationale, actions }, at) => (
          <article class={choice === recommended ? "choice recommended" : "choice"} key={choice}>
            <h3>
              {at + 1}. <Visible text={title} />
              {choice === recommended && <span class="tag">recommended</span>}
            </h3>
            <p>
              <Visible text={rationale} use="lines" />
            </p>
            {actions.map((action, number) => (
              <div key={number}>
                <span class="tag">
                  <Visible text={action.type} />
                </span>
                <pre>
                  <Visible text={action.lines.join("\n")} use="lines" />
                </pre>
              </div>
            ))}
          </article>
        ))}
      </div>
    </>
  );
}
