// The payload rule: nothing in this package makes a string of a frame's bytes but the two files that say so.
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import {
  appendElement,
  Envelope,
  FrameSplitter,
  peek,
  readString,
  removeMember,
  setMember,
  splice,
  spanBytes,
  stringEquals,
} from "../src/index.ts";

const SOURCES = new URL("../src/", import.meta.url);
const MAY_DECODE = ["spans.ts", "whole-frame.ts"];
const DECODING =
  /\.toString\(|TextDecoder|StringDecoder|JSON\.parse|Slice\(|fromCharCode|fromCodePoint|toJSON|inspect|setEncoding/;

afterEach(() => {
  vi.restoreAllMocks();
});

test("only two files name anything that turns bytes into text", () => {
  const decoding = readdirSync(SOURCES).filter((name) => DECODING.test(readFileSync(new URL(name, SOURCES), "utf8")));
  expect(decoding.sort()).toEqual(MAY_DECODE);
});

test("the package imports nothing but Node", () => {
  for (const name of readdirSync(SOURCES)) {
    const imported = [...readFileSync(new URL(name, SOURCES), "utf8").matchAll(/from "([^"]+)"/g)].map(
      (match) => match[1]!,
    );
    expect(imported.filter((from) => !from.startsWith("./") && !from.startsWith("node:"))).toEqual([]);
  }
});

test("cutting, peeking and splicing a frame makes no string of it", () => {
  const stream = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"sessionId":"s","pr\\u006fmpt":1,"_meta":{"k":1,"k":2},"prompt":["é\\n"]}}\n',
  );
  const fine = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"sessionId":"s","_meta":{"k":1,"\\u006b":2},"prompt":["é\\n"]}}\n',
  );
  const envelope = new Envelope();
  const kinds: string[] = [];
  const key = Buffer.from("s");
  const spies = [
    vi.spyOn(Buffer.prototype, "toString"),
    vi.spyOn(Buffer.prototype, "toJSON"),
    vi.spyOn(TextDecoder.prototype, "decode"),
    vi.spyOn(JSON, "parse"),
  ];
  const splitter = new FrameSplitter(1000, {
    frame(bytes, start, end) {
      peek(bytes, start, end, envelope);
      kinds.push(envelope.kind);
      if (envelope.kind === "invalid") return;
      stringEquals(bytes, envelope.sessionId, key);
      spanBytes(bytes, envelope.id);
      splice(bytes, start, end, [appendElement(bytes, envelope.prompt, key)]);
      splice(bytes, start, end, [removeMember(bytes, envelope.paramsMeta, "k")!]);
      splice(bytes, start, end, [setMember(bytes, envelope.paramsMeta, "k", key)]);
    },
    tooLong: () => kinds.push("too long"),
  });
  for (let at = 0; at < stream.length; at += 7) splitter.push(stream.subarray(at, at + 7));
  splitter.push(fine);
  expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0, 0]);
  expect(readString(fine, envelope.sessionId)).toBe("s");
  expect(spies[0]!.mock.calls.length).toBe(1);
  expect(kinds).toEqual(["invalid", "request"]);
});
