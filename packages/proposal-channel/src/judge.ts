// What a Helper does with a permission request or an announced call, as far as proposals go. It chooses; arming and the
// ordinary decision are the caller's. What it gives back holds no text of the request.
import { allowOption, type TicketOption } from "@acp-master/permission-core";
import { possibleCommands, wrappedCommand } from "./envelope.ts";
import { type Command, type Invocation, type Shell, type Unrecognised, recognise } from "./invocation.ts";
import { looksLikeProposal, mayBecomeProposal } from "./looks-like.ts";

export type Arming = "required" | "preflight";

/** What is fixed for an agent. */
export interface ProposingAgent {
  /** As the configuration names it. */
  readonly name: string;
  readonly shell: Shell;
  readonly arming: Arming;
  /** The value of ACP_PROPOSE, where the Helper knows it. */
  readonly program?: string;
}

/** The parts of a permission request that count here. */
export interface AskedCall {
  readonly kind?: unknown;
  readonly rawInput?: unknown;
}

export type RefusalClass = "options" | "arming" | "unwrapped" | Unrecognised;

export type Judgement =
  /** Arm the channel with these bytes; when that works answer with this option, else refuse (class `arming`). */
  | { readonly judge: "arm"; readonly optionId: string; readonly invocation: Invocation }
  | { readonly judge: "refuse"; readonly why: RefusalClass }
  | { readonly judge: "ask"; readonly why: "options" }
  /** No proposal: presets and people decide. */
  | { readonly judge: "ordinary" };

/**
 * To be called before any preset. `announcedKind` is the kind of the call last announced under the same id.
 *
 *     judgePermission(agent, request.toolCall, { options: request.options, announcedKind: undefined })
 */
export function judgePermission(
  agent: ProposingAgent,
  call: AskedCall,
  rest: { readonly options: readonly TicketOption[]; readonly announcedKind: unknown },
): Judgement {
  const wrapped = wrappedCommand(agent.name, call.kind ?? rest.announcedKind, call.rawInput);
  if (wrapped === undefined) {
    return looksLike(agent, call.rawInput) ? { judge: "refuse", why: "unwrapped" } : { judge: "ordinary" };
  }
  const shell = wrapped.shell ?? agent.shell;
  const read = recognise(shell, wrapped.command, agent.program);
  if (!read.ok) {
    const isMeant = looksLikeProposal(shell, wrapped.command, agent.program) || looksLike(agent, call.rawInput);
    return isMeant ? { judge: "refuse", why: read.why } : { judge: "ordinary" };
  }
  const optionId = allowOption(rest.options);
  if (optionId !== undefined) return { judge: "arm", optionId, invocation: read.invocation };
  return { judge: agent.arming === "required" ? "refuse" : "ask", why: "options" };
}

export interface RowVerdict {
  readonly verdict: "pass" | "hide";
  readonly final?: boolean;
}

/**
 * What clients get of an announced call. `call` is the frame's update completed by what the earlier ones of the id said.
 * A call is known to be something else only when its command can no longer grow into a proposal.
 */
export function judgeRow(agent: ProposingAgent, call: AskedCall & { readonly status?: unknown }): RowVerdict {
  if (looksLike(agent, call.rawInput)) return { verdict: "hide", final: true };
  const isUnderWay = call.status !== undefined && call.status !== null && call.status !== "pending";
  if (!isUnderWay) return { verdict: "pass" };
  const isOver = call.status === "completed" || call.status === "failed";
  const commands = possibleCommands(call.rawInput);
  const mayGrow = commands.length === 0 ? call.kind === "execute" : commands.some((one) => growing(agent, one));
  return isOver || !mayGrow ? { verdict: "pass", final: true } : { verdict: "pass" };
}

function growing({ shell, program }: ProposingAgent, command: Command): boolean {
  const line = typeof command === "string" ? command : command.join(" ");
  return mayBecomeProposal(shell, line, program);
}

function looksLike({ shell, program }: ProposingAgent, rawInput: unknown): boolean {
  return possibleCommands(rawInput).some((command) => looksLikeProposal(shell, command, program));
}
