// What one kind of action is to this package: its name, its strict form, where it acts and what a card says of it. The
// reference kinds for terminals are here; whoever runs actions may bring others.
import * as z from "zod";
import { maxInputLength, maxTitleLength } from "./limits.ts";

export interface Action {
  readonly type: string;
}

/**
 * `target_input`: types into the place that was bound when the turn started. `target`: needs that place, but leaves what
 * runs there alone. `elsewhere`: needs no place.
 */
export type ActionReach = "target_input" | "target" | "elsewhere";

/** What of the things that only an executor knows may be named here. */
export interface Offered {
  readonly delegate: boolean;
  readonly profiles: readonly string[];
}

export interface ActionType<Kind extends Action = Action> {
  readonly name: Kind["type"];
  /** Strict: an unknown member is no such action. */
  readonly schema: z.ZodType<Kind>;
  /** How an agent writes one, for its prompt: JSON with types for values. */
  form(offered: Offered): string;
  /** One that can be proposed anywhere. */
  readonly example: Kind;
  reach(action: Kind): ActionReach;
  /** The exact text that a person decides on; whoever shows it makes controls visible. */
  cardText(action: Kind): string;
  /** Text that would be typed, and so must not hold more lines than one where that matters. */
  typed(action: Kind): string | undefined;
  /** The names of things that only the executor knows; the action is refused when it knows them not. */
  names(action: Kind): { readonly delegate: boolean; readonly profile: string | undefined };
}

const input = shortText(maxInputLength).refine((text) => text.trim() !== "", "must not be blank");
const target = z.enum(["tab", "panel"]);
const opening = {
  target,
  cwd: z.string().optional(),
  title: shortText(maxTitleLength).optional(),
  direction: z.enum(["right", "left", "up", "down", "auto", "automatic"]).optional(),
  profile: z.string().optional(),
};

const sendSchema = z.strictObject({ type: z.literal("send"), input });
const openSchema = z.strictObject({ type: z.literal("open"), ...opening });
const openAndSendSchema = z.strictObject({
  type: z.literal("open_and_send"),
  ...opening,
  input,
  delegate: z.boolean().default(false),
});

export type SendAction = z.infer<typeof sendSchema>;
export type OpenAction = z.infer<typeof openSchema>;
export type OpenAndSendAction = z.infer<typeof openAndSendSchema>;

const send: ActionType<SendAction> = {
  name: "send",
  schema: sendSchema,
  form: () => '{"type":"send","input":TEXT} types into the bound terminal',
  example: { type: "send", input: "npm test" },
  reach: () => "target_input",
  cardText: (action) => action.input,
  typed: (action) => action.input,
  names: () => ({ delegate: false, profile: undefined }),
};

const open: ActionType<OpenAction> = {
  name: "open",
  schema: openSchema,
  form: (offered) => `{"type":"open",${openingForm(offered)}} opens a terminal`,
  example: { type: "open", target: "tab" },
  reach: reachOfOpening,
  cardText: openingText,
  typed: () => undefined,
  names: (action) => ({ delegate: false, profile: action.profile }),
};

const openAndSend: ActionType<OpenAndSendAction> = {
  name: "open_and_send",
  schema: openAndSendSchema,
  form: (offered) =>
    `{"type":"open_and_send",${openingForm(offered)},"input":TEXT${offered.delegate ? ',"delegate"?:BOOLEAN' : ""}} opens one and types into it`,
  example: { type: "open_and_send", target: "tab", input: "npm test", delegate: false },
  reach: reachOfOpening,
  cardText: (action) =>
    `${openingText(action)}${action.delegate ? " for a delegate" : ""}, and in it:\n${action.input}`,
  typed: (action) => action.input,
  names: (action) => ({ delegate: action.delegate, profile: action.profile }),
};

export const terminalActions: readonly ActionType[] = [send, open, openAndSend];

/** A text of at most so many Unicode scalar values. */
export function shortText(longest: number): z.ZodString {
  return z
    .string()
    .refine(
      (text) => text.length <= longest || Array.from(text).length <= longest,
      `must have at most ${longest} characters`,
    );
}

function reachOfOpening(action: OpenAction | OpenAndSendAction): ActionReach {
  return action.target === "panel" ? "target" : "elsewhere";
}

function openingForm({ profiles }: Offered): string {
  const profile = profiles.length === 0 ? "" : `,"profile"?:${profiles.map((name) => JSON.stringify(name)).join("|")}`;
  return `"target":"tab"|"panel","cwd"?:TEXT,"title"?:TEXT,"direction"?:"right"|"left"|"up"|"down"|"auto"${profile}`;
}

/** One line; what an agent names is quoted, so that it cannot look like the rest of it. */
function openingText(action: OpenAction | OpenAndSendAction): string {
  const direction = action.target === "panel" ? action.direction : undefined;
  const parts = [
    `open a ${action.target}`,
    ...(action.title === undefined ? [] : [`named ${JSON.stringify(action.title)}`]),
    ...(direction === undefined ? [] : [`(${direction})`]),
    ...(action.profile === undefined ? [] : [`with profile ${JSON.stringify(action.profile)}`]),
    ...(action.cwd === undefined ? [] : [`in ${JSON.stringify(action.cwd)}`]),
  ];
  return parts.join(" ");
}
