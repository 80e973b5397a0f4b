// What the console's process is started with: it reads no configuration itself.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Places } from "../config/places.ts";
import type { Config } from "../config/schema.ts";
import { VERSION } from "../version.ts";

/** Where the running console takes requests for addresses; a name no longer than the daemon's own. */
export const controlPath = (places: Places): string => join(dirname(places.socketPath), "web.sock");

export const consoleFile = (places: Places): string => join(places.runDir, "console.json");

/** The console's program and its page lie beside the bundled program. */
export const consoleProgram = (): string => fileURLToPath(new URL("acp-console.js", import.meta.url));

export function consoleSettings(places: Places, config: Config["console"]): object {
  const { host, port, origins, proxies, tls, readOnly } = config;
  return {
    version: VERSION,
    socketPath: places.socketPath,
    controlPath: controlPath(places),
    runFile: consoleFile(places),
    pageFolder: fileURLToPath(new URL("console", import.meta.url)),
    host,
    port,
    origins,
    proxies,
    tls: tls.cert === undefined || tls.key === undefined ? null : { cert: tls.cert, key: tls.key },
    readOnly,
  };
}
