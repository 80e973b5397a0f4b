import { expect, test } from "vitest";
import { notSoon, soon } from "../src/soon.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

test("does each thing once, in the order in which it was asked for, and not what was taken back", async () => {
  const done: string[] = [];
  const first = (): void => void done.push("first");
  const second = (): void => void done.push("second");
  const never = (): void => void done.push("never");
  soon(first);
  soon(never);
  soon(second);
  soon(first);
  notSoon(never);
  expect(done).toEqual([]);
  await new Promise<void>((resolve) => soon(resolve));
  expect(done).toEqual(["first", "second"]);
});

test("does what is asked for meanwhile later, and not what is taken back meanwhile", async () => {
  const done: string[] = [];
  const taken = (): void => void done.push("taken");
  const again = (): void => {
    done.push("again");
    if (done.length < 3) soon(again);
    notSoon(taken);
  };
  soon(again);
  soon(taken);
  for (let n = 0; n < 3; n++) await new Promise<void>((resolve) => soon(resolve));
  expect(done).toEqual(["again", "again", "again"]);
});

test("keeps no process alive", () => {
  const before = timers();
  soon(() => {});
  expect(timers()).toBe(before);
});
