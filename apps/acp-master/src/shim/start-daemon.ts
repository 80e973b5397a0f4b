// Starts one daemon in the background and waits until it is ready or has failed. It decides nothing about whether one is needed.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { errorCode } from "../config/error-code.ts";
import type { Places } from "../config/places.ts";
import { ensurePrivateFolder } from "../daemon/private-folder.ts";
import { longestReport, readStartReport, reportVariable, type StartReport } from "../daemon/start-report.ts";
import { visibleLine } from "../display/untrusted-text.ts";

export interface DaemonProgram {
  /** The script that knows `serve`. */
  readonly program: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

export type StartedDaemon = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** The daemon keeps running when this process ends; one that is not ready in time is ended. */
export async function startDaemon(places: Places, how: DaemonProgram): Promise<StartedDaemon> {
  const errors = openErrorFile(places);
  let child: ChildProcess;
  try {
    const [command, ...args] = orphaned([process.execPath, how.program, ...how.args]);
    child = spawn(command, args, {
      detached: true,
      windowsHide: true,
      cwd: backgroundFolder(),
      env: daemonEnvironment(process.env, places),
      stdio: ["ignore", "ignore", errors?.descriptor ?? "ignore", "pipe"],
    });
  } catch (error) {
    return { ok: false, message: `The daemon could not be started (${errorCode(error)}).` };
  } finally {
    if (errors !== undefined) closeSync(errors.descriptor);
  }
  const news = await firstNews(child, how.timeoutMs);
  child.unref();
  if (news.news === "late") endGroup(child);
  const problem = problemOf(news, how.timeoutMs, errors?.path);
  return problem === undefined ? { ok: true } : { ok: false, message: problem };
}

/**
 * Some editors end everything below the command they started, found by parent. The daemon is therefore started by a shell
 * that ends at once, and is nobody's child any more. It stays in that shell's process group.
 */
function orphaned(line: readonly string[]): readonly [string, ...string[]] {
  const [command = "", ...args] = line;
  return process.platform === "win32" ? [command, ...args] : ["/bin/sh", "-c", '"$0" "$@" &', command, ...args];
}

function endGroup(child: ChildProcess): void {
  if (process.platform === "win32" || child.pid === undefined) {
    child.kill("SIGKILL");
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself in the meantime.
  }
}

function problemOf(end: News, timeoutMs: number, errorFile: string | undefined): string | undefined {
  switch (end.news) {
    case "report":
      // Another daemon was faster: that one will do.
      if (end.report.ready || end.report.reason === "running") return undefined;
      return `The daemon did not start: ${visibleLine(end.report.error)}`;
    case "ended": {
      const said = errorFile === undefined ? "" : lastLine(errorFile);
      return `The daemon ended before it was ready${said}. Try: acp-master serve`;
    }
    case "failed":
      return `The daemon could not be started (${end.code}).`;
    case "late":
      return `The daemon was not ready after ${timeoutMs / 1000} s. Try: acp-master serve`;
    default:
      return end satisfies never;
  }
}

type News =
  | { readonly news: "report"; readonly report: StartReport }
  | { readonly news: "ended" }
  | { readonly news: "failed"; readonly code: string }
  | { readonly news: "late" };

async function firstNews(child: ChildProcess, timeoutMs: number): Promise<News> {
  const stream = child.stdio[3];
  const pipe = stream instanceof Readable ? stream : undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<News>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, { news: "late" });
      child.once("error", (error) => resolve({ news: "failed", code: errorCode(error) }));
      // "close" and not "exit": the shell ends at once, the daemon holds the pipe until it has reported or ended.
      child.once("close", () => resolve({ news: "ended" }));
      let text = "";
      pipe?.setEncoding("utf8");
      pipe?.on("error", () => {}); // its end is seen as the child's
      pipe?.on("data", (part: string) => {
        text = (text + part).slice(0, longestReport);
        const report = text.includes("\n") ? readStartReport(text.slice(0, text.indexOf("\n"))) : undefined;
        if (report !== undefined) resolve({ news: "report", report });
      });
    });
  } finally {
    clearTimeout(timer);
    pipe?.destroy();
  }
}

/** What the daemon says before it can log. Each start begins the file anew, so it stays small. */
function openErrorFile(places: Places): { path: string; descriptor: number } | undefined {
  const path = join(places.logDir, "start-errors.txt");
  try {
    if (!ensurePrivateFolder(places.logDir).ok) return undefined;
    return { path, descriptor: openSync(path, "w", 0o600) };
  } catch {
    return undefined; // the daemon itself reports a log folder that it cannot use
  }
}

function lastLine(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return ""; // nothing to add
  }
  // The line that names the error, as Node prints it; else the last one that says something.
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s+at |^Node\.js v/.test(line));
  const line = lines.findLast((candidate) => /^\w*Error\b/.test(candidate)) ?? lines.at(-1);
  return line === undefined ? "" : `: ${visibleLine(line.slice(0, 300))} (see ${path})`;
}

/** The folder of whoever asked first must not be held, and means nothing to later clients. */
export function backgroundFolder(): string {
  try {
    const home = realpathSync(homedir());
    return statSync(home).isDirectory() ? home : "/";
  } catch {
    return "/";
  }
}

/** Debuggers, loaders and package managers speak through these to one process and its own children only. */
const notForDaemons =
  /^(NODE_OPTIONS|NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_UNIQUE_ID|VSCODE_INSPECTOR_OPTIONS|npm_.*|INIT_CWD|OLDPWD)$/i;

/** The rest is kept for `passEnv`; what agents get of it is decided by an allow list of its own. */
export function daemonEnvironment(env: NodeJS.ProcessEnv, places: Places): NodeJS.ProcessEnv {
  return { ...backgroundEnvironment(env, places), [reportVariable]: "3" };
}

/** For a program that goes on when the one that started it has ended. */
export function backgroundEnvironment(env: NodeJS.ProcessEnv, places: Places): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !notForDaemons.test(name));
  return {
    ...Object.fromEntries(kept),
    PWD: backgroundFolder(),
    ...(places.homeOverride === undefined ? {} : { ACP_MASTER_HOME: places.homeOverride }),
  };
}
