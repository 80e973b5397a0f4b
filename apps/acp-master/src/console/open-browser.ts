// Opens an address that holds a secret in the person's browser. Arguments of programs can be read by everybody on the
// machine, so the browser is given a private file that leads to the address.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Places } from "../config/places.ts";
import { removeQuietly } from "../daemon/owned-file.ts";

/** False when there is no program here that opens addresses. */
export async function openBrowser(places: Places, address: string): Promise<boolean> {
  const file = join(places.runDir, "console-open.html");
  removeQuietly(file);
  // The address has no character that HTML would read: an origin and base64url.
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}">\n`, {
    flag: "wx",
    mode: 0o600,
  });
  const [command, ...args] = opener();
  const child = spawn(command, [...args, pathToFileURL(file).href], { stdio: "ignore", detached: true });
  let timer: NodeJS.Timeout | undefined;
  const opened = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    // Some are the browser itself, and stay.
    timer = setTimeout(() => resolve(true), 5000);
  });
  clearTimeout(timer);
  child.unref();
  return opened;
}

function opener(): [string, ...string[]] {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["explorer.exe"];
  return ["xdg-open"];
}
