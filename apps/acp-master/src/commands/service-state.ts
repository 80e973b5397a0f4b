// Asks the service manager what it knows of our service. It changes nothing, and a missing manager is an answer, not a failure.
import { spawnSync } from "node:child_process";
import { launchdLabel } from "./service-files.ts";

export interface ServiceState {
  /** "active", "inactive" and the like; undefined when the manager cannot be asked. */
  readonly active: string | undefined;
  /** The process that the manager runs. */
  readonly pid?: number;
  /** Why the manager cannot be asked. */
  readonly manager?: string;
}

const patienceMs = 5_000;

export function serviceState(platform: string): ServiceState {
  if (platform === "linux") return systemdState();
  if (platform === "darwin") return launchdState();
  return { active: undefined, manager: `no service manager is known on ${platform}` };
}

function systemdState(): ServiceState {
  const shown = ask("systemctl", ["--user", "show", "acp-master.service", "-p", "ActiveState", "-p", "MainPID"]);
  if (shown === undefined) return { active: undefined, manager: "systemctl --user is not available here" };
  const pid = Number(/^MainPID=(\d+)$/m.exec(shown)?.[1] ?? 0);
  return { active: /^ActiveState=(.+)$/m.exec(shown)?.[1] ?? "unknown", ...(pid > 0 ? { pid } : {}) };
}

function launchdState(): ServiceState {
  const listed = ask("launchctl", ["list"]);
  if (listed === undefined) return { active: undefined, manager: "launchctl is not available here" };
  const line = listed.split("\n").find((candidate) => candidate.endsWith(`\t${launchdLabel}`));
  const pid = Number(line?.split("\t")[0] ?? 0);
  return pid > 0 ? { active: "active", pid } : { active: line === undefined ? "not loaded" : "inactive" };
}

function ask(program: string, args: readonly string[]): string | undefined {
  const child = spawnSync(program, args, {
    encoding: "utf8",
    timeout: patienceMs,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return child.status === 0 ? child.stdout : undefined;
}
