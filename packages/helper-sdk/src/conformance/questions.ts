// The messages that conformance cases send, and how an answer is read. Each reader judges one thing only, so that a slip
// shows in one case.
import {
  grants,
  helperMethods,
  isOffered,
  requestPermissionResult,
  type TicketOption,
} from "@acp-master/permission-core";
import type { HelperPeer, Reply } from "./helper-peer.ts";

export const folder = process.cwd();

export const usualOptions: readonly TicketOption[] = [
  { optionId: "allow", kind: "allow_once" },
  { optionId: "deny", kind: "reject_once" },
];

export interface Question {
  readonly options?: readonly TicketOption[];
  /** `null` leaves the input out. */
  readonly rawInput?: unknown;
  readonly kind?: string;
}

let lastApproval = 0;

export function question(
  sessionId: string,
  { options = usualOptions, rawInput = { path: "a" }, kind = "edit" }: Question = {},
) {
  const approvalId = `approval-${++lastApproval}`;
  const path = `${folder}/a`;
  return {
    sessionId,
    toolCall: {
      toolCallId: `call-${lastApproval}`,
      title: "A call",
      kind,
      status: "pending",
      locations: [{ path }],
      ...(rawInput === null ? {} : { rawInput }),
    },
    options: options.map((option) => ({ name: `Option ${option.optionId}`, ...option })),
    _meta: { "acp-master": { approvalId } },
  };
}

export function toolCallFrame(sessionId: string) {
  return { sessionId, update: { sessionUpdate: "tool_call", toolCallId: "call-0", title: "A call", kind: "read" } };
}

export async function greet(peer: HelperPeer, protocolVersion = 1): Promise<Reply> {
  const params = { protocolVersion, master: { name: "acp-helper-conformance", version: "1" }, socketDir: folder };
  return peer.request(helperMethods.initialize, params, peer.waits.startMs);
}

export function startSession(peer: HelperPeer, sessionId: string): Promise<Reply> {
  const agent = { name: "demo", shell: "sh" };
  const params = { sessionId, agent, cwd: folder, roots: [folder], preset: "ask", arming: "required" };
  return peer.request(helperMethods.sessionStart, params);
}

export function decide(peer: HelperPeer, sessionId: string, asked: Question = {}): Promise<Reply> {
  return peer.request(helperMethods.requestPermission, question(sessionId, asked));
}

/** The chosen option, when the answer is one and chooses one. */
export function chosen(reply: Reply): string | undefined {
  const read = requestPermissionResult.safeParse(reply.kind === "result" ? reply.result : undefined);
  return read.success && read.data.outcome.outcome === "selected" ? read.data.outcome.optionId : undefined;
}

export function allows(reply: Reply, options: readonly TicketOption[] = usualOptions): boolean {
  const optionId = chosen(reply);
  return optionId !== undefined && isOffered(options, optionId) && grants(options, optionId);
}
