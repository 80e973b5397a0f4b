// What every Helper must do, one case for each promise of the protocol. A case says what it found in words that tell an
// author what to change.
import {
  checkHelperChoice,
  helperMethods,
  initializeResult,
  requestPermissionResult,
  sessionStartResult,
  toolCallResult,
  turnStartResult,
  type TicketOption,
} from "@acp-master/permission-core";
import { frame, type HelperPeer, type Reply } from "./helper-peer.ts";
import { allows, chosen, decide, greet, question, startSession, toolCallFrame, usualOptions } from "./questions.ts";

/** `undefined`: as it should be. `skipped`: the Helper does not claim to do this. */
export type Finding = undefined | string | { readonly skipped: string };

export interface ConformanceCase {
  readonly id: string;
  readonly promise: string;
  run(peer: HelperPeer): Promise<Finding>;
}

type Run = ConformanceCase["run"];

/** After the handshake, with session `s` started. */
const inSession =
  (run: Run): Run =>
  async (peer) => {
    const greeted = await greet(peer);
    if (greeted.kind !== "result") return `helper/initialize: ${words(greeted)}`;
    const started = await startSession(peer, "s");
    if (started.kind !== "result") return `helper/session_start: ${words(started)}`;
    return run(peer);
  };

export const cases: readonly ConformanceCase[] = [
  {
    id: "handshake",
    promise: "answers helper/initialize with version 1, its name and its hooks",
    run: async (peer) => {
      const reply = await greet(peer);
      if (reply.kind !== "result") return words(reply);
      const read = initializeResult.safeParse(reply.result);
      if (!read.success) return "the result needs protocolVersion, helper {name, version} and hooks";
      return read.data.protocolVersion === 1 ? undefined : `it speaks version ${read.data.protocolVersion}`;
    },
  },
  {
    id: "version",
    promise: "answers another version with its own",
    run: async (peer) => {
      const reply = await greet(peer, 2);
      if (reply.kind !== "result") return words(reply);
      const read = initializeResult.safeParse(reply.result);
      return read.success && read.data.protocolVersion === 2 ? "it took on version 2, which does not exist" : undefined;
    },
  },
  {
    id: "session-start",
    promise: "declares presets in the right shape, each value once",
    run: async (peer) => {
      const greeted = await greet(peer);
      if (greeted.kind !== "result") return `helper/initialize: ${words(greeted)}`;
      const reply = await startSession(peer, "s");
      if (reply.kind !== "result") return words(reply);
      const read = sessionStartResult.safeParse(reply.result);
      if (!read.success) return "presets need value, name and width; review is a text";
      const values = (read.data.presets ?? []).map((preset) => preset.value);
      return new Set(values).size === values.length ? undefined : "two presets have the same value";
    },
  },
  {
    id: "verdict",
    promise: "answers a permission with selected, cancelled or ask",
    run: inSession(async (peer) => {
      const reply = await decide(peer, "s");
      if (reply.kind !== "result") return words(reply);
      return requestPermissionResult.safeParse(reply.result).success
        ? undefined
        : 'the result must be {"outcome": {"outcome": "selected", "optionId": …}}, or "cancelled" or "ask" in its place';
    }),
  },
  {
    id: "options",
    promise: "chooses offered options only, and never an always to allow",
    run: inSession(checkOptions),
  },
  {
    id: "unknown-input",
    promise: "never allows a call whose input is unknown",
    run: inSession(async (peer) => {
      for (const rawInput of [null, 7, "text", ["list"]]) {
        if (allows(await decide(peer, "s", { rawInput }))) return `allowed with rawInput ${JSON.stringify(rawInput)}`;
      }
      return undefined;
    }),
  },
  {
    id: "cancel",
    promise: "answers at once when the answer no longer matters",
    run: inSession(async (peer) => {
      const { id, reply } = peer.ask(helperMethods.requestPermission, question("s"), 1_000);
      peer.notify(helperMethods.cancelRequest, { id });
      const end = await reply;
      return end.kind === "none" ? words(end) : undefined;
    }),
  },
  {
    id: "unknown-method",
    promise: "refuses unknown requests with -32601 and ignores unknown notifications",
    run: inSession(async (peer) => {
      peer.notify("helper/of_tomorrow", {});
      const reply = await peer.request("helper/of_tomorrow", {});
      if (reply.kind !== "error" || reply.code !== -32601) return words(reply);
      return stillAnswers(peer);
    }),
  },
  {
    id: "notifications",
    promise: "takes every notification in silence",
    run: inSession(async (peer) => {
      peer.notify(helperMethods.preset, { sessionId: "s", preset: "ask" });
      peer.notify(helperMethods.toolSeen, toolCallFrame("s"));
      peer.notify(helperMethods.turnEnd, { sessionId: "s", turnId: "t", stopReason: "end_turn" });
      peer.notify(helperMethods.sessionChanged, { sessionId: "s", change: "cancelled" });
      const settled = { outcome: { result: "superseded" }, by: { kind: "superseded", name: "" } };
      peer.notify(helperMethods.permissionResolved, { sessionId: "s", approvalId: "a", toolCallId: "c", ...settled });
      return stillAnswers(peer);
    }),
  },
  {
    id: "two-sessions",
    promise: "carries two sessions; the end of one leaves the other",
    run: inSession(async (peer) => {
      const started = await startSession(peer, "s2");
      if (started.kind !== "result") return `the second helper/session_start: ${words(started)}`;
      const ended = await peer.request(helperMethods.sessionEnd, { sessionId: "s" });
      if (ended.kind === "none") return `helper/session_end: ${words(ended)}`;
      const reply = await decide(peer, "s2");
      return reply.kind === "result" ? undefined : `the session that goes on: ${words(reply)}`;
    }),
  },
  {
    id: "many-at-once",
    promise: "answers every one of fifty questions that come together",
    run: inSession(async (peer) => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => decide(peer, "s")));
      const missing = replies.filter((reply) => reply.kind === "none").length;
      return missing === 0 ? undefined : `${missing} of 50 had no answer`;
    }),
  },
  {
    id: "unknown-session",
    promise: "allows nothing for a session that was not started",
    run: inSession(async (peer) => (allows(await decide(peer, "nobody")) ? "allowed" : undefined)),
  },
  {
    id: "session-end",
    promise: "answers helper/session_end and allows nothing after it",
    run: inSession(async (peer) => {
      const ended = await peer.request(helperMethods.sessionEnd, { sessionId: "s" });
      if (ended.kind !== "result") return words(ended);
      return allows(await decide(peer, "s")) ? "allowed after the end" : undefined;
    }),
  },
  {
    id: "malformed",
    promise: "survives a request of a wrong shape and does not allow it",
    run: inSession(async (peer) => {
      const whole = question("s");
      for (const wrong of [
        { ...whole, options: undefined },
        { ...whole, options: "all" },
        { ...whole, toolCall: null },
        [],
      ]) {
        const reply = await peer.request(helperMethods.requestPermission, wrong);
        if (reply.kind === "none" || allows(reply)) return reply.kind === "none" ? words(reply) : "allowed";
      }
      return stillAnswers(peer);
    }),
  },
  {
    id: "not-json",
    promise: "stays in step over a body that is not JSON",
    run: inSession(async (peer) => {
      peer.raw(frame("{ this is not JSON"));
      return stillAnswers(peer);
    }),
  },
  {
    id: "bytes",
    promise: "counts bytes, not characters, however they arrive",
    run: inSession(async (peer) => {
      const text = "\u4e2d\u{1f600}é".repeat(50_000);
      const message = { jsonrpc: "2.0", id: 0, method: helperMethods.requestPermission };
      const body = JSON.stringify({ ...message, params: question("s", { rawInput: { text } }) });
      const bytes = frame(body);
      let start = 0;
      for (const end of [7, 30, 1_001, bytes.length]) {
        peer.raw(bytes.subarray(start, end));
        start = end;
      }
      return stillAnswers(peer);
    }),
  },
  { id: "hooks", promise: "answers the hooks it declares, within 2 s", run: checkHooks },
  {
    id: "shutdown",
    promise: "answers helper/shutdown and exits within 2 s of the end of its input",
    run: inSession(async (peer) => {
      const reply = await peer.request(helperMethods.shutdown, {});
      if (reply.kind !== "result") return words(reply);
      peer.closeInput();
      return (await peer.exits()) ? undefined : "it is still running";
    }),
  },
  {
    id: "end-of-input",
    promise: "exits within 2 s when its input just ends",
    run: inSession(async (peer) => {
      peer.closeInput();
      return (await peer.exits()) ? undefined : "it is still running";
    }),
  },
];

async function checkOptions(peer: HelperPeer): Promise<Finding> {
  const lists: readonly (readonly TicketOption[])[] = [
    usualOptions,
    [...usualOptions, { optionId: "always", kind: "allow_always" }],
    [{ optionId: "always", kind: "allow_always" }],
    [
      { optionId: "1", kind: "allow_once" },
      { optionId: "2", kind: "allow_once" },
    ],
    [
      { optionId: "Allow Once", kind: "allow_persistent" },
      { optionId: "7", kind: "reject_always" },
    ],
  ];
  for (const options of lists) {
    for (const kind of ["read", "edit", "execute"]) {
      const optionId = chosen(await decide(peer, "s", { options, kind }));
      if (optionId === undefined) continue;
      const choice = checkHelperChoice(options, optionId);
      if (!choice.ok)
        return choice.fault === "option_not_offered"
          ? "an option that was not offered"
          : "an allow that is not the only allow_once";
    }
  }
  return undefined;
}

async function checkHooks(peer: HelperPeer): Promise<Finding> {
  const greeted = await greet(peer);
  const read = initializeResult.safeParse(greeted.kind === "result" ? greeted.result : undefined);
  const hooks = read.success ? read.data.hooks : [];
  if (!hooks.includes("turn") && !hooks.includes("tool_call")) return { skipped: "it declares none that is answered" };
  await startSession(peer, "s");
  if (hooks.includes("turn")) {
    const reply = await peer.request(helperMethods.turnStart, { sessionId: "s", turnId: "t" }, 2_000);
    if (reply.kind !== "result") return `helper/turn_start: ${words(reply)}`;
    if (!turnStartResult.safeParse(reply.result).success)
      return "helper/turn_start: append must be a list of content blocks";
  }
  if (hooks.includes("tool_call")) {
    const reply = await peer.request(helperMethods.toolCall, toolCallFrame("s"), 2_000);
    if (reply.kind !== "result") return `helper/tool_call: ${words(reply)}`;
    if (!toolCallResult.safeParse(reply.result).success) return "helper/tool_call: verdict must be pass or hide";
  }
  return undefined;
}

async function stillAnswers(peer: HelperPeer): Promise<Finding> {
  const reply = await decide(peer, "s");
  if (peer.slip !== undefined) return peer.slip;
  return reply.kind === "none" ? `the next question: ${words(reply)}` : undefined;
}

function words(reply: Reply): string {
  switch (reply.kind) {
    case "none":
      return reply.why;
    case "error":
      return `answered with error ${String(reply.code)}`;
    case "result":
      return "answered with a result";
  }
  return reply satisfies never;
}
