// Asks the kernel whether a daemon listens at a path. A slow or stopped daemon is a running one; nothing is removed here.
import { lstatSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { errorCode } from "../config/error-code.ts";

export type Probe =
  /** Connected; the caller owns the connection. */
  | { readonly state: "running"; readonly connection: Socket }
  /** Somebody listens, but its queue of new connections is full. */
  | { readonly state: "crowded" }
  /** A socket of this user that nobody listens on. */
  | { readonly state: "stale" }
  | { readonly state: "absent" }
  | { readonly state: "in_the_way"; readonly message: string }
  | { readonly state: "unclear"; readonly message: string };

export async function probeSocket(path: string): Promise<Probe> {
  const obstacle = process.platform === "win32" ? undefined : obstacleAt(path);
  if (obstacle !== undefined) return obstacle;
  return await new Promise<Probe>((resolve) => {
    const connection = connect({ path, allowHalfOpen: true });
    connection.once("connect", () => {
      connection.removeAllListeners("error");
      resolve({ state: "running", connection });
    });
    connection.once("error", (error) => {
      const code = errorCode(error);
      // It was taken by a daemon that has just died: the next look shows what there is now.
      resolve(code === "ECONNRESET" ? probeSocket(path) : refusal(path, code));
    });
  });
}

function refusal(path: string, code: string): Probe {
  switch (code) {
    case "ECONNREFUSED":
      return { state: "stale" };
    case "ENOENT":
      return { state: "absent" };
    case "EAGAIN":
    case "EBUSY":
      return { state: "crowded" };
    default:
      return {
        state: "unclear",
        message: `Cannot tell whether a daemon listens on ${path} (${code}). Look at it yourself.`,
      };
  }
}

/** What makes a connection pointless or unsafe, before one is tried. */
export function obstacleAt(path: string): Exclude<Probe, { state: "running" }> | undefined {
  let stat;
  try {
    stat = lstatSync(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { state: "absent" };
    return { state: "unclear", message: `Cannot look at ${path} (${code}). Check the rights of its folder.` };
  }
  if (!stat.isSocket()) {
    const kind = stat.isSymbolicLink()
      ? "a symbolic link"
      : stat.isDirectory()
        ? "a folder"
        : "a file that is no socket";
    return { state: "in_the_way", message: `There is ${kind} at ${path}. Move it away; nothing was changed.` };
  }
  if (stat.uid !== process.getuid?.()) {
    const message = `The socket ${path} belongs to user ${stat.uid}, not to you. Remove it or use another ACP_MASTER_HOME.`;
    return { state: "in_the_way", message };
  }
  return undefined;
}
