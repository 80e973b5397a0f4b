// Text that may be too long to be shown at once: cut with a mark, and whole on request.
import { useState } from "preact/hooks";
import { cutText, type Limits } from "../model/cut-text.ts";
import { Visible } from "./visible.tsx";

/** Several lines, in the writing of machines. */
export function LongText({ text, limits }: { text: string; limits: Limits }) {
  const [isWhole, showWhole] = useState(false);
  const { shown, rest } = isWhole ? { shown: text, rest: 0 } : cutText(text, limits);
  return (
    <pre>
      <Visible text={shown} use="lines" />
      {rest > 0 && <ShowAll rest={`${rest} more characters`} onClick={() => showWhole(true)} />}
    </pre>
  );
}

export function ShowAll({ rest, onClick }: { rest: string; onClick: () => void }) {
  return (
    <span class="cut">
      … {rest}{" "}
      <button type="button" class="quiet" onClick={onClick}>
        Show all
      </button>
    </span>
  );
}
