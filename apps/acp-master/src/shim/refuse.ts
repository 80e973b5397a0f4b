// Says to an editor that there is no daemon: an error under the id of its first request, a line on standard error. It tries nothing again.
import { Envelope, FrameReader, FrameWriter, peek, spanBytes } from "@acp-master/wire";
import { fault } from "../protocol/reasons.ts";
import type { EditorStdio } from "./editor-stdio.ts";
import { errorFrame } from "./error-frame.ts";
import { delivered } from "./delivered.ts";
import { longestFrame } from "./longest-frame.ts";

/** An editor that asks nothing gets no more than the line. */
const patienceMs = 10_000;

/** Resolves to the exit code when the answer has left. */
export async function refuse(stdio: EditorStdio, message: string, exitCode: number): Promise<number> {
  stdio.say(message);
  const envelope = new Envelope();
  const writer = new FrameWriter(stdio.output, {});
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs);
    let answered = false;
    const reader = new FrameReader(stdio.input, longestFrame, {
      frame(bytes, start, end) {
        peek(bytes, start, end, envelope);
        if (envelope.id.start === -1 || envelope.method.start === -1) return;
        writer.write(errorFrame(spanBytes(bytes, envelope.id), fault("no_daemon", message)));
        answered = true;
      },
      chunkEnd() {
        if (!answered) return;
        reader.pause();
        resolve();
      },
      tooLong: () => resolve(),
      ended: () => resolve(),
    });
  });
  clearTimeout(timer);
  writer.flush();
  await delivered(stdio.output);
  return exitCode;
}
