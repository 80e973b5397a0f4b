// Where everything of one installation lies on disk. It computes paths and creates nothing.
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import envPaths from "env-paths";

export interface Places {
  readonly configFile: string;
  readonly runDir: string;
  readonly stateDir: string;
  readonly logDir: string;
  /** What to listen on and connect to: never longer than the kernel takes. */
  readonly socketPath: string;
  readonly masterFile: string;
  /** The absolute folder of ACP_MASTER_HOME, when it is set. */
  readonly homeOverride: string | undefined;
}

/** The longest socket path that every supported system takes whole; Node 20 cuts a longer one silently. */
export const longestSocketPath = 103;

/**
 * ACP_MASTER_HOME is read from `env`; the platform's own places are those of this process.
 * The same installation gives the same socket whatever TMPDIR or XDG_RUNTIME_DIR of the caller say, because an editor,
 * a shell and a service manager rarely agree on them.
 *
 *     resolvePlaces(process.env).socketPath   // "/home/me/.local/state/acp-master/run/master.sock"
 */
export function resolvePlaces(env: NodeJS.ProcessEnv): Places {
  const override = env.ACP_MASTER_HOME;
  if (override !== undefined && override !== "") {
    const home = resolve(override.replace(/^~(?=\/|$)/, homedir()));
    return withRunDir({
      configFile: join(home, "config.json"),
      runDir: join(home, "run"),
      stateDir: join(home, "state"),
      logDir: join(home, "log"),
      homeOverride: home,
    });
  }
  const platform = envPaths("acp-master", { suffix: "" });
  const onLinux = process.platform !== "darwin" && process.platform !== "win32";
  // On Linux env-paths keeps XDG_STATE_HOME under the name "log".
  const kept = onLinux ? platform.log : platform.data;
  return withRunDir({
    configFile: join(platform.config, "config.json"),
    runDir: join(kept, "run"),
    stateDir: join(kept, "state"),
    logDir: onLinux ? join(kept, "log") : platform.log,
    homeOverride: undefined,
  });
}

function withRunDir(places: Omit<Places, "socketPath" | "masterFile">): Places {
  return {
    ...places,
    socketPath: socketPathFor(places.runDir),
    masterFile: join(places.runDir, "master.json"),
  };
}

/** The decision is made on the real path, so two spellings of one folder cannot lead to two sockets. */
function socketPathFor(runDir: string): string {
  const real = realPathOf(runDir);
  if (process.platform === "win32") return `\\\\.\\pipe\\acp-master-${digest(real.toLowerCase())}`;
  const inRealDir = join(real, "master.sock");
  if (Buffer.byteLength(inRealDir) > longestSocketPath) {
    return `/tmp/acp-master-${process.getuid?.() ?? "user"}-${digest(real)}/s`;
  }
  const asSpelled = join(runDir, "master.sock");
  return Buffer.byteLength(asSpelled) > longestSocketPath ? inRealDir : asSpelled;
}

/** Resolves the part that exists; what is not there yet is taken as it is spelled. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Not there yet, or not readable: ask for the folder above.
    const above = dirname(path);
    return above === path ? path : join(realPathOf(above), basename(path));
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
