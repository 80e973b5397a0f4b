// The daemon's socket as the stream that the official SDK reads and writes. Updates go past the SDK: it knows fewer kinds
// than agents send, and the socket is read no faster than they are taken.
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { asObject } from "../json.ts";
import type { JsonObject } from "../protocol.ts";
import { Lines } from "./lines.ts";

/** Twice what a daemon carries by default. */
const longestMessage = 64 * 1024 * 1024;

/** The params of `session/update`s, in the order in which they came. Nothing more is read before it is done. */
export type OnUpdates = (updates: readonly JsonObject[]) => Promise<void> | undefined;

export function messageStream(socket: Socket, onUpdates: OnUpdates): Stream {
  const bytes: ReadableStream<Uint8Array> = Readable.toWeb(socket);
  return { readable: bytes.pipeThrough(withoutUpdates(onUpdates)), writable: writing(socket) };
}

function withoutUpdates(onUpdates: OnUpdates): TransformStream<Uint8Array, AnyMessage> {
  const lines = new Lines(longestMessage);
  return new TransformStream<Uint8Array, AnyMessage>({
    async transform(chunk, controller) {
      let batch: JsonObject[] = [];
      const deliver = async (): Promise<void> => {
        const updates = batch;
        batch = [];
        if (updates.length > 0) await onUpdates(updates);
      };
      for (const line of lines.push(chunk)) {
        const message = asObject(JSON.parse(line.toString("utf8")));
        if (message["method"] === "session/update" && !("id" in message)) {
          batch.push(asObject(message["params"]));
          continue;
        }
        // What stood before an answer is there before it.
        await deliver();
        // The SDK judges what it is.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        controller.enqueue(message as unknown as AnyMessage);
      }
      await deliver();
    },
  });
}

function writing(socket: Socket): WritableStream<AnyMessage> {
  return new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve, reject) => {
        socket.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => void socket.end(),
    abort: () => void socket.destroy(),
  });
}
