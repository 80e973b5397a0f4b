// Waits until everything that was written to a stream has left. It ends the stream.
import type { Writable } from "node:stream";

/** Ends also when the stream fails, and early when `enough` is aborted: then nobody is there to take the rest. */
export async function delivered(stream: Writable, enough?: AbortSignal): Promise<void> {
  if (stream.destroyed || enough?.aborted === true) return;
  await new Promise<void>((resolve) => {
    stream.once("finish", resolve);
    stream.once("close", resolve);
    stream.once("error", () => resolve());
    enough?.addEventListener("abort", () => resolve(), { once: true });
    // Process streams cannot be closed, but their end is told.
    stream.end();
  });
}
