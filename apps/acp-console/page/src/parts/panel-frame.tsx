// What all questions that take the composer's place have in common: focus, keys, the guard time.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { optionOfKey } from "../model/key-guard.ts";
import { useAnswerGuard } from "./guard.ts";

interface Props {
  readonly heading: ComponentChildren;
  /** Where in the queue it stands. */
  readonly position: ComponentChildren;
  readonly className: string;
  /** How many answers the number keys choose among, and what they and Escape do. */
  readonly choices: number;
  readonly choose: (choice: number) => void;
  readonly refuse: (() => void) | undefined;
  /** The answer's controls; `isGuarded`: they must do nothing yet. */
  readonly children: (guard: { readonly isGuarded: boolean }) => ComponentChildren;
}

const focusable = "a[href], button, input, select, textarea, summary, [tabindex='0']";

export function PanelFrame({ heading, position, className, choices, choose, refuse, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  const id = useId();
  const guard = useAnswerGuard();

  // It takes the focus that the composer, or the question before it, had; never from somebody who is elsewhere.
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) panel.current?.focus();
  }, []);

  const keyDown = (event: KeyboardEvent): void => {
    if (event.key === "Tab") return stayInside(event, panel.current);
    const { target } = event;
    const isField = target instanceof HTMLElement && target.matches("input, textarea, select");
    if (guard.rejects() || isField) return;
    const choice = optionOfKey(event, choices);
    if (choice !== undefined) choose(choice);
    else if (event.key === "Escape" && !event.repeat) refuse?.();
  };

  return (
    <section ref={panel} class={`panel ${className}`} tabIndex={-1} aria-labelledby={id} onKeyDown={keyDown}>
      <header>
        <h2 id={id}>{heading}</h2>
        {position}
        <button type="button" class="quiet leave" onClick={leave}>
          Leave it waiting
        </button>
      </header>
      {children(guard)}
    </section>
  );
}

/** The way out for the keyboard: nothing is answered. */
function leave(): void {
  document.querySelector<HTMLElement>("nav [aria-current], nav a")?.focus();
}

function stayInside(event: KeyboardEvent, panel: HTMLElement | null): void {
  const stops = [...(panel?.querySelectorAll<HTMLElement>(focusable) ?? [])].filter((each) => each.checkVisibility());
  const first = stops[0];
  const last = stops.at(-1);
  const { activeElement } = document;
  if (event.shiftKey && (activeElement === first || activeElement === panel)) last?.focus();
  else if (!event.shiftKey && activeElement === last) first?.focus();
  else return;
  event.preventDefault();
}
