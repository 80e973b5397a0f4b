// What a permission is asked for: everything that the agent said, nothing guessed. In a region that scrolls, so that the answers stay in sight.
import { useState } from "preact/hooks";
import type { ApprovalRow } from "../../../src/protocol.ts";
import { asRecord } from "../model/json-value.ts";
import { mergedCall } from "../model/tool-call.ts";
import { kindWord } from "../model/words.ts";
import { CallContents } from "./call-content.tsx";
import { CallInput } from "./call-input.tsx";
import { usePage } from "./page-context.ts";
import { Visible } from "./visible.tsx";

export function ApprovalBody({ approval }: { approval: ApprovalRow }) {
  const page = usePage();
  const [whole, setWhole] = useState<ApprovalRow>();
  const [problem, setProblem] = useState("");
  const { params, cutAt } = whole ?? approval;
  const open = page.open.value;
  const announced = open?.sessionId === approval.sessionId ? open.transcript.callOf(approval.toolCallId) : undefined;
  const asked = asRecord(params.toolCall);
  const call = mergedCall(announced, asked);
  const kind = kindWord(call.kind);
  const isFromBefore = asked.rawInput === undefined && announced?.input !== undefined;
  const loadWhole = async (): Promise<void> => {
    try {
      const result = await page.link?.request("approval", { approvalId: approval.approvalId });
      setWhole(result?.approval);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="asked" tabIndex={0} role="group" aria-label="What is asked for">
      <p class="title">
        <Visible text={call.title || call.toolCallId || "A tool call without a title"} />{" "}
        <span class="tag">{kind}</span>
      </p>
      {call.locations.length > 0 && (
        <ul class="locations" aria-label="Where">
          {call.locations.map((path, at) => (
            <li key={at}>
              <Visible text={path} />
            </li>
          ))}
        </ul>
      )}
      {isFromBefore && <p class="muted">The request only names the call; this is what was announced for it:</p>}
      <CallInput rawInput={call.input} hasDiff={call.content.some((each) => each.type === "diff")} />
      <CallContents content={call.content} isOutput={false} />
      {cutAt !== undefined && (
        <p class="warning">
          Texts longer than {cutAt} characters are cut here.{" "}
          <button type="button" class="quiet" onClick={() => void loadWhole()}>
            Load all
          </button>{" "}
          {problem}
        </p>
      )}
    </div>
  );
}
