// Shows one line of the daemon's log to a person: time, level, text, fields. A line that is not JSON is shown as it is, made visible.
import { painter, type Paint, type Surface } from "./colour.ts";
import { asRecord, asText, type JsonRecord } from "../protocol/json-value.ts";
import { visibleLine } from "./untrusted-text.ts";

const paints: Readonly<Record<string, Paint>> = {
  error: "red",
  fatal: "red",
  warn: "yellow",
  debug: "dim",
  trace: "dim",
};

/**
 *     logLine('{"level":"info","time":"2026-01-01T00:00:00.000Z","pid":7,"agent":"demo","msg":"agent started"}', process.stdout)
 *     // "2026-01-01T00:00:00.000Z info  agent started agent=demo"
 */
export function logLine(line: string, surface: Surface): string {
  const paint = painter(surface);
  const record = parsed(line);
  if (record === undefined) return visibleLine(line);
  const { level, time, msg, pid: _ofTheDaemon, ...fields } = record;
  const name = typeof level === "string" ? level : "?";
  const rest = Object.entries(fields)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const shown = visibleLine(name).padEnd(5);
  const text = visibleLine(typeof msg === "string" ? msg : "");
  return `${paint("dim", visibleLine(asText(time) || "-"))} ${paints[name] === undefined ? shown : paint(paints[name], shown)} ${text}${rest === "" ? "" : ` ${paint("dim", visibleLine(rest))}`}`;
}

function parsed(line: string): JsonRecord | undefined {
  try {
    return line.startsWith("{") ? asRecord(JSON.parse(line)) : undefined;
  } catch {
    return undefined; // torn by a crash, or foreign
  }
}
