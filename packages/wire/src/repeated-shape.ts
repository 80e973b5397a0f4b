// Frames of a stream are often equal but for one string, such as the next words of a message. Where the rest of a frame has the
// bytes of the one before it in the same buffer, all that was found out about that one holds for it too, and only the string has
// to be looked at. Bytes that were peeked must not change before the next frame of their buffer is.
import { isUtf8 } from "node:buffer";
import type { Envelope } from "./envelope.ts";
import type { Scanner } from "./scanner.ts";

/** So many surprises in a row, and the rest of the buffer is walked without looking for repetitions. */
const MOST_SURPRISES = 8;

/** Whether the frame `bytes[start, end)` is like the one in the envelope, which then tells of it; if not, what the walk is to watch. */
export function repeatsShape(bytes: Buffer, start: number, end: number, into: Envelope, scanner: Scanner): boolean {
  if (into.bytes !== bytes) {
    into.surprises = 0;
    return false;
  }
  if (into.kind !== "notification" || start <= into.end) return false;
  if (into.surprises >= MOST_SURPRISES || into.optionCount > 0 || into.promptElementCount > 0) return false;
  const view = scanner.dataView(bytes);
  const most = Math.min(into.end - into.start, end - start);
  const known = into.variesFrom !== -1;
  const head = known ? into.variesFrom - into.start : most;
  const same = head > most ? 0 : equalBytes(view, into.start, start, head);
  if (known && same === head && hasTail(bytes, start + head, end, into, scanner)) {
    into.surprises = 0;
    return true;
  }
  into.surprises += 1;
  const rest = known && same === head ? equalBytes(view, into.start + same, start + same, most - same) : 0;
  scanner.watch(start + same + rest);
  return false;
}

/** From `from` on: any string text, then what stood behind the one before. */
function hasTail(bytes: Buffer, from: number, end: number, into: Envelope, scanner: Scanner): boolean {
  const tail = into.end - into.variesTo;
  const to = end - tail;
  if (to < from || equalBytes(scanner.dataView(bytes), into.variesTo, to, tail) < tail) return false;
  scanner.open(bytes, end);
  // The tail begins with the closing quote.
  const complete = scanner.string(from) === to + 1;
  const isText = complete && (!scanner.sawHighBytes || isUtf8(bytes.subarray(from, to)));
  scanner.close();
  if (isText) into.moveTo(into.start + from - into.variesFrom, end, from, to);
  return isText;
}

/** How many bytes from `a` and from `b` on are equal, at most `length`. */
function equalBytes(view: DataView, a: number, b: number, length: number): number {
  let count = 0;
  while (count + 4 <= length && view.getInt32(a + count) === view.getInt32(b + count)) count += 4;
  while (count < length && view.getUint8(a + count) === view.getUint8(b + count)) count += 1;
  return count;
}
