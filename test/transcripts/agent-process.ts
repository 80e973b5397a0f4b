// The stdio of a test agent as byte streams. Every line both ways is appended to the file that TRANSCRIPT names.
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { type Recorded, tap } from "./recording.ts";
import { respell } from "./respelling.ts";

const file = process.env.TRANSCRIPT;

const keep = (recorded: Recorded): void => {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(recorded)}\n`);
};

export const sessionPrefix = process.env.SESSION_PREFIX ?? "s";

export interface ByteStreams {
  readonly output: WritableStream<Uint8Array>;
  readonly input: ReadableStream<Uint8Array>;
}

export function recordedStdio(): ByteStreams {
  const out = respell();
  void out.readable.pipeThrough(tap("to client", keep)).pipeTo(Writable.toWeb(process.stdout));
  return { output: out.writable, input: Readable.toWeb(process.stdin).pipeThrough(tap("to agent", keep)) };
}
