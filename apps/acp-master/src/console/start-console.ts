// Starts the console's process in the background and waits until it serves or says why not.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../config/places.ts";
import { ensurePrivateFolder } from "../daemon/private-folder.ts";
import { asRecord, asText } from "../protocol/json-value.ts";
import { backgroundEnvironment, backgroundFolder } from "../shim/start-daemon.ts";

const startMs = 20_000;
const longestLine = 8192;

/** Empty when it serves, else why not. */
export async function startConsole(places: Places, program: string, settings: object): Promise<string> {
  const logs = ensurePrivateFolder(places.logDir);
  if (!logs.ok) return logs.message;
  const errorFile = join(places.logDir, "console-errors.txt");
  // Each start begins the file anew, so it stays small.
  const errors = openSync(errorFile, "w", 0o600);
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    detached: true,
    windowsHide: true,
    cwd: backgroundFolder(),
    env: backgroundEnvironment(process.env, places),
    stdio: ["ignore", "pipe", errors],
  });
  closeSync(errors);
  let timer: NodeJS.Timeout | undefined;
  try {
    const line = await new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('{"error":"it was not ready in time"}'), startMs);
      child.once("error", () => resolve('{"error":"its program cannot be run"}'));
      child.once("close", () => resolve(`{"error":"it ended before it was ready; see console-errors.txt"}`));
      let text = "";
      child.stdout?.setEncoding("utf8");
      child.stdout?.on("data", (part: string) => {
        text = (text + part).slice(0, longestLine);
        const end = text.indexOf("\n");
        if (end >= 0) resolve(text.slice(0, end));
      });
    });
    const { ready, error } = asRecord(JSON.parse(line));
    if (ready === true) return "";
    child.kill();
    return asText(error) || "it ended without a word";
  } finally {
    clearTimeout(timer);
    child.stdout?.destroy();
    child.unref();
  }
}
