// How a daemon in the background tells the process that started it whether it became ready. It says nothing to anybody else.
import { closeSync, fstatSync, writeSync } from "node:fs";
import type { ReadyFacts } from "./ready-line.ts";

export type StartReport =
  | ({ readonly ready: true } & ReadyFacts)
  /** `running`: another daemon has the socket, which is as good for who asked. */
  | { readonly ready: false; readonly reason: string; readonly error: string };

/** Names the inherited descriptor of the pipe; set by the starter for its child alone. */
export const reportVariable = "ACP_MASTER_REPORT_FD";
export const longestReport = 8192;

/**
 * Takes the pipe out of the environment, so that no child of the daemon learns of it. Returns the function that reports
 * once and closes the pipe; later calls do nothing, and so does every call in a daemon that nobody waits for.
 *
 *     const report = takeStartReport(process.env);
 *     report({ ready: true, pid: process.pid, socket: path, version: VERSION });
 */
export function takeStartReport(env: NodeJS.ProcessEnv): (report: StartReport) => void {
  let descriptor = pipeDescriptor(env[reportVariable]);
  delete env[reportVariable];
  return (report) => {
    if (descriptor === undefined) return;
    const pipe = descriptor;
    descriptor = undefined;
    const error = "error" in report ? { error: report.error.slice(0, longestReport / 8) } : {};
    try {
      writeSync(pipe, `${JSON.stringify({ ...report, ...error })}\n`);
    } catch {
      // The starter is gone; the daemon serves others.
    }
    try {
      closeSync(pipe);
    } catch {
      // Closed by somebody else: nothing to give back.
    }
  };
}

/** A number that leaked through an environment must not make the daemon write into some other file. */
function pipeDescriptor(text: string | undefined): number | undefined {
  if (text === undefined || !/^[1-9][0-9]{0,3}$/.test(text) || Number(text) < 3) return undefined;
  const descriptor = Number(text);
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket() ? descriptor : undefined;
  } catch {
    return undefined; // not open
  }
}

/** `undefined` when the line is no report. */
export function readStartReport(line: string): StartReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined; // cut off by the daemon's end
  }
  if (typeof value !== "object" || value === null || !("ready" in value)) return undefined;
  const { pid, socket, version, reason, error } = { ...value } as Readonly<Record<string, unknown>>;
  if (value.ready === true && typeof pid === "number" && typeof socket === "string" && typeof version === "string") {
    return { ready: true, pid, socket, version };
  }
  if (value.ready === false && typeof reason === "string" && typeof error === "string") {
    return { ready: false, reason, error };
  }
  return undefined;
}
