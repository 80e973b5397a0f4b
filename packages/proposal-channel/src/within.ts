// A wait that always ends: with the work, with its time, or when somebody stops it.
import type { Clock } from "./clock.ts";

/** The result of `work`; `undefined` when it throws, takes longer than `ms` or is stopped. Its time over, `stop` is aborted. */
export async function within<Value>(
  clock: Clock,
  ms: number,
  stop: AbortController,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  return await new Promise((resolve) => {
    const stopTimer = clock.after(ms, () => stop.abort());
    const done = (value: Value | undefined) => {
      stopTimer();
      stop.signal.removeEventListener("abort", onAbort);
      resolve(value);
    };
    const onAbort = () => done(undefined);
    stop.signal.addEventListener("abort", onAbort);
    if (stop.signal.aborted) return onAbort();
    const run = async () => {
      try {
        done(await work());
      } catch {
        done(undefined); // whatever throws has said nothing, and what it threw may hold the payload
      }
    };
    void run();
  });
}
