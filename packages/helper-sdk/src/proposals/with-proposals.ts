// Puts direct proposals in front of a Helper: the same definition, with a channel in each turn and cards for people.
import type { HelperDefinition } from "../define-helper.ts";
import type { HelperSession } from "../helper-session.ts";
import { ProposalDesk } from "./proposal-desk.ts";
import type { ProposalOptions } from "./proposal-options.ts";

/**
 * Commands that propose are answered here, before the definition is asked; their rows are hidden; everything else is the
 * definition's. The result is for one process.
 *
 *     await runHelper(withProposals(presetsHelper, { executor: dryRun() }));
 */
export function withProposals(definition: HelperDefinition, options: ProposalOptions): HelperDefinition {
  const desk = new ProposalDesk(options);
  return {
    ...definition,
    async initialize(master) {
      await definition.initialize?.(master);
      const { socketDir } = master;
      await desk.open({ socketDir, reviewDir: process.env["ACP_MASTER_REVIEW_DIR"] ?? socketDir }, definition.name);
    },
    async sessionStart(session, signal) {
      const started = await definition.sessionStart?.(session, signal);
      desk.sessionStarted(session);
      const review = desk.reviewPath;
      return { ...started, ...(review === undefined ? {} : { review }) };
    },
    async sessionEnd(session, why) {
      // At a shutdown the session is not over, but unavailable: the desk says so below.
      if (why === "ended") desk.sessionEnded(session.sessionId);
      await definition.sessionEnd?.(session, why);
    },
    async permission(request, session, signal) {
      return desk.permission(request, session) ?? (await definition.permission(request, session, signal));
    },
    async turnStart(turn, session, signal) {
      const mayPropose = !refusesAll(definition, session);
      const blocks = desk.turnStarted({ session, turnId: turn.turnId, mayPropose }, signal);
      const own = (await definition.turnStart?.(turn, session, signal)) ?? [];
      return [...own, ...(await blocks).map((text) => ({ type: "text" as const, text }))];
    },
    async turnEnd(turn, session) {
      desk.turnEnded(session.sessionId, turn.turnId);
      await definition.turnEnd?.(turn, session);
    },
    async toolCall(params, session, signal) {
      const ours = desk.row(params, session);
      if (ours.verdict === "hide") return ours;
      const theirs = await definition.toolCall?.(params, session, signal);
      return theirs === undefined || (theirs.verdict === "pass" && ours.final !== true) ? ours : theirs;
    },
    async sessionChanged(change, session) {
      desk.sessionChanged(session.sessionId, change);
      await definition.sessionChanged?.(change, session);
    },
    async shutdown() {
      await desk[Symbol.asyncDispose]();
      await definition.shutdown?.();
    },
  };
}

function refusesAll(definition: HelperDefinition, session: HelperSession): boolean {
  return definition.presets?.some(({ value, refuseAll }) => value === session.preset && refuseAll === true) ?? false;
}
