import { expect, test } from "vitest";
import { Envelope, spanIndex } from "../src/envelope.ts";
import { peek } from "../src/peek.ts";
import { SPAN_PATHS } from "./reference-envelope.ts";

test("every span of the table has its own place", () => {
  const envelope = new Envelope();
  const indexes = SPAN_PATHS.map(({ name }) => spanIndex(name));
  expect(new Set(indexes).size).toBe(SPAN_PATHS.length);
  expect(envelope.spans).toHaveLength(SPAN_PATHS.length);
  for (const { name } of SPAN_PATHS) expect(envelope.spans[spanIndex(name)]).toBe(envelope[name]);
});

test("nothing of the frame before is left in a reused envelope", () => {
  const full = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"sessionId":"s","update":{"status":"x"},"toolCall":{"toolCallId":"t"},"prompt":[1],"options":[{"optionId":"o"}]}}',
  );
  const envelope = new Envelope();
  peek(full, 0, full.length, envelope);
  expect(envelope.spans.filter(({ start }) => start !== -1)).toHaveLength(11);
  for (const next of ['{"jsonrpc":"2.0","method":"n"}', "{", "[]", "1", ""]) {
    const bytes = Buffer.from(next);
    peek(full, 0, full.length, envelope);
    peek(bytes, 0, bytes.length, envelope);
    expect(envelope.spans.filter(({ start }) => start !== -1)).toHaveLength(next.length > 10 ? 2 : 0);
    expect([envelope.promptElementCount, envelope.optionCount]).toEqual([0, 0]);
    expect(envelope.bytes).toBe(bytes);
  }
});

test("a released envelope holds no byte of the frame", () => {
  const bytes = Buffer.from('{"jsonrpc":"2.0","method":"m"}');
  const envelope = new Envelope();
  peek(bytes, 0, bytes.length, envelope);
  envelope.release();
  expect(envelope.bytes).toHaveLength(0);
});
