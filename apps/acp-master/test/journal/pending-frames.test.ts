import { array, assert, integer, nat, oneof, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { PendingFrames } from "../../src/journal/pending-frames.ts";
import { frame } from "./state-folder.ts";

describe("PendingFrames", () => {
  it("takes a copy of what is short", () => {
    const pending = new PendingFrames(10);
    const bytes = frame("one");
    pending.append(bytes);
    bytes.fill(0);
    expect(Buffer.concat(pending.read(10, pending.end, 1000))).toEqual(frame("one"));
  });

  it("takes no copy of a large frame, and keeps little more memory than its frames have bytes", () => {
    const large = frame("large", 64 * 1024);
    const pending = new PendingFrames(0);
    pending.append(large);
    expect(pending.pieces[0]!.buffer).toBe(large.buffer);
    // A part of a larger one too, which is written in a moment; not when it cannot be written.
    const part = Buffer.concat([large, large, large]).subarray(0, large.length);
    pending.append(part);
    expect(pending.pieces.at(-1)!.buffer).toBe(part.buffer);
    pending.stay();
    expect(pending.pieces[0]!.buffer).toBe(large.buffer);
    expect(pending.pieces.at(-1)!.equals(part)).toBe(true);
    expect(pending.pieces.at(-1)!.buffer).not.toBe(part.buffer);
    // As an agent's chunks bring them: the rest of a line, then a long run.
    for (let n = 0; n < 50; n++) {
      pending.append(frame(`small ${n}`, 300));
      pending.append(frame(`large ${n}`, 16 * 1024));
    }
    // A small part of a large buffer must not keep it alive.
    pending.append(Buffer.concat([large, large, large]).subarray(0, large.length));
    const buffers = new Set(pending.pieces.map(({ buffer }) => buffer));
    const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(held).toBeLessThan(1.5 * pending.length);
    // Once all is written it is as before.
    pending.forget(pending.end);
    pending.append(part);
    expect(pending.pieces[0]!.buffer).toBe(part.buffer);
  });

  it("gives whole frames only, at least one and then as many as fit", () => {
    assert(
      property(
        array(oneof(integer({ min: 0, max: 9000 }), integer({ min: 0, max: 40_000 })), { minLength: 1, maxLength: 40 }),
        nat(),
        integer({ min: 1, max: 20_000 }),
        nat(),
        (lengths, at, maxBytes, forgotten) => {
          const pending = new PendingFrames(7);
          const frames = lengths.map((length, n) => frame(n, length));
          const starts = frames.map((_, n) => 7 + frames.slice(0, n).reduce((sum, each) => sum + each.length, 0));
          for (const each of frames) pending.append(each);
          const whole = Buffer.concat(frames);
          expect(Buffer.concat(pending.pieces).equals(whole)).toBe(true);
          pending.forget(starts[forgotten % starts.length]!);
          expect(pending.start).toBe(starts[forgotten % starts.length]!);
          const from = Math.max(pending.start, starts[at % starts.length]!);
          const read = Buffer.concat(pending.read(from, pending.end, maxBytes));
          expect(read.equals(whole.subarray(from - 7, from - 7 + read.length))).toBe(true);
          expect(read.at(-1)).toBe(0x0a);
          const first = frames[starts.indexOf(from)]!.length;
          expect(read.length).toBeGreaterThanOrEqual(first);
          expect(read.length).toBeLessThanOrEqual(Math.max(first, maxBytes));
          for (const start of starts.filter((each) => each >= pending.start)) {
            expect(pending.boundaryFrom(start)).toBe(start);
            expect(pending.boundaryFrom(start + 1)).toBe(starts[starts.indexOf(start) + 1] ?? pending.end);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("needs few pieces for many frames and little memory for one", () => {
    const pending = new PendingFrames(0);
    pending.append(frame(0));
    expect(pending.pieces[0]!.buffer.byteLength).toBeLessThanOrEqual(8 * 1024);
    for (let n = 0; n < 50_000; n++) pending.append(frame(n, 200));
    expect(pending.pieces.length).toBeLessThan(60);
  });
});
