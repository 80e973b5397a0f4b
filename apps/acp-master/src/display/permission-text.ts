// Shows a permission request to a person: what would run, in full or marked as cut, and every option in the offered order. It guesses nothing from titles.
import { painter, type Surface } from "./colour.ts";
import { asList, asRecord, asText, type JsonRecord } from "../protocol/json-value.ts";
import { shortened, visibleLine, visibleLines } from "./untrusted-text.ts";

const longestInput = 6_000;
const longestText = 12_000;
const mostLines = 120;

/** The keys that choose the options, in the offered order. */
export const optionKeys = "123456789abcdefghijklmnopqrstuvwxyz";

/** Lines that end with a line feed. */
export function permissionText(params: unknown, surface: Surface): string {
  const paint = painter(surface);
  const request = asRecord(params);
  const toolCall = asRecord(request.toolCall);
  const kind = asText(toolCall.kind);
  const lines = [
    paint("bold", visibleLine(asText(toolCall.title) || asText(toolCall.toolCallId) || "A tool call without a title")) +
      (kind === "" ? "" : `  [${visibleLine(kind)}]`),
  ];
  if (toolCall.rawInput !== undefined) {
    lines.push(`  input: ${shortened(visibleLine(JSON.stringify(toolCall.rawInput)), longestInput)}`);
  }
  for (const location of asList(toolCall.locations))
    lines.push(`  at: ${visibleLine(asText(asRecord(location).path))}`);
  for (const block of asList(toolCall.content)) lines.push(...contentLines(asRecord(block), paint));
  asList(request.options).forEach((entry, index) => {
    const option = asRecord(entry);
    const label = asText(option.name) || asText(option.optionId);
    const key = optionKeys[index] ?? "-";
    lines.push(`  ${paint("cyan", key)}  ${visibleLine(label)}  (${visibleLine(asText(option.kind) || "no kind")})`);
    // Agents say here what an "always" grants.
    if (option._meta !== undefined)
      lines.push(`     ${shortened(visibleLine(JSON.stringify(option._meta)), longestInput)}`);
  });
  return lines.map((line) => `${line}\n`).join("");
}

function contentLines(block: JsonRecord, paint: ReturnType<typeof painter>): string[] {
  if (block.type === "diff") {
    return [
      `  diff: ${visibleLine(asText(block.path))}`,
      ...bounded(asText(block.oldText)).map((line) => paint("red", `  - ${line}`)),
      ...bounded(asText(block.newText)).map((line) => paint("green", `  + ${line}`)),
    ];
  }
  const text = asText(asRecord(block.content).text);
  return text === "" ? [] : bounded(text).map((line) => `  | ${line}`);
}

function bounded(text: string): string[] {
  if (text === "") return [];
  const lines = visibleLines(shortened(text, longestText)).split("\n");
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines), `… (${lines.length - mostLines} more lines)`];
}
