// Updates of the master's own: what one client set, told to the others of the session.

import type { ClientConnection } from "./client-connection.ts";
import { notificationFrame } from "./message.ts";
import { agentOptions } from "./opened-result.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

const EMPTY_LIST = Buffer.from("[]");

/**
 * The preset changed, or which presets there are: everybody is told, but the client that did it. The journal holds the
 * agent's options; ours go in on output. `shown`: clients have our option, or are to have it.
 */
export function approvalsChanged(
  router: Router,
  session: Session,
  except: ClientConnection | undefined,
  shown = session.showsApprovals,
): void {
  if (shown) {
    const options = agentOptions(session) ?? EMPTY_LIST;
    tellOthers(router, session, except, "config_option_update", optionsUpdate(options));
  }
  router.changed(session);
}

export const optionsUpdate = (options: Buffer): Buffer =>
  Buffer.concat([Buffer.from('{"sessionUpdate":"config_option_update","configOptions":'), options, Buffer.from("}")]);

/** A snapshot update of the master's own, for all clients but the one that caused it. */
export function tellOthers(
  router: Router,
  session: Session,
  except: ClientConnection | undefined,
  kind: string,
  update: Buffer,
): void {
  router.updates.flush();
  const params = Buffer.concat([
    Buffer.from('{"sessionId":'),
    session.agentIdBytes,
    Buffer.from(',"update":'),
    update,
    Buffer.from("}"),
  ]);
  const frame = notificationFrame("session/update", params);
  const attachment = except && !except.identity.echo ? session.attachments.get(except) : undefined;
  attachment?.skip(session.log.end, session.log.end + frame.length);
  session.appendSnapshot(kind, frame);
  router.changed(session);
}
