// When a Helper counts as unavailable: two deaths or failed starts within a minute. It is a rule on times and holds no
// timer.

const windowMs = 60_000;
const deathsAllowed = 1;
/** The first prompt this long after it became unavailable tries again. */
export const retryAfterMs = 30_000;

export interface Failures {
  readonly times: readonly number[];
  readonly unavailableSince: number | undefined;
}

export const noFailures: Failures = { times: [], unavailableSince: undefined };

/** `hopeless`: another start would fail in the same way. */
export function afterFailure(failures: Failures, now: number, hopeless: boolean): Failures {
  const times = [...failures.times.filter((time) => now - time < windowMs), now];
  const isOut = hopeless || times.length > deathsAllowed;
  return { times, unavailableSince: isOut ? (failures.unavailableSince ?? now) : failures.unavailableSince };
}

export function mayRetry(failures: Failures, now: number): boolean {
  return failures.unavailableSince !== undefined && now - failures.unavailableSince >= retryAfterMs;
}
