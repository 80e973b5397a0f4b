// Says aloud what somebody who does not look would miss: new permissions and proposals, how they ended, the end of a turn. Also the page's title.
import { useEffect, useRef, useState } from "preact/hooks";
import { asRecord, asText } from "../model/json-value.ts";
import { visibleLine } from "../model/visible-text.ts";
import { outcomeWord } from "../model/words.ts";
import { usePage } from "./page-context.ts";

const longest = 250;

export function Announcer() {
  const page = usePage();
  const view = page.view.value;
  const count = page.waiting.value;
  const [urgent, setUrgent] = useState("");
  const [calm, setCalm] = useState("");
  const known = useRef<ReadonlySet<string>>(new Set());
  const shown = page.open.value?.sessionId ?? "";
  const state = view.sessions.get(shown)?.state;
  const before = useRef({ shown, state });

  useEffect(() => {
    document.title = count > 0 ? `(${count}) acp-master` : "acp-master";
  }, [count]);

  useEffect(() => {
    const fresh = [
      ...view.approvals.map(({ approvalId, agent, params }) => ({
        key: approvalId,
        said: `${agent} asks for permission: ${asText(asRecord(params.toolCall).title)}`,
      })),
      ...view.cards.map(({ proposalId, agent, choices }) => ({
        key: proposalId,
        said: `${agent} proposes: ${choices[0]?.title ?? ""}`,
      })),
    ].filter(({ key }) => !known.current.has(key));
    known.current = new Set([
      ...view.approvals.map(({ approvalId }) => approvalId),
      ...view.cards.map(({ proposalId }) => proposalId),
    ]);
    const first = fresh[0];
    if (first === undefined) return;
    const more = fresh.length > 1 ? ` And ${fresh.length - 1} more.` : "";
    setUrgent(`${visibleLine(first.said.slice(0, longest))}.${more}`);
  }, [view.approvals, view.cards]);

  useEffect(() => {
    const { lastResolved } = view;
    if (lastResolved === undefined) return;
    const { outcome, by } = lastResolved;
    setCalm(`A permission ${outcomeWord(outcome.result)}, by ${visibleLine(by.name || by.kind)}.`);
  }, [view.lastResolved]);

  useEffect(() => {
    const was = before.current;
    before.current = { shown, state };
    if (was.shown === shown && was.state === "running" && state === "idle") setCalm("The agent has ended its turn.");
  }, [shown, state]);

  return (
    <div class="spoken">
      <div aria-live="assertive">{urgent}</div>
      <div aria-live="polite">{calm}</div>
    </div>
  );
}
