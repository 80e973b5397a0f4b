// What a tool call shows: changes, output, pictures. Used for calls in the transcript and for permissions.
import { limits } from "../model/cut-text.ts";
import { asRecord, asText } from "../model/json-value.ts";
import type { CallContent } from "../model/tool-call.ts";
import { ContentBlock } from "./content-block.tsx";
import { DiffView } from "./diff-view.tsx";
import { LongText } from "./long-text.tsx";
import { Markdown } from "./markdown.tsx";
import { Visible } from "./visible.tsx";

/** Colours and weights of terminal output. Everything else that a terminal would obey becomes visible. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const colours = /\u001B\[[0-9;:]*m/g;

interface Props {
  readonly content: readonly CallContent[];
  /** Colours of output are left out, and text in a fence is shown as Markdown: for what has happened, not for what is asked. */
  readonly isOutput: boolean;
}

export function CallContents({ content, isOutput }: Props) {
  return (
    <>
      {content.map((each, at) => (
        <Content content={each} isOutput={isOutput} key={at} />
      ))}
    </>
  );
}

function Content({ content, isOutput }: { content: CallContent; isOutput: boolean }) {
  if (content.type === "diff") return <DiffView {...content} />;
  if (content.type === "terminal")
    return (
      <p class="muted">
        Its output is in the terminal <Visible text={content.terminalId} />, which another program shows.
      </p>
    );
  const block = asRecord(content.content);
  const text = asText(block.text);
  if (block.type !== "text") return <ContentBlock block={block} />;
  if (isOutput && text.startsWith("```")) return <Markdown text={text} />;
  return text === "" ? null : <LongText text={isOutput ? text.replace(colours, "") : text} limits={limits.block} />;
}
