// `acp-master connect`: what an editor starts in an agent's place. Reaches the daemon, then relays; its standard output carries JSON-RPC lines only.
// It is started often and loads little: no checker, no logger, no command line.
import { type Places, resolvePlaces } from "../config/places.ts";
import { VERSION } from "../version.ts";
import { editorStdio } from "./editor-stdio.ts";
import { reachDaemon } from "./ensure-daemon.ts";
import { nextDaemon } from "./next-daemon.ts";
import { refuse } from "./refuse.ts";
import { relay } from "./relay.ts";

export interface ShimOptions {
  readonly agent: string | undefined;
  readonly observer: boolean;
  /** False: fail when no daemon runs. */
  readonly start: boolean;
  readonly places?: Places;
  /** The script that is run with `serve`; by default the one that runs. */
  readonly program?: string;
}

/** The exit code; the caller ends the process with it: 0 done, 1 failed, 3 no daemon, 130 interrupted. */
export async function runShim({ agent, observer, start, places, program }: ShimOptions): Promise<number> {
  const stdio = editorStdio();
  const where = places ?? resolvePlaces(process.env);
  const how = { start, ...(program === undefined ? {} : { program }) };
  const reached = await reachDaemon(where, how);
  if (!reached.ok) return await refuse(stdio, reached.message, reached.reason === "no_daemon" ? 3 : 1);
  return await relay(stdio, reached.connection, {
    introduction: { agent, role: observer ? "observer" : "controller", version: VERSION },
    nextDaemon: (announced) => nextDaemon(where, { ...how, announced }),
  });
}
