// Waits for an event for a bounded time. It measures turns of the event loop as well as time.
import { setTimeout as sleep } from "node:timers/promises";

const steps = 5;

/**
 * True when the event came in time. The wait is cut into steps so that after a stall of this process the event loop polls
 * before the wait is given up: an event that is already there is not missed.
 */
export async function happensWithin(event: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const happened = event.then(() => true);
  try {
    for (let step = 0; step < steps; step++) {
      const tick = sleep(ms / steps, false, { signal: timer.signal }).catch(() => false);
      if (await Promise.race([happened, tick])) return true;
    }
    return false;
  } finally {
    timer.abort();
  }
}
