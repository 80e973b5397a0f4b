// Switching a session's approvals preset: what the Helper declared of it decides what happens, its name decides nothing.

import { fault, INVALID_PARAMS, type RpcError } from "../protocol/reasons.ts";
import type { ClientConnection } from "./client-connection.ts";
import { saveSession } from "./keep-sessions.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { approvalsChanged } from "./session-notices.ts";

export interface PresetSwitch {
  readonly preset: string;
  readonly confirmed: boolean;
  /** Whose dialog already shows the new value; undefined: everybody is told. */
  readonly by: ClientConnection | undefined;
}

/** Applies at once, or as soon as the Helper has said which presets it has. `done` is told why it may not be. */
export function switchPreset(
  router: Router,
  session: Session,
  change: PresetSwitch,
  done: (problem: RpcError | undefined) => void,
): void {
  router.permissions.presets.whenDeclared(session, () => done(apply(router, session, change)));
}

function apply(router: Router, session: Session, change: PresetSwitch): RpcError | undefined {
  const { preset, confirmed, by } = change;
  if (session.hasEnded) return fault("unknown_session", "The session is closed; load it to open it again.");
  if (preset === session.preset) return undefined;
  if (!session.presets) {
    const message =
      'The Helper of this session has not said which presets it has; "acp-master doctor" says whether it runs.';
    return fault("helper_unavailable", message);
  }
  const wanted = session.presets.find((each) => each.value === preset);
  if (!wanted) {
    const known = session.presets.map((each) => each.value).join(", ");
    const message =
      known === ""
        ? "This session's Helper declares no presets, so there is nothing to switch to."
        : `There is no preset ${JSON.stringify(preset.slice(0, 100))}; the Helper of this session has: ${known}.`;
    return { code: INVALID_PARAMS, message };
  }
  const current = session.presetInForce;
  const widens = !current || wanted.width > current.width;
  if (wanted.confirm && widens && !confirmed) {
    const message = `The preset ${JSON.stringify(preset)} needs a confirmation: acp-master preset ${session.sessionId} ${preset} --yes`;
    return { code: INVALID_PARAMS, message };
  }
  session.preset = preset;
  saveSession(router, session);
  router.settings.record.event("preset", { sessionId: session.sessionId, agent: session.agent, preset });
  router.permissions.helpers.preset(session.key, preset);
  if (wanted.refuseAll) router.permissions.tickets.presetRefusesAll(session.key);
  else if (current && wanted.width < current.width) router.permissions.tickets.narrow(session.key);
  approvalsChanged(router, session, by);
  return undefined;
}
