// Where the demo agent keeps its sessions. Only this file knows the place.
import { homedir } from "node:os";
import { join } from "node:path";

export function storeFolder(env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME;
  const base = state === undefined || state === "" ? join(homedir(), ".local", "state") : state;
  return join(base, "acp-master-demo-agent");
}
