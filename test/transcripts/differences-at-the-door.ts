// What differs because the master is who the client talks to: its introduction, and what it refuses before the agent hears of it.
import type { Allowed } from "./allowed.ts";
import { every, hasKeys, inError, masterSays, newClient, notForwarded, oldAgent } from "./covers.ts";

export const atTheDoor: readonly Allowed[] = [
  {
    name: "initialize carries the master's own _meta",
    reason: "programs of ours learn the version and their client id from it; all other members are the agent's",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.message === "answer to initialize" &&
      one.path === "/result/_meta/acp-master" &&
      one.direct === undefined &&
      hasKeys(one.through, "version", "clientId"),
  },
  {
    name: "list, resume and close are announced for every agent",
    reason: "the master can always do these",
    views: ["client"],
    pairs: oldAgent,
    covers: (one) =>
      one.message === "answer to initialize" &&
      one.path === "/result/agentCapabilities/sessionCapabilities" &&
      one.direct === undefined &&
      hasKeys(one.through, "list", "resume", "close") &&
      Object.values(one.through).every((each) => JSON.stringify(each) === "{}"),
  },
  {
    name: "the agent is initialised by the master",
    reason: "one process serves many clients, so it is told of the master; the capabilities are the clients' own",
    views: ["agent"],
    pairs: every,
    covers: (one) =>
      one.direction === "to agent" &&
      one.message === "initialize" &&
      (/^\/params\/clientInfo\/(name|title|version)$/.test(one.path) ||
        (one.path === "/params/_meta" && one.through === undefined)) &&
      one.of.through?.params.clientInfo.name === "acp-master",
  },
  {
    name: "an elicitation is not put to a client that announced none",
    reason: "the agent gets the same error code as from the client itself, with a reason",
    views: ["client"],
    pairs: ["old-new"],
    covers: (one) =>
      one.kind === "missing" &&
      (one.message === "elicitation/create" ||
        (one.message === "answer to elicitation/create" && one.direct.error.code === -32601)),
  },
  {
    name: "the agent learns that no client takes the elicitation",
    reason: "the other side of the entry above, and what the test agent says of it",
    views: ["client", "agent"],
    pairs: ["old-new"],
    covers: (one) =>
      (one.message === "answer to elicitation/create" &&
        one.of.through?.error?.code === -32601 &&
        masterSays(one.of.through, "no_client") &&
        inError(one)) ||
      (one.message === "session/update agent_message_chunk" &&
        one.path === "/params/update/content/text" &&
        one.through.startsWith('elicitation/create failed with {"code":-32601,') &&
        one.through.endsWith('"data":{"reason":"no_client"}}')),
  },
  {
    name: "a working folder is checked by the master",
    reason: "it must be absolute and exist; the error names it, with a reason for programs",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.message === "answer to session/new" &&
      one.of.through?.error?.code === -32602 &&
      ["cwd_not_absolute", "cwd_missing"].some((reason) => masterSays(one.of.through, reason)) &&
      inError(one),
  },
  {
    name: "a prompt that is no list is refused by the master",
    reason: "it must know where a prompt's blocks are",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      one.message === "answer to session/prompt" &&
      one.of.through?.error?.message === '"prompt" must be a list of content blocks.' &&
      hasKeys(one.of.through.error, "code", "message") &&
      one.of.through.error.code === -32602 &&
      inError(one),
  },
  {
    name: "an unknown session is refused by the master",
    reason: "a session that nobody opened here has no route; the code is the master's, with a reason",
    views: ["client"],
    pairs: every,
    covers: (one) =>
      /^answer to session\/(prompt|close|fork)$/.test(one.message) &&
      one.of.through?.error?.code === -32053 &&
      masterSays(one.of.through, "unknown_session") &&
      inError(one),
  },
  {
    name: "a closed session is refused by the master",
    reason: "nobody is attached to it any more; whoever loads it opens it again",
    views: ["client"],
    pairs: newClient,
    covers: (one) =>
      /^answer to session\/(prompt|close)$/.test(one.message) &&
      one.of.through?.error?.code === -32055 &&
      masterSays(one.of.through, "not_attached") &&
      inError(one),
  },
  {
    name: "what the master refuses does not reach the agent",
    reason: "the other side of the four refusals above",
    views: ["agent"],
    pairs: every,
    covers: (one) =>
      notForwarded(one, "session/new", ({ cwd }) => !cwd.startsWith("/") || cwd.endsWith("/nowhere")) ||
      notForwarded(
        one,
        "session/prompt",
        ({ prompt, sessionId }) => !Array.isArray(prompt) || sessionId === "nobody's",
      ) ||
      notForwarded(one, "session/prompt", ({ sessionId }) => sessionId.endsWith("-2")) ||
      notForwarded(one, "session/fork", ({ sessionId }) => sessionId === "nobody's") ||
      (one.kind === "missing" &&
        /^answer to session\/(new|prompt|fork)$/.test(one.message) &&
        one.direction === "to client" &&
        one.direct.error !== undefined &&
        one.direct.error.code !== -32601),
  },
];
