// A wait for what somebody owes. One that ran out while the daemon or the machine was stopped is not over at once: who is
// waited for was stopped too, or has answered and was not heard yet.

/** Being this much later than asked for is no mere delay. */
const jumpMs = 4_000;
/** A stop is seen by the step that it fell into. */
const longestStepMs = 5_000;

/** What people, and the clients in which they sit, get to come back. */
export const peopleGraceMs = 60_000;

/**
 * Calls `over` once, after `ms`; the returned function ends the wait. After a stop at least `graceMs` are left, unless told
 * otherwise the whole wait anew. It keeps no process alive.
 */
export function wait(ms: number, over: () => void, graceMs: number = ms): () => void {
  let timer: NodeJS.Timeout | undefined;
  let last: NodeJS.Immediate | undefined;
  const step = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, longestStepMs);
    const dueAt = performance.now() + stepMs;
    timer = setTimeout(() => {
      const wasStopped = performance.now() - dueAt > jumpMs;
      const left = wasStopped ? Math.max(leftMs - stepMs, graceMs) : leftMs - stepMs;
      if (left > 0) step(left);
      // What has arrived meanwhile is read first: it may be what is waited for. An immediate without a reference would wait for
      // the next event, whenever that comes.
      else last = setImmediate(over);
    }, stepMs).unref();
  };
  step(ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(last);
  };
}
