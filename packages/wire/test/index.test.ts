import { expect, test } from "vitest";
import * as wire from "../src/index.ts";

test("the package offers frames, envelopes, spans and splices, and nothing else", () => {
  expect(Object.keys(wire).sort()).toEqual([
    "Envelope",
    "FrameReader",
    "FrameSplitter",
    "FrameWriter",
    "LineMemory",
    "WireError",
    "appendElement",
    "frameOf",
    "hasOneReading",
    "insertMember",
    "parseFrame",
    "peek",
    "readString",
    "removeMember",
    "setMember",
    "spanBytes",
    "spanEquals",
    "splice",
    "stringEquals",
  ]);
});

test("a frame cut from a chunk is peeked, changed and written on as bytes", () => {
  const sent: string[] = [];
  const envelope = new wire.Envelope();
  const splitter = new wire.FrameSplitter(1000, {
    frame(bytes, start, end) {
      wire.peek(bytes, start, end, envelope);
      expect(envelope.kind).toBe("request");
      const changed = wire.splice(bytes, start, end, [{ ...envelope.id, bytes: Buffer.from('"x-1"') }]);
      sent.push(changed.toString());
    },
    tooLong: () => expect.unreachable(),
  });
  splitter.push(Buffer.from('{"jsonrpc":"2.0", "id":0,"method":"session/prompt","params":{"sess'));
  splitter.push(Buffer.from('ionId":"s"}}\r\n'));
  expect(sent).toEqual(['{"jsonrpc":"2.0", "id":"x-1","method":"session/prompt","params":{"sessionId":"s"}}\n']);
});
