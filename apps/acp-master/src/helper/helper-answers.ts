// What a Helper answers, read by the protocol's own schemas. An answer of another shape is `undefined`: the caller treats
// it as a fault.
import {
  answeredVersion,
  initializeResult,
  requestPermissionResult,
  sessionStartResult,
  toolCallResult,
  type HelperVerdict,
  type Hook,
  type Preset,
} from "@acp-master/permission-core";
import type { HelperResult } from "./message-content.ts";

export interface HelperHooks {
  readonly turn: boolean;
  readonly toolSeen: boolean;
  readonly toolCall: boolean;
}

export const noHooks: HelperHooks = { turn: false, toolSeen: false, toolCall: false };

export type Initialized =
  { readonly version: "other"; readonly offered: number } | { readonly version: "ours"; readonly hooks: HelperHooks };

/** The other members of an answer in another version may have any shape. */
export function readInitialized(result: HelperResult | null, version: number): Initialized | undefined {
  const offered = answeredVersion(result);
  if (offered !== undefined && offered !== version) return { version: "other", offered };
  const read = initializeResult.safeParse(result);
  if (!read.success) return undefined;
  const has = (hook: Hook) => read.data.hooks.includes(hook);
  return { version: "ours", hooks: { turn: has("turn"), toolSeen: has("tool_seen"), toolCall: has("tool_call") } };
}

export function readSessionStarted(
  result: HelperResult | null,
): { readonly presets: readonly Preset[]; readonly review: string | undefined } | undefined {
  const read = sessionStartResult.safeParse(result);
  return read.success ? { presets: read.data.presets ?? [], review: read.data.review } : undefined;
}

export function readVerdict(result: HelperResult | null): HelperVerdict | undefined {
  const read = requestPermissionResult.safeParse(result);
  return read.success ? read.data.outcome : undefined;
}

export function readToolCallVerdict(
  result: HelperResult | null,
): { readonly verdict: "pass" | "hide"; readonly final: boolean } | undefined {
  const read = toolCallResult.safeParse(result);
  if (!read.success) return undefined;
  return { verdict: read.data.verdict, final: read.data.verdict === "hide" || read.data.final === true };
}
