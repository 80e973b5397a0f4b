// Keys of somebody who was typing when the card came up.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readKey } from "../../src/card/keys.ts";
import { keyAt, type Quiet } from "../../src/card/quiet.ts";

test("no key counts in the first half second", () => {
  expect(keyAt({ since: 1000 }, 1499.9).counts).toBe(false);
  expect(keyAt({ since: 1000 }, 1500).counts).toBe(true);
});

test("a key counts only when nothing was pressed for half a second before it", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1200 }), { minLength: 1 }), (pauses) => {
      let quiet: Quiet = { since: 0 };
      let now = 0;
      for (const pause of pauses) {
        now += pause;
        const at = keyAt(quiet, now);
        expect(at.counts).toBe(pause >= 500);
        if (at.counts) return; // from here on every key is meant
        ({ quiet } = at);
      }
    }),
  );
});

test("several characters at once are no key", () => {
  expect(readKey("r")).toEqual({ letter: "r" });
  expect(readKey("rm")).toBeUndefined();
  expect(readKey("\u001b[200~r\u001b[201~")).toBeUndefined();
  expect(readKey("é")).toBeUndefined();
  expect(readKey("\u001b[B")).toBe("down");
});
