// What differs because a session is the master's as much as the agent's: loads, lists and ends.
import type { Loose, Message } from "../harness/lines.ts";
import type { Allowed } from "./allowed.ts";
import { every, hasKeys, hasOnly, inError, isUpdate, newClient, notForwarded, oldAgent } from "./covers.ts";

const snapshots = [
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
];

const isOurCursor = (cursor: Loose): boolean => {
  const { agent, inner } = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
  return agent === "new-new" && /^page-\d$/.test(inner);
};

/** Of a load by which the master resumes: the request, the replay, the answer. */
const resumedByLoad = (message: Message): boolean =>
  message.method === undefined
    ? String(message.id).startsWith("session/load")
    : ["new-old-kept", "nobody's"].includes(message.params.sessionId) &&
      (message.method === "session/load" ? Array.isArray(message.params.mcpServers) : isUpdate(message));

export const ofSessions: readonly Allowed[] = [
  {
    name: "a live session is loaded and resumed here",
    reason: "what its clients saw is replayed from the log; some agents lose a running turn by a second load",
    views: ["agent"],
    pairs: every,
    covers: (one) =>
      notForwarded(one, "session/load", ({ sessionId }) => sessionId.endsWith("-1")) ||
      notForwarded(one, "session/resume", ({ sessionId }) => sessionId.endsWith("-1")) ||
      (one.kind === "missing" &&
        one.direction === "to client" &&
        (isUpdate(one.direct)
          ? one.direct.params.sessionId.endsWith("-1")
          : /^answer to session\/(load|resume)$/.test(one.message)) &&
        one.direct.error?.code !== -32601),
  },
  {
    name: "whoever joins a live session is told of its state",
    reason:
      "a replay holds the updates by which other clients learned what was set; a resume gets the latest of each kind",
    views: ["client"],
    pairs: every,
    covers: (one) => one.kind === "extra" && isUpdate(one.through, ...snapshots),
  },
  {
    name: "a listed page goes on under a cursor of the master's",
    reason: "the list is that of the master and of the agent, and its pages are those of both",
    views: ["client"],
    pairs: ["new-new"],
    covers: (one) =>
      (one.message === "session/list" && one.path === "/params/cursor" && isOurCursor(one.through)) ||
      (one.message === "answer to session/list" && one.path === "/result/nextCursor" && isOurCursor(one.through)),
  },
  {
    name: "a cursor that the list did not give is refused by the master",
    reason: "it names no page of the agent's",
    views: ["client"],
    pairs: newClient,
    covers: (one) =>
      one.message === "answer to session/list" &&
      one.of.through?.error?.code === -32602 &&
      hasKeys(one.of.through.error, "code", "message") &&
      one.of.through.error.message.includes("a cursor must be one that this list gave") &&
      inError(one),
  },
  {
    name: "a refused cursor does not reach the agent",
    reason: "the other side of the entry above",
    views: ["agent"],
    pairs: ["new-new"],
    covers: (one) =>
      notForwarded(one, "session/list", ({ cursor }) => cursor === "page-x") ||
      (one.kind === "missing" &&
        one.message === "answer to session/list" &&
        one.direct.error?.message === "unknown cursor"),
  },
  {
    name: "a session without a turn is not closed, only left",
    reason: "some agents lose it for ever",
    views: ["client"],
    pairs: ["new-new"],
    covers: (one) =>
      one.message === "answer to session/close" &&
      one.path === "/result/_meta" &&
      one.direct?.ended === "new-new-3" &&
      one.through === undefined,
  },
  {
    name: "what is only left, or closed already, is not closed in the agent",
    reason: "the other side of the entry above; nobody is attached any more who could close it again",
    views: ["agent"],
    pairs: ["new-new"],
    covers: (one) =>
      notForwarded(one, "session/close", ({ sessionId }) => /-[23]$/.test(sessionId)) ||
      (one.kind === "missing" && one.direction === "to client" && one.message === "answer to session/close"),
  },
  {
    name: "a close cancels the running turn first",
    reason: "its tickets are settled and its prompt is answered whatever the agent makes of a close",
    views: ["agent"],
    pairs: ["new-new"],
    covers: (one) =>
      one.kind === "extra" &&
      one.direction === "to agent" &&
      one.message === "session/cancel" &&
      JSON.stringify(one.through.params) === '{"sessionId":"new-new-1"}',
  },
  {
    name: "an agent without list, resume, close and delete has them through the master",
    reason: "the master lists and closes itself, and opens by a load what the client resumes",
    views: ["client"],
    pairs: ["new-old"],
    covers: (one) =>
      /^answer to session\/(list|resume|close|delete)$/.test(one.message) &&
      one.of.direct?.error?.code === -32601 &&
      inError(one) &&
      (hasOnly(one.of.through?.result, "sessions", "modes", "configOptions", "_meta") ||
        (one.message === "answer to session/resume" &&
          one.of.through?.error?.code === -32002 &&
          hasOnly(one.of.through.error, "code", "message", "data"))),
  },
  {
    name: "the agent without them is not asked for them",
    reason: "the other side of the entry above",
    views: ["agent"],
    pairs: ["new-old"],
    covers: (one) =>
      notForwarded(one, "session/list", () => true) ||
      notForwarded(one, "session/close", () => true) ||
      notForwarded(one, "session/delete", ({ sessionId }) => sessionId === "new-old-stored") ||
      notForwarded(one, "session/resume", ({ sessionId }) => !sessionId.endsWith("-1")) ||
      (one.kind === "missing" && one.direction === "to client" && one.direct.error?.code === -32601) ||
      (one.kind === "extra" && resumedByLoad(one.through)),
  },
  {
    name: "a list is asked for in the master's own spelling",
    reason: "it is the master's request, with what the client asked for",
    views: ["agent"],
    pairs: ["new-new"],
    covers: (one) => one.kind === "spelled" && one.direction === "to agent" && one.message === "session/list",
  },
  {
    name: "the old package spells a prompt anew",
    reason: "its agent repeats in a replay what the package parsed; the master's log has the client's own bytes",
    views: ["client"],
    pairs: oldAgent,
    covers: (one) => one.kind === "spelled" && isUpdate(one.of.direct, "user_message_chunk"),
  },
];
