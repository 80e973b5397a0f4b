// A change of a file, line by line. A sign stands before each line: colour alone says nothing.
import { useMemo, useState } from "preact/hooks";
import { cutLines, limits } from "../model/cut-text.ts";
import { diffOf, type DiffLine } from "../model/diff-lines.ts";
import { ShowAll } from "./long-text.tsx";
import { Visible } from "./visible.tsx";

const signs = { same: " ", removed: "-", added: "+", gap: "⋯" } as const;
const words = { same: "", removed: "removed", added: "added", gap: "" } as const;

export function DiffView({ path, oldText, newText }: { path: string; oldText: string; newText: string }) {
  const diff = useMemo(() => diffOf(oldText, newText), [oldText, newText]);
  const [isWhole, showWhole] = useState(false);
  const { shown, rest } = isWhole ? { shown: diff.lines, rest: 0 } : cutLines(diff.lines, limits.diff);
  return (
    <figure class="diff">
      <figcaption>
        <Visible text={path} /> <span class="added">+{diff.added}</span> <span class="removed">-{diff.removed}</span>
        {oldText === "" && <span class="tag">new file</span>}
        {diff.isWhiteSpace && <span class="tag">white space only</span>}
      </figcaption>
      <table>
        <tbody>
          {shown.map((line, at) => (
            <Line line={line} isWhiteSpace={diff.isWhiteSpace} key={at} />
          ))}
        </tbody>
      </table>
      {rest > 0 && <ShowAll rest={`${rest} more lines`} onClick={() => showWhole(true)} />}
    </figure>
  );
}

function Line({ line, isWhiteSpace }: { line: DiffLine; isWhiteSpace: boolean }) {
  const { change, text, oldLine, newLine } = line;
  const isChanged = change === "added" || change === "removed";
  const shown = isWhiteSpace && isChanged ? text.replaceAll(" ", "·").replaceAll("\t", "→\t") : text;
  return (
    <tr class={change}>
      <td class="number">{oldLine}</td>
      <td class="number">{newLine}</td>
      <td class="sign">
        <span aria-hidden="true">{signs[change]}</span>
        <span class="spoken">{words[change]}</span>
      </td>
      <td class="line">
        <Visible text={shown} use="lines" />
      </td>
    </tr>
  );
}
