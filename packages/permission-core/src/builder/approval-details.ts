// What our own `_meta` namespace says of an approval, and how it is written and read. It takes nothing from an agent's `_meta`.

/** The namespace in `_meta`; the master removes it from what agents send. */
export const metaKey = "acp-master";

export interface ApprovalDetails {
  readonly toolsName?: string | undefined;
  readonly toolName?: string | undefined;
  readonly policyName?: string | undefined;
  readonly policyPath?: string | undefined;
  /** Counts from 0; absent means the policy's default. */
  readonly matchedRule?: number | undefined;
  readonly detail?: string | undefined;
  /** A unified diff. */
  readonly diff?: string | undefined;
  readonly diffOld?: string | undefined;
  readonly diffNew?: string | undefined;
}

const texts = ["toolsName", "toolName", "policyName", "policyPath", "detail", "diff", "diffOld", "diffNew"] as const;

/** The details that are set, as `_meta`; undefined when none is. */
export function detailsToMeta(details: ApprovalDetails): Record<string, unknown> | undefined {
  const set = pick({ ...details });
  return Object.keys(set).length === 0 ? undefined : { [metaKey]: set };
}

/** The details in one `_meta`; members of another type are left out. */
export function detailsFromMeta(meta: unknown): ApprovalDetails {
  return isRecord(meta) && isRecord(meta[metaKey]) ? pick(meta[metaKey]) : {};
}

function pick(from: Readonly<Record<string, unknown>>): ApprovalDetails {
  const set: Record<string, string | number> = {};
  for (const key of texts) {
    const value = from[key];
    if (typeof value === "string") set[key] = value;
  }
  const rule = from["matchedRule"];
  if (typeof rule === "number" && Number.isInteger(rule) && rule >= 0) set["matchedRule"] = rule;
  return set;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
