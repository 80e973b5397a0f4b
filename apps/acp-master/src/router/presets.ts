// What the Helpers' presets mean here: which are known, which one holds for whom, what it forbids, who is shown the option.
// It knows them by what was declared of them, never by name.

import { isDeepStrictEqual } from "node:util";
import { narrowestPreset, type Preset } from "@acp-master/permission-core";
import type { Helpers } from "../helper/helpers.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";
import type { ChildSessions } from "./child-sessions.ts";
import { memberOf } from "./raw-object.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { approvalsChanged } from "./session-notices.ts";
import { wait } from "../wait.ts";

/** A session opens without its approvals option when the Helper takes longer to declare its presets. */
const PRESETS_MS = 5000;

export class Presets {
  readonly #router: Router;
  readonly #helpers: Helpers;
  readonly #children: ChildSessions;
  /** As they were last declared by any Helper. */
  #latest: readonly Preset[] = [];

  constructor(router: Router, helpers: Helpers, children: ChildSessions) {
    this.#router = router;
    this.#helpers = helpers;
    this.#children = children;
  }

  /** The preset that holds for what the agent calls `agentId`: the session itself, or one below it. */
  inForce(session: Session, agentId: string): Preset | undefined {
    return agentId === session.agentId ? session.presetInForce : this.#children.presetInForce(session);
  }

  /** Why nothing may be written, whoever would do it; undefined: that is for whoever is asked to write. */
  refusesWrites(session: Session, agentId: string): RpcError | undefined {
    if (!session.presets) {
      const message = "The session's Helper has not said what its presets forbid, so nothing is written.";
      return fault("helper_unavailable", message);
    }
    if (!this.inForce(session, agentId)?.refuseWrites) return undefined;
    return fault("refused_by_preset", "The session's approvals preset allows no writing and no commands.");
  }

  /** Runs once the Helper has declared its presets or fails to; at once when it has. */
  whenDeclared(session: Session, go: () => void): void {
    if (session.presets) go();
    else void this.#helpers.presets(session.key).then(go);
  }

  /** Runs once it is known whether the session shows the approvals option; at once when it shows none. */
  whenOptionKnown(session: Session, go: () => void): void {
    if (!wantsOption(session)) {
      session.showsApprovals = false;
      return go();
    }
    let stopWaiting: (() => void) | undefined;
    const late = new Promise<undefined>((resolve) => {
      stopWaiting = wait(PRESETS_MS, () => resolve(undefined));
    });
    void Promise.race([this.#helpers.presets(session.key), late]).then((presets) => {
      stopWaiting?.();
      session.showsApprovals = presets !== undefined && presets.length > 0;
      go();
    });
  }

  /** The session's Helper has started and said what it has. */
  declared(key: string, presets: readonly Preset[]): void {
    const session = this.#router.sessions.ofKey(key);
    if (!session) return;
    const isSame = isDeepStrictEqual(session.presets, presets);
    // Most sessions have the same ones: kept once.
    if (!isDeepStrictEqual(this.#latest, presets)) this.#latest = presets;
    session.presets = this.#latest;
    const least = narrowestPreset(presets);
    const isKnown = session.presetInForce !== undefined;
    if (least && !isKnown) {
      session.preset = least.value;
      this.#helpers.preset(key, least.value);
    }
    // Before the session's first answer nobody has seen the option; that answer shows it.
    if (session.showsApprovals === undefined || (isSame && (isKnown || !least))) return;
    const hadOption = session.showsApprovals;
    session.showsApprovals = presets.length > 0 && wantsOption(session);
    approvalsChanged(this.#router, session, undefined, hadOption || session.showsApprovals);
  }
}

function wantsOption(session: Session): boolean {
  const rule = session.route?.definition.approvalsOption ?? "auto";
  return rule === "always" || (rule === "auto" && memberOf(session.opened, "configOptions")?.[0] === 0x5b);
}
