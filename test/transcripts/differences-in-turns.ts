// What differs while an agent works: updates, and above all permissions, which are the master's to settle.
import type { Message } from "../harness/lines.ts";
import type { Allowed } from "./allowed.ts";
import { every, hasKeys, isUpdate, notForwarded, oldClient } from "./covers.ts";

const offered = new Set(["once", "always", "no", "never"]);
const isChoice = (answer: Message | undefined): boolean =>
  answer?.result?.outcome?.outcome === "selected" && offered.has(answer.result.outcome.optionId);

const faulty = new Set(["call-error", "call-unknown"]);
const textOf = (message: Message | undefined): string => String(message?.params?.update?.content?.text);
const refusal = 'session/request_permission gave {"outcome":{"outcome":"selected","optionId":"no"}}';

export const inTurns: readonly Allowed[] = [
  {
    name: "the approvals preset is one option more",
    reason: "an editor switches it where the agent sends options; it stands behind the agent's own",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.kind === "changed" &&
      /^(answer to session\/(new|load|resume|fork|set_config_option)|session\/update config_option_update)$/.test(
        one.message,
      ) &&
      /\/configOptions\/\d+$/.test(one.path) &&
      one.direct === undefined &&
      one.through.id === "acp-master.approvals",
  },
  {
    name: "an update that comes before the session's own answer follows it",
    reason: "until then the client knows no session of that name",
    views: ["client"],
    pairs: every,
    covers: (one) => one.kind === "moved" && one.message === "session/update available_commands_update",
  },
  {
    name: "the status of a tool call does not run backwards",
    reason: "the first terminal status stays, so that a late frame does not reopen a call",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.message === "session/update tool_call_update" &&
      one.path === "/params/update/status" &&
      one.of.direct?.params.update.toolCallId === "back" &&
      one.direct === "in_progress" &&
      one.through === "completed",
  },
  {
    name: "kinds of update that the client did not announce are left out",
    reason: "capabilities are per client, the agent's process is shared",
    views: ["client"],
    pairs: oldClient,
    covers: (one) =>
      one.kind === "missing" && isUpdate(one.direct, "notice", "compaction_update", "compaction_summary_chunk"),
  },
  {
    name: "a permission request carries its approval id",
    reason: "a program can then answer it over another connection",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.direction === "to client" &&
      one.message === "session/request_permission" &&
      one.path === "/params/_meta/acp-master" &&
      one.direct === undefined &&
      hasKeys(one.through, "approvalId", "askedAt"),
  },
  {
    name: "a permission is asked again after an answer that is none",
    reason: "an error or an option that was not offered decides nothing; a response cannot be answered otherwise",
    views: ["client"],
    pairs: every,
    covers: (one) => {
      if (one.kind !== "extra") return false;
      if (one.message === "answer to session/request_permission") {
        const { error, result } = one.through;
        return error
          ? error.message === "the dialog broke" && hasKeys(error, "code", "message", "data")
          : result?.outcome?.optionId === "unknown" && hasKeys(result, "outcome", "_meta");
      }
      return (
        one.message === "session/request_permission" &&
        hasKeys(one.through.params, "sessionId", "toolCall", "options", "_meta") &&
        faulty.has(one.through.params.toolCall.toolCallId)
      );
    },
  },
  {
    name: "a permission without a valid choice is a refusal to the agent",
    reason: "an error wedges agents, and `cancelled` would say that the turn is gone; a closed dialog refuses",
    views: ["agent"],
    pairs: every,
    covers: (one) =>
      one.direction === "to agent" &&
      one.message === "answer to session/request_permission" &&
      hasKeys(one.of.through, "jsonrpc", "id", "result") &&
      JSON.stringify(one.of.through?.result) === '{"outcome":{"outcome":"selected","optionId":"no"}}' &&
      !isChoice(one.of.direct),
  },
  {
    name: "the agent tells of the refusal",
    reason: "the test agent says what it was answered, see the entry above",
    views: ["client", "agent"],
    pairs: every,
    covers: (one) =>
      one.message === "session/update agent_message_chunk" &&
      one.path === "/params/update/content/text" &&
      one.through === refusal &&
      /"cancelled"|the dialog broke|"unknown"/.test(textOf(one.of.direct)),
  },
  {
    name: "an open dialog is withdrawn when its turn is cancelled",
    reason: "the ticket is settled at once; whoever shows the question learns that it is gone",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.kind === "extra" &&
      one.message === "$/cancel_request" &&
      hasKeys(one.through.params, "requestId") &&
      /^session\/request_permission \d+$/.test(one.through.params.requestId),
  },
  {
    name: "open permissions are answered before the agent is told of the cancel",
    reason: "the agent then never waits for a dialog in a turn that is over",
    views: ["agent"],
    pairs: every,
    covers: (one) => one.kind === "moved" && one.message === "session/cancel",
  },
  {
    name: "what the agent says of a tool call waits while a permission for it is open",
    reason: "it would overwrite the question that a person is looking at",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.kind === "moved" &&
      isUpdate(one.through, "tool_call_update") &&
      one.through.params.update.toolCallId === "guarded",
  },
  {
    name: "a cancel without a turn stays here",
    reason: "a late cancel must never reach the next turn",
    views: ["agent"],
    pairs: every,
    covers: (one) => notForwarded(one, "session/cancel", ({ _meta }) => _meta?.idle === true),
  },
];
