// Deadlines over time that passes, sleeps and jumps.
import { describe, expect, it } from "vitest";
import { Deadlines, processTimers } from "../src/deadlines.ts";
import { VirtualClock } from "./virtual-clock.ts";

interface Watched {
  readonly clock: VirtualClock;
  readonly deadlines: Deadlines;
  readonly expired: string[];
}

function watched(): Watched {
  const clock = new VirtualClock();
  const expired: string[] = [];
  const deadlines = new Deadlines(clock.now, clock.timers, (id, kind) => void expired.push(`${id} ${kind}`));
  return { clock, deadlines, expired };
}

describe("Deadlines", () => {
  it("each passes once and at its time", () => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "time_over", 30_000);
    deadlines.start("b", "no_client", 12_000);
    clock.pass(11_999);
    expect(expired).toEqual([]);
    clock.pass(1);
    expect(expired).toEqual(["b no_client"]);
    clock.pass(17_999);
    expect(expired).toHaveLength(1);
    clock.pass(1);
    expect(expired).toEqual(["b no_client", "a time_over"]);
    clock.pass(600_000);
    expect(expired).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it("what was stopped or cleared never passes, and the last one takes the timer along", () => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "time_over", 1_000);
    deadlines.start("a", "no_client", 1_000);
    deadlines.stop("a", "time_over");
    expect(clock.pendingTimers).toBe(1);
    deadlines.clear("a");
    expect(clock.pendingTimers).toBe(0);
    clock.pass(5_000);
    expect(expired).toEqual([]);
  });

  it("a deadline that is stopped by the one before it does not pass", () => {
    const clock = new VirtualClock();
    const expired: string[] = [];
    const deadlines: Deadlines = new Deadlines(clock.now, clock.timers, (id) => {
      expired.push(id);
      deadlines.clear("b");
    });
    deadlines.start("a", "time_over", 1_000);
    deadlines.start("b", "time_over", 1_000);
    clock.pass(1_000);
    expect(expired).toEqual(["a"]);
  });

  it("started anew it counts from then on", () => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "no_client", 10_000);
    clock.pass(9_000);
    deadlines.start("a", "no_client", 10_000);
    clock.pass(9_999);
    expect(expired).toEqual([]);
    expect(deadlines.dueAt("a")).toBe(clock.now() + 1);
  });

  it.each([
    ["a sleep over the deadline", (clock: VirtualClock) => clock.sleep(15_000)],
    ["a sleep of hours", (clock: VirtualClock) => clock.sleep(36_000_000)],
    ["a wall clock that is set forward", (clock: VirtualClock) => clock.setWall(3_600_000)],
    ["a wall clock that is set back", (clock: VirtualClock) => clock.setWall(-3_600_000)],
  ])("after %s nothing passes for a minute, and then it does", (_, jump) => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "no_client", 10_000);
    clock.pass(1_000);
    jump(clock);
    clock.pass(4_000);
    expect(expired).toEqual([]);
    clock.pass(55_000);
    expect(expired).toEqual([]);
    clock.pass(5_000);
    expect(expired).toEqual(["a no_client"]);
  });

  it("a jump that is noticed by a new deadline gives the others their minute too", () => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "no_client", 10_000);
    clock.setWall(-3_600_000);
    deadlines.start("b", "no_client", 1_000);
    clock.pass(1_000);
    expect(expired).toEqual(["b no_client"]);
    clock.pass(58_999);
    expect(expired).toHaveLength(1);
    clock.pass(5_000);
    expect(expired).toEqual(["b no_client", "a no_client"]);
  });

  it("a far deadline is not brought nearer by the grace", () => {
    const { clock, deadlines, expired } = watched();
    deadlines.start("a", "time_over", 600_000);
    clock.setWall(-3_600_000);
    clock.pass(540_000);
    expect(expired).toEqual([]);
    clock.pass(65_000);
    expect(expired).toEqual(["a time_over"]);
  });

  it("disposed it holds no timer", () => {
    const { clock, deadlines } = watched();
    deadlines.start("a", "time_over", 1_000);
    deadlines[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it("the process's own timers wake once, and not after they were cancelled", async () => {
    const woken: string[] = [];
    const cancel = processTimers.start(1, () => woken.push("cancelled"));
    cancel();
    await new Promise<void>((resolve) => {
      processTimers.start(5, () => {
        woken.push("woken");
        resolve();
      });
    });
    expect(woken).toEqual(["woken"]);
  });
});
