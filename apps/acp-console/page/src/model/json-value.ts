// Reads JSON that somebody else wrote: what does not have the expected shape reads as empty.

export type JsonRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object that is no list has unknown members
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
