// The rows of a transcript, one part for each kind.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { memo } from "preact/compat";
import { isOver } from "../model/tool-call.ts";
import type { BlockRow, CallRow, NoticeRow, PlanRow, Row, Speaker, TextRow } from "../model/transcript.ts";
import { callMark, callState } from "../model/words.ts";
import { CallContents } from "./call-content.tsx";
import { CallInput } from "./call-input.tsx";
import { ContentBlock } from "./content-block.tsx";
import { Markdown } from "./markdown.tsx";
import { Visible } from "./visible.tsx";

const names: Readonly<Record<Speaker, string>> = {
  person: "Prompt",
  agent: "Agent",
  thought: "Thinking",
  summary: "Summary of what was before",
};

interface Props {
  readonly row: Row;
  /** A turn goes on: a call that is open may still end well. */
  readonly isWorking: boolean;
}

/** Rows are replaced when they change, so the same row needs no second look. */
export const TranscriptRow = memo(function TranscriptRow({ row, isWorking }: Props) {
  switch (row.type) {
    case "text":
      return <Text row={row} />;
    case "block":
      return <Block row={row} />;
    case "plan":
      return <Plan row={row} />;
    case "call":
      return <Call row={row} isWorking={isWorking} />;
    case "notice":
      return <Notice row={row} />;
  }
});

function Text({ row }: { row: TextRow }) {
  const { speaker, text } = row;
  return (
    <div class={`row message ${speaker}`}>
      {row.begins && <p class="speaker">{names[speaker]}</p>}
      {speaker === "person" ? (
        <p class="said">
          <Visible text={text.trimEnd()} use="prose" />
        </p>
      ) : (
        <Markdown text={text} />
      )}
    </div>
  );
}

function Block({ row }: { row: BlockRow }) {
  return (
    <div class={`row message ${row.speaker}`}>
      {row.begins && <p class="speaker">{names[row.speaker]}</p>}
      <ContentBlock block={row.block} />
    </div>
  );
}

function Plan({ row }: { row: PlanRow }) {
  return (
    <div class="row plan">
      <p class="speaker">Plan</p>
      <ol>
        {row.entries.map(({ content, status, priority }, at) => (
          <li key={at} class={status}>
            <span class="mark" aria-hidden="true">
              {callMark(status)}
            </span>{" "}
            <Visible text={content} use="lines" /> <span class="spoken">({callState(status)})</span>
            {priority === "high" && <span class="tag">important</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Call({ row, isWorking }: { row: CallRow; isWorking: boolean }) {
  const { call } = row;
  const status = isWorking || isOver(call) ? call.status : "failed";
  const hasDiff = call.content.some((each) => each.type === "diff");
  return (
    <div class={`row call ${status}`}>
      <p class="title">
        <span class="mark" aria-hidden="true">
          {callMark(status)}
        </span>{" "}
        <Visible text={call.title || call.toolCallId || "A tool call"} /> <span class="tag">{callState(status)}</span>
      </p>
      <CallContents content={call.content} isOutput />
      {call.input !== undefined && (
        <details>
          <summary>Input</summary>
          <CallInput rawInput={call.input} hasDiff={hasDiff} />
        </details>
      )}
      {call.output !== undefined && (
        <details>
          <summary>Result</summary>
          <CallInput rawInput={call.output} hasDiff={false} />
        </details>
      )}
    </div>
  );
}

function Notice({ row }: { row: NoticeRow }) {
  return (
    <div class={`row notice ${row.severity === "error" || row.severity === "warning" ? "warning" : ""}`}>
      <p>
        <strong>
          <Visible text={row.title || "Notice"} />
        </strong>{" "}
        <Visible text={row.text} use="lines" />
      </p>
    </div>
  );
}
