// Hands lines on before anybody has looked at them: who waits for them does not wait for the shim's bookkeeping.
import type { FrameWriter } from "@acp-master/wire";

const LF = 0x0a;
/** Writes the whole lines of a chunk from `start` on. Returns the chunk, undefined when it holds none. */
export function passAhead(chunk: Buffer, start: number, writer: FrameWriter | undefined): Buffer | undefined {
  const end = chunk.lastIndexOf(LF) + 1;
  if (writer === undefined || end <= start) return undefined;
  writer.send(chunk.subarray(start, end));
  return chunk;
}
