// Waiting with a deadline.
import { describe, expect, it } from "vitest";
import { eventually, Seen, within } from "./events.ts";

describe("within and eventually", () => {
  it("reject at the deadline and say what was awaited and what was seen", async () => {
    const never = new Promise<void>(() => {});
    await expect(within(never, "rain", 20, () => "sun")).rejects.toThrow(/rain: not within 20 ms.*sun/s);
    await expect(eventually(() => false, "snow", 20)).rejects.toThrow("snow: not within 20 ms");
  });

  it("give what came", async () => {
    let asked = 0;
    expect(await eventually(() => (asked += 1) === 3 && "third", "the third")).toBe("third");
    expect(await within(Promise.resolve(1), "one")).toBe(1);
  });
});

describe("Seen", () => {
  it("takes each item once and finds old ones again", async () => {
    const seen = new Seen<number>("numbers", String);
    const early = seen.take((n) => n > 1);
    for (const n of [1, 2, 3]) seen.add(n);
    expect([await early, await seen.take((n) => n > 1), await seen.take()]).toEqual([2, 3, 1]);
    expect(await seen.waitFor((n) => n === 2)).toBe(2);
    await expect(seen.take(() => true, "a fourth", 20)).rejects.toThrow(/numbers: a fourth.*1.*2.*3/s);
  });

  it("fails every wait when it ends", async () => {
    const seen = new Seen<number>("numbers", String);
    const wait = seen.take();
    seen.end("closed");
    await expect(wait).rejects.toThrow("closed");
    await expect(seen.take()).rejects.toThrow("closed");
  });
});
