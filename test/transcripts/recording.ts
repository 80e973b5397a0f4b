// What was said on a connection, line by line, taken below the SDKs: on the bytes that leave and arrive.
// It changes nothing on the way and reads nothing of it.
import { TransformStream } from "node:stream/web";
import { LineSplitter } from "../harness/lines.ts";

export type Direction = "to agent" | "to client";

export interface Recorded {
  readonly direction: Direction;
  /** The line without its LF. */
  readonly text: string;
}

/** A stream that hands on the bytes it gets and tells every whole line before it hands on its last byte. */
export function tap(direction: Direction, line: (recorded: Recorded) => void): TransformStream<Uint8Array, Uint8Array> {
  const splitter = new LineSplitter((bytes) => line({ direction, text: bytes.toString("utf8") }));
  return new TransformStream({
    transform(chunk, controller) {
      splitter.push(Buffer.from(chunk));
      controller.enqueue(chunk);
    },
  });
}
