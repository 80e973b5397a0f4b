// What a command gets to work with during one turn: ways to show things, to ask, and to see that the turn is over.
import type {
  AgentContext,
  ClientCapabilities,
  PermissionOption,
  SessionUpdate,
  ToolCall,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import { buildToolCall, type DescribedCall } from "@acp-master/permission-core";
import type { Session } from "./session.ts";

export type Permission = { allowed: true } | { allowed: false; why: string };

export const permissionOptions: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "allow-always", name: "Allow for this session", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

export class Turn {
  readonly session: Session;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;

  constructor(session: Session, client: AgentContext, capabilities: ClientCapabilities, signal: AbortSignal) {
    this.session = session;
    this.client = client;
    this.capabilities = capabilities;
    this.signal = signal;
  }

  get sessionId(): string {
    return this.session.stored.sessionId;
  }

  get cwd(): string {
    return this.session.stored.cwd;
  }

  /** Sends an update and remembers it for a later load. */
  async update(update: SessionUpdate): Promise<void> {
    this.session.remember(update);
    await this.client.notify("session/update", { sessionId: this.sessionId, update });
  }

  say(text: string): Promise<void> {
    return this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  think(text: string): Promise<void> {
    return this.update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
  }

  async announce(call: ToolCall): Promise<void> {
    await this.update({ sessionUpdate: "tool_call", ...call });
  }

  async progress(call: ToolCallUpdate): Promise<void> {
    await this.update({ sessionUpdate: "tool_call_update", ...call });
  }

  /** A tool call of this agent, as it is announced and asked for. */
  describe(call: Omit<DescribedCall, "toolCallId">): ToolCall {
    const { _meta, ...shown } = buildToolCall(call, this.session.nextToolCallId());
    return shown;
  }

  /** Asks for one tool call and gives the client's raw outcome. When the turn is cancelled the question is withdrawn. */
  async ask(toolCall: ToolCallUpdate): Promise<{ outcome: "cancelled" } | { outcome: "selected"; optionId: string }> {
    try {
      const { outcome } = await this.client.request(
        "session/request_permission",
        { sessionId: this.sessionId, toolCall, options: permissionOptions },
        { cancellationSignal: this.signal, stopWaitingOnCancel: true },
      );
      return outcome;
    } catch (error) {
      if (this.signal.aborted) return { outcome: "cancelled" };
      throw error;
    }
  }

  /** Asks, unless a person has allowed this kind for the session. Nothing but an offered allow option allows. */
  async mayI(toolCall: ToolCallUpdate): Promise<Permission> {
    const kind = toolCall.kind ?? "other";
    if (this.session.allowedAlways.has(kind)) return { allowed: true };
    const outcome = await this.ask(toolCall);
    if (outcome.outcome === "cancelled") return { allowed: false, why: "the question was cancelled" };
    if (outcome.optionId === "allow-always") this.session.allowedAlways.add(kind);
    const allowed = outcome.optionId === "allow" || outcome.optionId === "allow-always";
    return allowed ? { allowed } : { allowed, why: "it was rejected" };
  }
}
