// Reads a payload into a proposal: strict JSON, version, schema, and no text that could show something else than it does.
// What it says about a bad one is for the agent that wrote it, and for nobody's log.
import * as z from "zod";
import { type Action, type ActionType, shortText } from "./action-type.ts";
import { maxActions, maxChoices, maxPayloadBytes, maxRationaleLength, maxTitleLength } from "./limits.ts";
import { decodeUtf8, isJsonObject, jsonProblem } from "./strict-json.ts";

export interface Choice {
  readonly choice: number;
  readonly title: string;
  readonly rationale: string;
  readonly actions: readonly Action[];
}

export interface Proposal {
  readonly origin: string;
  readonly recommended: number | undefined;
  readonly choices: readonly Choice[];
}

export type ReadPayload =
  | { readonly ok: true; readonly proposal: Proposal }
  | { readonly ok: false; readonly status: "invalid_schema" | "rejected"; readonly reason: string };

const payloadSchema = z.strictObject({
  schema_version: z.literal(1),
  origin: z.string(),
  recommended_choice: z.int().nullable().optional(),
  choices: z
    .array(
      z.strictObject({
        choice: z.int().min(1).max(maxChoices),
        title: shortText(maxTitleLength).refine((title) => title.trim() !== "", "must not be blank"),
        rationale: shortText(maxRationaleLength).default(""),
        actions: z
          // Each kind reads its own, from what was sent and not from what a first reading left of it.
          .array(z.unknown())
          .min(1)
          .max(maxActions),
      }),
    )
    .min(1)
    .max(maxChoices)
    .refine(
      (choices) => new Set(choices.map((each) => each.choice)).size === choices.length,
      "two choices have the same number",
    ),
});

/** `types` are the kinds of actions that can be run here; any other is no proposal. */
export function readPayload(payload: Uint8Array, types: readonly ActionType[]): ReadPayload {
  if (payload.length < 1 || payload.length > maxPayloadBytes)
    return invalid(`the payload must have 1 to ${maxPayloadBytes} bytes`);
  const json = decodeUtf8(payload);
  if (json === undefined) return invalid("the payload is not valid UTF-8");
  const problem = jsonProblem(json, "compact");
  if (problem !== undefined) return invalid(`the payload must be compact JSON without duplicate keys (${problem})`);
  const value: unknown = JSON.parse(json);
  const version = isJsonObject(value) ? value["schema_version"] : undefined;
  if (version !== 1) return invalid("schema_version must be 1");
  const read = payloadSchema.safeParse(value);
  if (!read.success) return invalid(firstIssue(read.error, []));
  const choices: Choice[] = [];
  for (const [index, { choice, title, rationale, actions: unread }] of read.data.choices.entries()) {
    const actions: Action[] = [];
    for (const [place, action] of unread.entries()) {
      const named = isJsonObject(action) ? action["type"] : undefined;
      const type = types.find((each) => each.name === named);
      const path = ["choices", index, "actions", place];
      if (type === undefined)
        return invalid(`${path.join(".")}: expected a type of ${types.map((each) => each.name).join(", ")}`);
      const readAction = type.schema.safeParse(action);
      if (!readAction.success) return invalid(firstIssue(readAction.error, path));
      actions.push(readAction.data);
    }
    choices.push({ choice, title, rationale, actions });
  }
  const { origin, recommended_choice: recommended } = read.data;
  if (holdsControls(value)) {
    return {
      ok: false,
      status: "rejected",
      reason: "a text holds a control or text direction character; of these only line feeds are allowed",
    };
  }
  return { ok: true, proposal: { origin, recommended: recommended ?? undefined, choices } };
}

// C0 but for LF, DEL, C1, and what changes the direction of text.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The value has passed a schema, so it is as deep as that and no deeper. */
function holdsControls(value: unknown): boolean {
  if (typeof value === "string") return controls.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsControls);
}

const longestReason = 300;

function firstIssue(error: z.ZodError, path: readonly PropertyKey[]): string {
  const [issue] = error.issues;
  const where = [...path, ...(issue?.path ?? [])].map(String).join(".");
  return `${where === "" ? "" : `${where}: `}${issue?.message ?? "not the required form"}`.slice(0, longestReason);
}

function invalid(reason: string): ReadPayload {
  return { ok: false, status: "invalid_schema", reason };
}
