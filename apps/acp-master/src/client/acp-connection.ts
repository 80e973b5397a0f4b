// The official SDK's client side over the daemon's socket, with a look at each update's own bytes. The SDK drops updates that it does not know; this sees them all.
import { Readable, Writable } from "node:stream";
import { type ClientApp, type ClientConnection, ndJsonStream } from "@agentclientprotocol/sdk";
import { Envelope, FrameSplitter, peek, readString, spanEquals } from "@acp-master/wire";
import { dial } from "./master-client.ts";

const maxFrameBytes = 64 * 1024 * 1024;
const sessionUpdate = Buffer.from('"session/update"');

/** `json` is the raw text of `params.update`; called in the order of arrival, before the answers that follow. */
export type OnUpdate = (sessionId: string, json: string) => void;

export async function connectAcp(socketPath: string, app: ClientApp, onUpdate: OnUpdate): Promise<ClientConnection> {
  const socket = await dial(socketPath);
  const envelope = new Envelope();
  const splitter = new FrameSplitter(maxFrameBytes, {
    frame(bytes, start, end) {
      peek(bytes, start, end, envelope);
      const { method, update } = envelope;
      if (envelope.kind !== "notification" || update.start === -1 || !spanEquals(bytes, method, sessionUpdate)) return;
      const sessionId = readString(bytes, envelope.sessionId);
      if (sessionId !== undefined) onUpdate(sessionId, bytes.toString("utf8", update.start, update.end));
    },
    tooLong: () => socket.destroy(),
  });
  const tap = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // A copy: the splitter may put a line feed over a carriage return.
      splitter.push(Buffer.from(chunk));
      controller.enqueue(chunk);
    },
  });
  const input: ReadableStream<Uint8Array> = Readable.toWeb(socket);
  const output: WritableStream<Uint8Array> = Writable.toWeb(socket);
  return app.connect(ndJsonStream(output, input.pipeThrough(tap), { maxMessageBytes: maxFrameBytes }));
}
