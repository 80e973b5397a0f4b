// Names of sockets that exist for a moment only: on their way to their place, or until the one connection is made that they are for.
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly } from "./owned-file.ts";
import { obstacleAt } from "./probe-socket.ts";

const unplaced = /^m[0-9a-f]{10}$/;

/** As long as "master.sock", so it fits where that fits. */
export function unplacedSocket(folder: string): string {
  return join(folder, `m${randomBytes(5).toString("hex")}`);
}

/** A daemon that was killed in that moment leaves one. */
export function removeUnplacedSockets(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (unplaced.test(name) && obstacleAt(join(folder, name)) === undefined) removeQuietly(join(folder, name));
  }
}
