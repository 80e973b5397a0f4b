// Reads members of JSON that came from elsewhere without trusting its shape: what has another type counts as empty.

export type JsonRecord = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const empty: JsonRecord = {};

export const asRecord = (value: unknown): JsonRecord => (isRecord(value) ? value : empty);

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string => (typeof value === "string" ? value : "");
