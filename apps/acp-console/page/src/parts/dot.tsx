// Whether a session works or waits for a person. A word stands beside the colour.
import type { DotState } from "../model/queue.ts";

const words: Readonly<Record<DotState["dot"], string>> = {
  waiting: "waits for you",
  running: "running",
  idle: "idle",
  parked: "parked",
  lost: "lost",
  closed: "closed",
};

export function Dot({ state }: { state: DotState }) {
  const { dot, count } = state;
  return (
    <span class={`state ${dot}`}>
      <span class="dot" aria-hidden="true" />
      {words[dot]}
      {count > 0 && (
        <span class="count">
          {count}
          <span class="spoken"> open</span>
        </span>
      )}
    </span>
  );
}
