// Turns signals into one orderly stop, and a second one into a forced end. A terminal or pipe that went away ends nothing.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type ShutdownSignal = (typeof signals)[number];

/** A wrapper such as npm may pass on what the terminal already sent to the whole group: that is one wish, not two. */
const sameWishMs = 500;

export interface ShutdownOptions {
  /** Called once, at the first signal. */
  readonly stop: (signal: ShutdownSignal) => void;
  /** Called when a later signal says that the stop takes too long; ends the process by default. */
  readonly force?: (signal: ShutdownSignal) => void;
}

/** Until it is disposed the signals do not end the process by themselves. */
export function onShutdownSignal({ stop, force = endNow }: ShutdownOptions): Disposable {
  let firstAt: number | undefined;
  const heard = (signal: ShutdownSignal): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      stop(signal);
    } else if (performance.now() - firstAt > sameWishMs) {
      force(signal);
    }
  };
  for (const signal of signals) process.on(signal, heard);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.removeListener(signal, heard);
    },
  };
}

function endNow(): void {
  process.exit(130);
}

function ignore(): void {}

/** Whoever read the output is gone: that is no reason to fail, and reporting it there would only fail again. */
export function tolerateClosedOutput(): Disposable {
  const streams = [process.stdout, process.stderr];
  for (const stream of streams) stream.on("error", ignore);
  return {
    [Symbol.dispose]() {
      for (const stream of streams) stream.removeListener("error", ignore);
    },
  };
}
