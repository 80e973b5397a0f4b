// Writes points in time: as an age for people, as ISO 8601 for programs. It knows no time zone but UTC.

const units = [
  { seconds: 86_400, name: "d" },
  { seconds: 3_600, name: "h" },
  { seconds: 60, name: "min" },
  { seconds: 1, name: "s" },
] as const;

/** Milliseconds, ISO text or nothing, as the master reports them. */
export type PointInTime = number | string | null | undefined;

function milliseconds(at: PointInTime): number | undefined {
  const value = typeof at === "string" ? Date.parse(at) : at;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** ISO 8601 in UTC, or "-" when there is no time. */
export function isoTime(at: PointInTime): string {
  const value = milliseconds(at);
  return value === undefined || Math.abs(value) > 8.64e15 ? "-" : new Date(value).toISOString();
}

/** A length of time in its largest whole unit: "3 min". */
export function duration(lengthMs: number): string {
  const seconds = Math.max(0, Math.round(lengthMs / 1000));
  const unit = units.find((candidate) => seconds >= candidate.seconds);
  return unit === undefined ? "0 s" : `${Math.floor(seconds / unit.seconds)} ${unit.name}`;
}

/** "3 min ago", "in 20 s", or "-". */
export function age(at: PointInTime, now: number): string {
  const value = milliseconds(at);
  if (value === undefined) return "-";
  return value > now + 500 ? `in ${duration(value - now)}` : `${duration(now - value)} ago`;
}
