import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FrameScan, scanFrames } from "../../src/journal/frame-scan.ts";
import { frame, StateFolder } from "./state-folder.ts";

const state = new StateFolder();
const path = join(state.path, "journal");
afterAll(() => state[Symbol.dispose]());

function scan(bytes: Buffer): FrameScan {
  writeFileSync(path, bytes);
  const descriptor = openSync(path, "r");
  try {
    const steps = scanFrames(descriptor, bytes.length);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  } finally {
    closeSync(descriptor);
  }
}

const good = Buffer.concat([frame(1), frame(2, 300_000), frame(3, 900_000), frame(4)]);

describe("scanFrames", () => {
  it("finds all of a file that holds frames alone", () => {
    expect(scan(Buffer.alloc(0))).toEqual({ goodBytes: 0, rest: "nothing" });
    expect(scan(good)).toEqual({ goodBytes: good.length, rest: "nothing" });
    const many = Buffer.concat(Array.from({ length: 5000 }, (_, n) => frame(n)));
    expect(scan(many)).toEqual({ goodBytes: many.length, rest: "nothing" });
    const spelled = Buffer.from('{"params":{},"method":"session\\/update","jsonrpc":"2.0"}\n');
    expect(scan(spelled)).toEqual({ goodBytes: spelled.length, rest: "nothing" });
  });

  it("tells a torn last frame wherever it was torn", () => {
    const next = frame("ü中", 400);
    for (let length = 1; length < next.length; length += 7) {
      const torn = Buffer.concat([frame(1), next.subarray(0, length)]);
      expect(scan(torn)).toEqual({ goodBytes: frame(1).length, rest: "torn" });
    }
    expect(scan(Buffer.concat([good, frame(5, 2_000_000).subarray(0, -1)]))).toEqual({
      goodBytes: good.length,
      rest: "torn",
    });
  });

  it.each([
    ["text", Buffer.from("hello\n")],
    ["an empty line", Buffer.from("\n")],
    ["JSON that is no update", Buffer.from('{"hello":1}\n')],
    ["a request", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session/update","params":{}}\n')],
    ["an answer", Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}\n')],
    ["another notification", Buffer.from('{"jsonrpc":"2.0","method":"session/updates","params":{}}\n')],
    ["two frames run together", Buffer.concat([frame(1).subarray(0, 60), frame(2)])],
    ["binary bytes in a frame", Buffer.concat([frame(1).subarray(0, 120), Buffer.from([0, 1, 2]), frame(2)])],
    ["zeros", Buffer.alloc(5000)],
    ["binary bytes without a line's end", Buffer.from([0xff, 0xd8, 0xff, 0, 1])],
    ["text without a line's end", Buffer.from("hello")],
  ])("ends the readable part at %s", (_, foreign) => {
    expect(scan(Buffer.concat([good, foreign]))).toEqual({ goodBytes: good.length, rest: "foreign" });
    if (foreign.at(-1) === 0x0a) {
      expect(scan(Buffer.concat([good, foreign, good]))).toEqual({ goodBytes: good.length, rest: "foreign" });
    }
    expect(scan(foreign).goodBytes).toBe(0);
  });
});
