// How far the daemon's heap may grow before all of it is looked through. Every chunk that is read is a buffer outside of the heap;
// the engine counts those as growth, frees them in quick collections after 32 MB, and would begin a whole one after some 20 MB
// in a heap of ours. Then four threads mark the same few live objects again and again while an agent streams.
import { setFlagsFromString } from "node:v8";

/** Four times what lived at the last whole collection, 60 MB for some 15; an idle heap is collected all the same. */
export function collectWholeHeapRarely(): void {
  setFlagsFromString("--heap-growing-percent=300");
}
