import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SpanName } from "../src/envelope.ts";
import { Envelope } from "../src/envelope.ts";
import { peek } from "../src/peek.ts";
import type { Span } from "../src/spans.ts";
import { FrameMaker } from "./frame-maker.ts";
import { RandomSource, runSeed } from "./random-source.ts";
import { expectationFor, SPAN_PATHS } from "./reference-envelope.ts";

const GENERATED_FRAMES = 1_000_000;
const FRAMES_PER_TEST = 50_000;
const SCRATCH_BYTES = 1 << 16;

function peeked(text: string | Buffer): Envelope {
  const frame = Buffer.from(text);
  const envelope = new Envelope();
  peek(frame, 0, frame.length, envelope);
  return envelope;
}

function textOf(bytes: Buffer, span: Span): string | undefined {
  return span.start === -1 ? undefined : bytes.toString("utf8", span.start, span.end);
}

function spanText(envelope: Envelope, name: SpanName): string | undefined {
  return textOf(envelope.bytes, envelope[name]);
}

/** The own member at the end of a path of objects. */
function memberAt(whole: unknown, path: readonly string[]): unknown {
  let value = whole;
  for (const key of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

/** What the envelope says differently from the slow reference; undefined if nothing. */
function difference(envelope: Envelope): string | undefined {
  const { bytes, start, end } = envelope;
  const expected = expectationFor(bytes.subarray(start, end));
  if (envelope.kind !== expected.kind) return `kind ${envelope.kind} (${envelope.problem}), not ${expected.kind}`;
  if (envelope.problem !== expected.problem) return `problem ${envelope.problem}, not ${expected.problem}`;
  if (envelope.kind === "invalid") {
    return spanText(envelope, "id") === expected.spans.get("id") ? undefined : "id of an invalid frame";
  }
  for (const { name } of SPAN_PATHS) {
    if (spanText(envelope, name) !== expected.spans.get(name)) return `span ${name}`;
  }
  if (envelope.promptElementCount !== expected.promptElements.length) return "count of prompt elements";
  for (const [index, text] of expected.promptElements.entries()) {
    if (textOf(bytes, envelope.promptElements[index]!) !== text) return `prompt element ${index}`;
  }
  if (envelope.optionCount !== expected.options.length) return "count of options";
  for (const [index, option] of expected.options.entries()) {
    if (textOf(bytes, envelope.optionIds[index]!) !== option.optionId) return `id of option ${index}`;
    if (textOf(bytes, envelope.optionKinds[index]!) !== option.kind) return `kind of option ${index}`;
  }
  return undefined;
}

function agree(frame: Buffer): void {
  expect(difference(peeked(frame))).toBeUndefined();
}

/** Breaks a frame in place now and then, as bytes; returns its new end. */
function corrupt(random: RandomSource, scratch: Buffer, start: number, end: number): number {
  if (end <= start || !random.oneIn(3)) return end;
  const at = start + random.below(end - start);
  switch (random.below(7)) {
    case 0:
      return at;
    case 1:
      scratch[at]! ^= 1 << random.below(8);
      return end;
    case 2:
      scratch[at] = random.below(256);
      return end;
    case 3:
      scratch.copyWithin(at, at + 1, end);
      return end - 1;
    case 4:
      scratch.copyWithin(at + 1, at, end);
      scratch[at] = random.pick([0x22, 0x5c, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x20, 0x31, 0x00, 0x80]);
      return end + 1;
    case 5:
      return scratch.copy(scratch, end, start, at) + end;
    default: {
      const bad = random.pick(["c0af", "eda080", "f4908080", "e4b8", "ff", "f8888080", "80", "efbfbd"]);
      const inserted = Buffer.from(bad, "hex");
      scratch.copyWithin(at + inserted.length, at, end);
      inserted.copy(scratch, at);
      return end + inserted.length;
    }
  }
}

describe("a million generated frames", () => {
  const envelope = new Envelope();
  const scratch = Buffer.alloc(SCRATCH_BYTES);
  const tests = GENERATED_FRAMES / FRAMES_PER_TEST;
  const tally = {
    invalid: 0,
    request: 0,
    notification: 0,
    response: 0,
    not_json: 0,
    batch: 0,
    not_object: 0,
    duplicate_key: 0,
    escaped_key: 0,
    bad_envelope: 0,
  };

  test.each(Array.from({ length: tests }, (_, index) => runSeed + index))(
    "peek agrees with a strict parser on every frame of seed %i",
    (seed) => {
      const random = new RandomSource(seed);
      const maker = new FrameMaker(random);
      for (let count = 0; count < FRAMES_PER_TEST; count += 1) {
        const text = maker.frame();
        const start = 8 + random.below(8);
        if (Buffer.byteLength(text) * 2 + 32 > SCRATCH_BYTES) continue;
        const end = corrupt(random, scratch, start, start + scratch.write(text, start));
        scratch[end] = 0x0a;
        peek(scratch, start, end, envelope);
        const found = difference(envelope);
        if (found !== undefined) {
          expect.fail(
            `WIRE_TEST_SEED=${seed}, frame ${count}: ${found}: ${JSON.stringify(scratch.toString("latin1", start, end))}`,
          );
        }
        tally[envelope.problem ?? envelope.kind] += 1;
      }
    },
    120_000,
  );

  test("the members are those that JSON.parse finds", () => {
    const random = new RandomSource(runSeed);
    const maker = new FrameMaker(random);
    let compared = 0;
    for (let count = 0; count < 20_000; count += 1) {
      const frame = peeked(maker.frame());
      if (frame.kind === "invalid") continue;
      const whole: unknown = JSON.parse(frame.bytes.toString());
      for (const { name, path } of SPAN_PATHS) {
        const raw = spanText(frame, name);
        const member: unknown = raw === undefined ? undefined : JSON.parse(raw);
        if (!isDeepStrictEqual(member, memberAt(whole, path)))
          expect.fail(`WIRE_TEST_SEED=${runSeed}, frame ${count}: ${name}`);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(100_000);
  });

  test("they hold many of every kind and of every problem", () => {
    expect(tally.invalid, "invalid without a problem").toBe(0);
    for (const [name, count] of Object.entries(tally).slice(1))
      expect(count, name).toBeGreaterThan(GENERATED_FRAMES / 500);
    expect(tally.request + tally.notification + tally.response).toBeGreaterThan(GENERATED_FRAMES / 3);
  });
});

describe("shrinking properties", () => {
  test("peek agrees with a strict parser on messages around any JSON value", () => {
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0", 2),
        id: fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.jsonValue()),
        method: fc.oneof(fc.string({ unit: "grapheme" }), fc.jsonValue()),
        params: fc.oneof(
          fc.record(
            {
              sessionId: fc.jsonValue(),
              update: fc.jsonValue(),
              prompt: fc.array(fc.jsonValue()),
              options: fc.array(fc.jsonValue()),
            },
            { requiredKeys: [] },
          ),
          fc.jsonValue(),
        ),
        result: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 1, "\t", "\r\n "), (value, indent) =>
        agree(Buffer.from(JSON.stringify(value, null, indent))),
      ),
      { numRuns: 8_000 },
    );
  }, 120_000);

  test("peek agrees with a strict parser on any bytes, and on bytes inside a message's string", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        agree(Buffer.from(bytes));
        agree(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"'), bytes, Buffer.from('"}')]));
        agree(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"result":'), bytes, Buffer.from("}")]));
      }),
      { numRuns: 10_000 },
    );
  }, 120_000);
});

describe("every byte at every place", () => {
  const legal = Buffer.from('{"jsonrpc":"2.0","id":-1.5e+3,"result":{"a":[true,false,null,"é\\u00e9\\n"]}}');

  test("peek agrees with a strict parser when any one byte of a frame is any other byte", () => {
    const frame = Buffer.from(legal);
    for (let at = 0; at < frame.length; at += 1) {
      const kept = frame[at]!;
      for (let byte = 0; byte < 256; byte += 1) {
        frame[at] = byte;
        const found = difference(peeked(frame));
        if (found !== undefined) expect.fail(`byte ${byte} at ${at}: ${found}`);
      }
      frame[at] = kept;
    }
  });

  test("no beginning of a frame is valid", () => {
    for (let end = 0; end < legal.length; end += 1) expect(peeked(legal.subarray(0, end)).problem).toBe("not_json");
    expect(peeked(legal).kind).toBe("response");
  });

  test("strings end at the same place at every alignment, up to the last byte of the memory", () => {
    for (let offset = 0; offset < 8; offset += 1) {
      for (let length = 0; length < 24; length += 1) {
        for (const special of ["", '\\"', "\\\\", "é", "\\u00e9"]) {
          const text = `{"jsonrpc":"2.0","method":"${"m".repeat(length)}${special}"}`;
          const memory = new ArrayBuffer(offset + Buffer.byteLength(text));
          const frame = Buffer.from(memory, offset);
          frame.write(text);
          const envelope = new Envelope();
          peek(frame, 0, frame.length, envelope);
          expect(difference(envelope)).toBeUndefined();
          expect(spanText(envelope, "method")).toBe(`"${"m".repeat(length)}${special}"`);
          frame[frame.length - 3] = 0xff;
          peek(frame, 0, frame.length, envelope);
          expect(envelope.problem).toBe("not_json");
        }
      }
    }
  });
});

function frameWithParams(members: readonly string[]): string {
  return `{"jsonrpc":"2.0","id":1,"method":"m","params":{${members.join(",")}}}`;
}

describe("size and depth", () => {
  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("a million nested %s are walked, and one missing bracket is noticed", (_, open, close) => {
    const depth = 1_000_000;
    const inner = open.repeat(depth) + "1" + close.repeat(depth);
    const frame = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${inner}}}`;
    expect(peeked(frame).kind).toBe("request");
    expect(peeked(frame.slice(0, -1)).problem).toBe("not_json");
    expect(peeked(frame.replace("1" + close, "1")).problem).toBe("not_json");
    expect(peeked(frame.slice(0, 40)).problem).toBe("not_json");
  });

  test("arrays and objects close in the order in which they were opened, at any depth", () => {
    const random = new RandomSource(runSeed);
    const opened = Array.from({ length: 5000 }, () => random.oneIn(2));
    const text = `${opened.map((isObject) => (isObject ? '{"k":' : "[")).join("")}0${opened
      .map((isObject) => (isObject ? "}" : "]"))
      .toReversed()
      .join("")}`;
    expect(peeked(`{"jsonrpc":"2.0","id":1,"result":${text}}`).kind).toBe("response");
    for (const depth of [1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 4999]) {
      const at = text.length - depth;
      const swapped = text.slice(0, at) + (text[at] === "}" ? "]" : "}") + text.slice(at + 1);
      expect(peeked(`{"jsonrpc":"2.0","id":1,"result":${swapped}}`).problem).toBe("not_json");
    }
  });

  test("a hundred thousand keys at a table level are compared, and the one that comes twice is found", () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":0`);
    expect(peeked(frameWithParams(keys)).kind).toBe("request");
    expect(peeked(frameWithParams([...keys, '"k77777":1'])).problem).toBe("duplicate_key");
    expect(peeked(frameWithParams([...keys.slice(0, 30), '"k3":1'])).problem).toBe("duplicate_key");
    expect(peeked(frameWithParams([...keys.slice(0, 20), '"k3":1'])).problem).toBe("duplicate_key");
  });

  test("the lists of one huge frame are given back", () => {
    const envelope = new Envelope();
    const huge = Buffer.from(
      `{"jsonrpc":"2.0","method":"m","params":{"prompt":[${"1,".repeat(9999)}1],"options":[${"{},".repeat(9999)}{}]}}`,
    );
    peek(huge, 0, huge.length, envelope);
    expect([envelope.promptElementCount, envelope.optionCount]).toEqual([10_000, 10_000]);
    const small = Buffer.from('{"jsonrpc":"2.0","method":"m"}');
    peek(small, 0, small.length, envelope);
    expect(envelope.kind).toBe("notification");
    expect(envelope.promptElements.length).toBeLessThan(1000);
    expect(envelope.optionIds.length).toBeLessThan(1000);
    expect([envelope.promptElementCount, envelope.optionCount, envelope.params.start]).toEqual([0, 0, -1]);
  });
});

describe("envelopes", () => {
  test.each(["0", '""', '"0"', "1", '"1"', "1e3", "null", "2147483648", "9007199254740993"])(
    "the id %s keeps its bytes",
    (id) => {
      const request = peeked(`{"jsonrpc":"2.0","id": ${id} ,"method":"m"}`);
      expect([request.kind, spanText(request, "id")]).toEqual(["request", id]);
      const response = peeked(`{"jsonrpc":"2.0","id":${id},"result":null}`);
      expect([response.kind, spanText(response, "id"), spanText(response, "result")]).toEqual(["response", id, "null"]);
    },
  );

  test.each([
    ['{"jsonrpc":"1.0","id":3,"method":"session/list"}', "3"],
    ['{"jsonrpc":"2.0","id":4,"method":17}', "4"],
    ['{"id":7,"level":"info","msg":"x"}', "7"],
    ['{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1}}', "5"],
    ['{"jsonrpc":"2.0","id":5}', "5"],
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":null}', "5"],
    ['{"jsonrpc":"2.0","id":5,"method":"m","params":"x"}', "5"],
    ['{"jsonrpc":"2.0","id":5,"method":"m","result":1}', "5"],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', undefined],
    ['{"jsonrpc":"2.0","id":[1],"method":"m"}', undefined],
    ['{"jsonrpc":"2.0","result":1}', undefined],
    ["{}", undefined],
  ])("%s is no message, and its id is told if it is one", (text, id) => {
    const envelope = peeked(text);
    expect([envelope.problem, spanText(envelope, "id")]).toEqual(["bad_envelope", id]);
  });

  test.each(["42", '"ready"', "null", "true", '"{}"'])("%s is JSON but no message", (text) => {
    expect(peeked(text).problem).toBe("not_object");
  });

  test.each([
    "",
    " ",
    "Performing a migration...",
    "\u001b]0;title\u0007{}",
    "{",
    '{"jsonrpc":"2.0","id":1,"method":',
    "\ufeff{}",
  ])("the stray line %j is no JSON", (text) => {
    expect(peeked(text).problem).toBe("not_json");
  });

  test.each([
    ['{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}', "duplicate_key", undefined],
    ['{"jsonrpc":"2.0","id":1,"\\u0069d":2,"method":"m"}', "escaped_key", undefined],
    ['{"jsonrpc":"2.0","id":1,"meth\\u006fd":"m"}', "escaped_key", "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"m","other":1,"other":2}', "duplicate_key", "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"sessionId":"a","sessionId":"b"}}', "duplicate_key", "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"update":{"status":1,"status":2}}}', "duplicate_key", "1"],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"toolCall":{"kind":"read","kind":"execute"}}}',
      "duplicate_key",
      "1",
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"options":[{},{"kind":"allow_once","kind":"reject_once"}]}}',
      "duplicate_key",
      "1",
    ],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":{"options":[{"k\\u0069nd":"allow_once"}]}}', "escaped_key", "1"],
    ['{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a","sessionId":"a"}}', "duplicate_key", "1"],
    ['{"jsonrpc":"2.0","id":1,"result":{"outcome":{"optionId":"a","optionId":"b"}}}', "duplicate_key", "1"],
  ])("%s is refused, as two readers could read it in two ways", (text, problem, id) => {
    const envelope = peeked(text);
    expect([envelope.kind, envelope.problem, spanText(envelope, "id")]).toEqual(["invalid", problem, id]);
  });

  test.each([
    '{"jsonrpc":"2.0","method":"m","params":{"_meta":{"a":1,"a":2}}}',
    '{"jsonrpc":"2.0","method":"m","params":{"toolCall":{"rawInput":{"\\u0061":1,"a":2}}}}',
    '{"jsonrpc":"2.0","method":"m","params":{"prompt":[{"a":1,"a":2}]}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}}',
  ])("%s passes: below the table equal keys are content", (text) => {
    expect(peeked(text).problem).toBeUndefined();
  });

  test("a member of an unexpected type has its own span, and nothing below it", () => {
    const envelope = peeked(
      '{"jsonrpc":"2.0","method":"m","params":{"update":[{"status":1}],"options":{"kind":1},"prompt":{"a":1},"toolCall":"x"}}',
    );
    expect((["update", "options", "prompt", "toolCall"] as const).map((name) => spanText(envelope, name))).toEqual([
      '[{"status":1}]',
      '{"kind":1}',
      '{"a":1}',
      '"x"',
    ]);
    expect([
      envelope.updateStatus.start,
      envelope.toolCallId.start,
      envelope.optionCount,
      envelope.promptElementCount,
    ]).toEqual([-1, -1, 0, 0]);
  });
});

describe("a carriage return", () => {
  test("between tokens becomes a space, so that what is passed on has one line end", () => {
    const text = '\r{"jsonrpc":"2.0",\r\n"method":"m",\r"params":{"deep":[1,\r{"a"\r:"\\r"}]}}\r\r';
    const bytes = Buffer.from(`\r${text}\n\r`);
    const envelope = new Envelope();
    peek(bytes, 1, bytes.length - 2, envelope);
    expect(envelope.kind).toBe("notification");
    expect(bytes.toString()).toBe(`\r${text.replaceAll("\r", " ")}\n\r`);
  });

  test("in what is no JSON stays as it was", () => {
    const bytes = Buffer.from('{"a":"\r"}\r\n');
    peek(bytes, 0, bytes.length - 1, new Envelope());
    expect(bytes.toString()).toBe('{"a":"\r"}\r\n');
  });
});
