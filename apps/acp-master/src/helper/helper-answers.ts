// The shapes of what a Helper answers. An answer of another shape is `undefined`: the caller treats it as a fault.
import { z } from "zod";
import type { HelperResult } from "./message-content.ts";

export interface HelperHooks {
  readonly turn: boolean;
  readonly toolSeen: boolean;
  readonly toolCall: boolean;
}

export const noHooks: HelperHooks = { turn: false, toolSeen: false, toolCall: false };

export type Verdict =
  | { readonly outcome: "selected"; readonly optionId: string }
  | { readonly outcome: "cancelled" }
  | { readonly outcome: "ask" };

const initialized = z.looseObject({ protocolVersion: z.number().int(), hooks: z.array(z.string()).default([]) });
const preset = z.object({
  value: z.string().min(1),
  name: z.string(),
  description: z.string().optional(),
  width: z.number(),
  confirm: z.boolean().optional(),
  refuseWrites: z.boolean().optional(),
  refuseAll: z.boolean().optional(),
});
const started = z.looseObject({ presets: z.array(preset).optional(), review: z.string().optional() });
const verdict = z.looseObject({
  outcome: z.discriminatedUnion("outcome", [
    z.object({ outcome: z.literal("selected"), optionId: z.string() }),
    z.object({ outcome: z.literal("cancelled") }),
    z.object({ outcome: z.literal("ask") }),
  ]),
});
const toolCall = z.looseObject({ verdict: z.enum(["pass", "hide"]), final: z.boolean().optional() });

export type Preset = z.infer<typeof preset>;

export function readInitialized(
  result: HelperResult | null,
): { protocolVersion: number; hooks: HelperHooks } | undefined {
  const read = initialized.safeParse(result);
  if (!read.success) return undefined;
  const { protocolVersion, hooks } = read.data;
  const names = new Set(hooks);
  return {
    protocolVersion,
    hooks: { turn: names.has("turn"), toolSeen: names.has("tool_seen"), toolCall: names.has("tool_call") },
  };
}

export function readSessionStarted(
  result: HelperResult | null,
): { presets: readonly Preset[]; review: string | undefined } | undefined {
  const read = started.safeParse(result);
  return read.success ? { presets: read.data.presets ?? [], review: read.data.review } : undefined;
}

export function readVerdict(result: HelperResult | null): Verdict | undefined {
  const read = verdict.safeParse(result);
  return read.success ? read.data.outcome : undefined;
}

export function readToolCallVerdict(
  result: HelperResult | null,
): { verdict: "pass" | "hide"; final: boolean } | undefined {
  const read = toolCall.safeParse(result);
  if (!read.success) return undefined;
  return { verdict: read.data.verdict, final: read.data.verdict === "hide" || read.data.final === true };
}
