// Sessions that an agent runs below another one, as Helpers see them: sessions of their own in the parent's Helper process,
// under the narrower of the parent's preset and the default. What was granted to the parent is not inherited.

import { narrowestPreset, type Preset } from "@acp-master/permission-core";
import type { Helpers } from "../helper/helpers.ts";
import type { SessionFacts } from "../helper/session-helper.ts";
import type { Session } from "./session.ts";

export interface ChildSession {
  readonly parent: Session;
  /** The agent's own id of the child. */
  readonly agentId: string;
  /** The id that clients and Helpers see. */
  readonly sessionId: string;
}

export class ChildSessions {
  readonly #helpers: Helpers;
  readonly #defaultPreset: (session: Session) => string;
  /** What each child's Helper was last told, by the parent's key and the child's own. */
  readonly #known = new Map<string, Map<string, string>>();

  constructor(helpers: Helpers, defaultPreset: (session: Session) => string) {
    this.#helpers = helpers;
    this.#defaultPreset = defaultPreset;
  }

  /** The Helper's key of the child, which is introduced to the Helper if it does not know it as it is now. */
  introduce({ parent, agentId, sessionId }: ChildSession, parentFacts: SessionFacts): string {
    const key = childKey(parent, agentId);
    const preset = this.presetInForce(parent)?.value ?? parent.preset;
    let known = this.#known.get(parent.key);
    if (!known) this.#known.set(parent.key, (known = new Map<string, string>()));
    const before = known.get(key);
    known.set(key, preset);
    this.#helpers.ensure({ ...parentFacts, session: key, sessionId, preset, parent: parent.key });
    if (before !== undefined && before !== preset) this.#helpers.preset(key, preset);
    return key;
  }

  /** What the router enforces for the children of this session; undefined: nothing is declared. */
  presetInForce(parent: Session): Preset | undefined {
    const presets = parent.presets ?? [];
    const standard = this.#defaultPreset(parent);
    const default_ = presets.find((preset) => preset.value === standard) ?? narrowestPreset(presets);
    return narrowestPreset([parent.presetInForce, default_].filter((preset) => preset !== undefined));
  }

  endOne(parent: Session, agentId: string): void {
    const key = childKey(parent, agentId);
    if (this.#known.get(parent.key)?.delete(key)) this.#helpers.sessionEnd(key);
  }

  /** The children end with their parent, and with the process they ran in. */
  end(parent: Session): void {
    for (const key of this.#known.get(parent.key)?.keys() ?? []) this.#helpers.sessionEnd(key);
    this.#known.delete(parent.key);
  }
}

export const childKey = (parent: Session, agentId: string): string => `${parent.key}\0${agentId}`;
