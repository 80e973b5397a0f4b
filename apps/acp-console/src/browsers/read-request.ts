// What a page may ask: the shape of every request. Whatever does not fit is not done.
import * as z from "zod";
import { asObject } from "../json.ts";
import type { Request } from "../protocol.ts";

const text = z.string().max(4096);
const sessionId = text.min(1);
const base = { id: z.int().min(0) };
const inSession = { ...base, sessionId };
const mode = z.enum(["run", "insert"]);

const decided = { ...base, op: z.literal("card.decide"), proposalId: text };

const schema: z.ZodType<Request> = z.union([
  z.discriminatedUnion("op", [
    z.strictObject({ ...inSession, op: z.literal("attach"), reopen: z.boolean().exactOptional() }),
    z.strictObject({ ...inSession, op: z.literal("detach") }),
    z.strictObject({
      ...inSession,
      op: z.literal("prompt"),
      content: z
        .array(z.looseObject({ type: text }))
        .min(1)
        .max(256),
    }),
    z.strictObject({ ...inSession, op: z.literal("prompt.cancel"), prompt: base.id }),
    z.strictObject({ ...inSession, op: z.literal("cancel") }),
    z.strictObject({ ...inSession, op: z.literal("cancel.all") }),
    z.strictObject({ ...base, op: z.literal("new"), agent: text.min(1), cwd: text.min(1) }),
    z.strictObject({ ...inSession, op: z.literal("close") }),
    z.strictObject({ ...inSession, op: z.literal("mode"), modeId: text }),
    z.strictObject({ ...inSession, op: z.literal("model"), modelId: text }),
    z.strictObject({ ...inSession, op: z.literal("option"), configId: text, value: z.union([text, z.boolean()]) }),
    z.strictObject({ ...inSession, op: z.literal("presets") }),
    z.strictObject({
      ...inSession,
      op: z.literal("preset"),
      preset: text.min(1),
      confirm: z.boolean().exactOptional(),
    }),
    z.strictObject({
      ...base,
      op: z.literal("answer"),
      answers: z
        .array(
          z.union([
            z.strictObject({ approvalId: text, optionId: z.string() }),
            z.strictObject({ approvalId: text, refuse: z.literal(true) }),
          ]),
        )
        .min(1)
        .max(1000),
    }),
    z.strictObject({ ...base, op: z.literal("approval"), approvalId: text }),
    z.strictObject({
      ...base,
      op: z.literal("elicitation"),
      elicitation: text,
      action: z.enum(["accept", "decline", "cancel"]),
      content: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
        .exactOptional(),
    }),
    z.strictObject({ ...base, op: z.literal("card.shown"), proposalId: text }),
    z.strictObject({ ...base, op: z.literal("agents") }),
    z.strictObject({ ...base, op: z.literal("ping") }),
  ]),
  z.discriminatedUnion("decision", [
    z.strictObject({ ...decided, decision: z.literal("confirm"), choice: z.int(), mode }),
    z.strictObject({ ...decided, decision: z.literal("cancel") }),
  ]),
]);

export type ReadRequest =
  | { readonly ok: true; readonly request: Request }
  /** `id`: the frame had one that can be answered. */
  | { readonly ok: false; readonly id: number | undefined };

export function readRequest(frame: string): ReadRequest {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return { ok: false, id: undefined };
  }
  const read = schema.safeParse(value);
  if (read.success) return { ok: true, request: read.data };
  const { id } = asObject(value);
  return { ok: false, id: typeof id === "number" && Number.isSafeInteger(id) && id >= 0 ? id : undefined };
}
