// The environment that an agent gets: an allow list, the agent's own settings, this run's marker. Nothing else of the daemon's.
import type { AgentDefinition } from "./agent-definition.ts";

/** Every process of an agent inherits it; the Reaper finds the ones that left their group by it. */
export const runMarkerVariable = "ACP_MASTER_RUN";

const posixNames = words(`
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE TMPDIR TZ
  TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERMINFO TERMINFO_DIRS`);
const proxyNames = words("HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY");
const windowsNames = words(`
  SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS TEMP TMP
  APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE PUBLIC USERPROFILE HOMEDRIVE HOMEPATH
  USERNAME USERDOMAIN COMPUTERNAME NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE
  PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES COMMONPROGRAMFILES(X86)`);
const prefixes = ["LC_", "XDG_"];

/**
 * `parent` is the daemon's own environment. The agent's `env` wins over what is handed on. Whatever begins with ACP_MASTER_
 * is left out wherever it comes from: an agent is not told where its master is.
 */
export function agentEnvironment(
  definition: Pick<AgentDefinition, "env" | "passEnv">,
  parent: NodeJS.ProcessEnv,
  runMarker: string,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const ignoresCase = platform === "win32";
  const key = (name: string) => (ignoresCase ? name.toUpperCase() : name);
  const allowed = new Set(
    [
      ...posixNames,
      ...proxyNames.flatMap((name) => [name, name.toLowerCase()]),
      ...(ignoresCase ? windowsNames : []),
      ...definition.passEnv,
    ].map(key),
  );
  // First, so that even a reader that stops at the first NUL finds it.
  const environment = new Map<string, readonly [string, string]>([[runMarkerVariable, [runMarkerVariable, runMarker]]]);
  const put = (name: string, value: string) => {
    if (!namesTheMaster(name)) environment.set(key(name), [name, value]);
  };
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue;
    if (allowed.has(key(name)) || prefixes.some((prefix) => key(name).startsWith(prefix))) put(name, value);
  }
  for (const [name, value] of Object.entries(definition.env)) put(name, value);
  return Object.fromEntries(environment.values());
}

function namesTheMaster(name: string): boolean {
  return name.toUpperCase().startsWith("ACP_MASTER_");
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
