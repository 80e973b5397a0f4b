// What the author of a Helper writes. Everything else (framing, sessions, deadlines, failing closed) is the SDK's.
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type {
  InitializeParams,
  PermissionResolvedParams,
  Preset,
  SessionChangedParams,
  ToolCallParams,
} from "@acp-master/permission-core";
import type { HelperSession } from "./helper-session.ts";
import type { PermissionRequest, Verdict } from "./verdict.ts";

type Awaitable<T> = T | Promise<T>;

export interface ToolCallVerdict {
  readonly verdict: "pass" | "hide";
  /** No later frame of this call needs a verdict. */
  readonly final?: boolean;
}

export interface HelperDefinition {
  readonly name: string;
  readonly version?: string;
  /** What a person may switch between; the current one is `session.preset`. */
  readonly presets?: readonly Preset[];
  /** The agent's announcements complete requests that say less (`session.read`, `session.inside`). */
  readonly announced?: boolean;
  /** An answer later than this is none; 30 s by default. */
  readonly deadlineMs?: number;
  /**
   * Decides one request. A throw, an invalid answer or a missed deadline is a fault, and the request is refused. An allow
   * for a call with unknown input becomes `ask`.
   */
  permission(request: PermissionRequest, session: HelperSession, signal: AbortSignal): Awaitable<Verdict>;
  /** Before everything else, within the 10 s of a start. A throw is a failed start. */
  initialize?(master: InitializeParams): Awaitable<void>;
  sessionStart?(
    session: HelperSession,
    signal: AbortSignal,
  ): Awaitable<{ readonly review?: string } | undefined | void>;
  /** `shutdown`: the session may go on, but not with this process. */
  sessionEnd?(session: HelperSession, why: "ended" | "shutdown"): Awaitable<void>;
  /** Content blocks to put at the end of the prompt. Within 2 s, or the prompt goes without them. */
  turnStart?(
    turn: { readonly turnId: string },
    session: HelperSession,
    signal: AbortSignal,
  ): Awaitable<readonly ContentBlock[] | undefined | void>;
  turnEnd?(turn: { readonly turnId: string; readonly stopReason: string }, session: HelperSession): Awaitable<void>;
  /** Within 2 s, or the frame is reduced to its status. */
  toolCall?(params: ToolCallParams, session: HelperSession, signal: AbortSignal): Awaitable<ToolCallVerdict>;
  toolSeen?(params: ToolCallParams, session: HelperSession): Awaitable<void>;
  sessionChanged?(change: SessionChangedParams["change"], session: HelperSession): Awaitable<void>;
  permissionResolved?(notice: PermissionResolvedParams, session: HelperSession): Awaitable<void>;
  /** The Helper is about to exit. */
  shutdown?(): Awaitable<void>;
}

/**
 * Checks a definition where it is written, so that a wrong one fails at its start.
 *
 *     export default defineHelper({ name: "careful", permission: () => ask() });
 */
export function defineHelper(definition: HelperDefinition): HelperDefinition {
  const problem = problemOf(definition);
  if (problem !== undefined) throw new TypeError(`This is no Helper: ${problem}.`);
  return definition;
}

/** What makes a value no Helper, for people. */
export function problemOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "expected an object with name and permission";
  if (!("name" in value) || typeof value.name !== "string" || value.name === "") return "`name` must be a text";
  if (!("permission" in value) || typeof value.permission !== "function") return "`permission` must be a function";
  const presets: unknown = "presets" in value ? value.presets : undefined;
  if (presets === undefined) return undefined;
  if (!Array.isArray(presets) || presets.length === 0) return "`presets` must be a list that is not empty";
  const values = new Set(presets.map((entry: { readonly value?: unknown }) => entry.value));
  return values.size === presets.length ? undefined : "two `presets` have the same value";
}
