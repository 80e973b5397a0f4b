import { readdirSync, readFileSync, readlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { DescriptorCache, type FileOwner } from "../../src/journal/descriptor-cache.ts";
import { StateFolder } from "./state-folder.ts";

const state = new StateFolder();
const rested: string[] = [];
afterEach(() => void rested.splice(0));
const owner = (name: string): FileOwner => ({ path: join(state.path, name), resting: () => void rested.push(name) });

/** Files of this process in the test's folder, as the system sees them. */
const openFiles = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(state.path);
    } catch {
      return false; // the one that lists them
    }
  }).length;

const onLinux = process.platform === "linux";

describe("DescriptorCache", () => {
  it.runIf(onLinux)("keeps those open that were used last, and no more than it may", () => {
    using cache = new DescriptorCache({ most: 3, idleMs: 60_000 });
    const owners = ["a", "b", "c", "d"].map(owner);
    for (const each of owners.slice(0, 3)) cache.writing(each);
    cache.reading(owners[0]!);
    cache.writing(owners[3]!);
    expect(owners.map((each) => cache.peek(each) !== undefined)).toEqual([true, false, true, true]);
    expect(openFiles()).toBe(3);
    // Pressure is no rest: the owner writes no note of it.
    expect(rested).toEqual([]);
  });

  it.runIf(onLinux)("closes what was not used for a while, and tells its owner before", async () => {
    using cache = new DescriptorCache({ most: 3, idleMs: 10 });
    cache.writing(owner("idle"));
    while (cache.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(rested).toEqual(["idle"]);
    expect(openFiles()).toBe(0);
  });

  it("opens a file that was read for writing when it is to be written", () => {
    using cache = new DescriptorCache({ most: 3, idleMs: 60_000 });
    const each = owner("read");
    writeFileSync(each.path, "abc");
    cache.reading(each);
    writeSync(cache.writing(each).descriptor, "x", 0);
    expect(readFileSync(each.path, "utf8")).toBe("xbc");
    expect(() => cache.reading(owner("absent"))).toThrow("ENOENT");
  });

  it.runIf(onLinux)("leaves nothing open", () => {
    {
      using cache = new DescriptorCache({ most: 10, idleMs: 60_000 });
      for (const name of ["a", "b", "c"]) cache.writing(owner(name));
    }
    expect(openFiles()).toBe(0);
    state[Symbol.dispose]();
  });
});
