// Trials of an agent that has not shown that it works.
import { describe, expect, it } from "vitest";
import { StartTrials } from "../../src/router/start-trials.ts";

interface Result {
  readonly ok: boolean;
}

/** Starts that end when the test says so. */
function stage() {
  const running: ((ok: boolean) => void)[] = [];
  const start = () => new Promise<Result>((resolve) => running.push((ok) => resolve({ ok })));
  return { running, start, trials: new StartTrials<Result>() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("StartTrials", () => {
  it("gives one failed trial as the answer for all that waited for it", async () => {
    const { running, start, trials } = stage();
    const results = Promise.all(Array.from({ length: 30 }, () => trials.start("a", start)));
    await turn();
    expect(running).toHaveLength(1);
    running[0]!(false);
    expect(new Set((await results).map(({ ok }) => ok))).toEqual(new Set([false]));
    expect(running).toHaveLength(1);
  });

  it("runs one after the other until the agent has proved itself, then all at once", async () => {
    const { running, start, trials } = stage();
    const results = Promise.all(Array.from({ length: 4 }, () => trials.start("a", start)));
    await turn();
    running[0]!(true);
    await turn();
    expect(running).toHaveLength(2);
    trials.proved("a");
    running[1]!(true);
    await turn();
    expect(running).toHaveLength(4);
    for (const end of running) end(true);
    expect((await results).every(({ ok }) => ok)).toBe(true);
  });

  it("keeps agents apart, and takes a failed one back to one at a time", async () => {
    const { running, start, trials } = stage();
    trials.proved("a");
    const results = [trials.start("a", start), trials.start("a", start), trials.start("b", start)];
    await turn();
    expect(running).toHaveLength(3);
    for (const end of running) end(true);
    await Promise.all(results);
    trials.failed("a");
    void trials.start("a", start);
    void trials.start("a", start);
    await turn();
    expect(running).toHaveLength(4);
  });
});
