// The official SDK's client side over the daemon's socket, but updates go past it with their own bytes, those of unknown kinds too. It judges no message.
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
  const input: ReadableStream<Uint8Array> = Readable.toWeb(socket);
  const output: WritableStream<Uint8Array> = Writable.toWeb(socket);
  const rest = input.pipeThrough(withoutUpdates(onUpdate));
  return app.connect(ndJsonStream(output, rest, { maxMessageBytes: maxFrameBytes }));
}

/** Takes the updates out of the stream: the SDK would complain on stderr about those that it does not know. */
function withoutUpdates(onUpdate: OnUpdate): TransformStream<Uint8Array, Uint8Array> {
  const envelope = new Envelope();
  let splitter: FrameSplitter;
  return new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      splitter = new FrameSplitter(maxFrameBytes, {
        frame(bytes, start, end) {
          peek(bytes, start, end, envelope);
          const { method, update } = envelope;
          const isUpdate =
            envelope.kind === "notification" && update.start !== -1 && spanEquals(bytes, method, sessionUpdate);
          if (!isUpdate) return controller.enqueue(Buffer.from(bytes.subarray(start, end + 1)));
          const sessionId = readString(bytes, envelope.sessionId);
          if (sessionId !== undefined) onUpdate(sessionId, bytes.toString("utf8", update.start, update.end));
        },
        tooLong: (limit) => controller.error(new Error(`a message is longer than ${limit} bytes`)),
      });
    },
    // A copy: the splitter may put a line feed over a carriage return.
    transform: (chunk) => splitter.push(Buffer.from(chunk)),
    flush: () => splitter.end(),
  });
}
