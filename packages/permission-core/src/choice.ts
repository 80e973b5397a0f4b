// Which option an automatic decider may take, by kind and never by label. It invents no id and never takes an "always" to allow.

/** An option as the routing half knows it: its id and its kind, nothing a person reads. */
export interface TicketOption {
  readonly optionId: string;
  readonly kind: string;
}

/** What the agent is told. `cancelled` says that the turn is gone, so a "no" is a reject option wherever one can be used. */
export type AgentAnswer =
  { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

type Options = readonly TicketOption[];

const rejectKinds = ["reject_once", "reject_always"];

export function isOffered(options: Options, optionId: string): boolean {
  return options.some((option) => option.optionId === optionId);
}

/** Whether choosing this id may grant something: true unless every option that carries it is known to be a reject. */
export function grants(options: Options, optionId: string): boolean {
  const carriers = options.filter((option) => option.optionId === optionId);
  return carriers.length === 0 || carriers.some((option) => !rejectKinds.includes(option.kind));
}

function onlyOfKind(options: Options, kind: string): string | undefined {
  const [first, second] = options.filter((option) => option.kind === kind && option.optionId !== "");
  return second === undefined ? first?.optionId : undefined;
}

/**
 * The only `allow_once`, or undefined. An id that another option carries too is no choice, because nobody can say
 * which of them the agent would take.
 *
 *     allowOption([{ optionId: "a", kind: "allow_once" }, { optionId: "n", kind: "reject_once" }]) === "a"
 */
export function allowOption(options: Options): string | undefined {
  const optionId = onlyOfKind(options, "allow_once");
  return options.filter((option) => option.optionId === optionId).length === 1 ? optionId : undefined;
}

/** The only `reject_once`, else the only `reject_always`, else undefined; never an id that an allowing option shares. */
export function refuseOption(options: Options): string | undefined {
  for (const kind of rejectKinds) {
    const optionId = onlyOfKind(options, kind);
    if (optionId !== undefined && !grants(options, optionId)) return optionId;
  }
  return undefined;
}

/**
 * The refusal for these options: the reject option above, else `cancelled`.
 *
 *     refuse([{ optionId: "n", kind: "reject_once" }])  // { outcome: "selected", optionId: "n" }
 *     refuse([{ optionId: "a", kind: "allow_once" }])   // { outcome: "cancelled" }
 */
export function refuse(options: Options): AgentAnswer {
  const optionId = refuseOption(options);
  return optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
}

export type HelperChoice =
  | { readonly ok: true; readonly grants: boolean }
  | { readonly ok: false; readonly fault: "option_not_offered" | "allow_is_not_the_only_allow_once" };

/** Holds a Helper to the rules of automatic deciders: any offered reject, or the only `allow_once`; all else is a fault. */
export function checkHelperChoice(options: Options, optionId: string): HelperChoice {
  if (!isOffered(options, optionId)) return { ok: false, fault: "option_not_offered" };
  if (!grants(options, optionId)) return { ok: true, grants: false };
  if (optionId === allowOption(options)) return { ok: true, grants: true };
  return { ok: false, fault: "allow_is_not_the_only_allow_once" };
}
