// The closed list: everything that a client or an agent sees otherwise when the master stands between, and why. What is not
// here is a fault of the master.
import type { Allowed } from "./allowed.ts";
import { atTheDoor } from "./differences-at-the-door.ts";
import { inTurns } from "./differences-in-turns.ts";
import { ofSessions } from "./differences-of-sessions.ts";

export const allowedDifferences: readonly Allowed[] = [...atTheDoor, ...inTurns, ...ofSessions];
