import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { JournalWriter } from "../../src/journal/journal-writer.ts";
import { bundled } from "../bundled.ts";
import { batchWritten, frame, StateFolder } from "./state-folder.ts";

const programs = new StateFolder();
afterAll(() => programs[Symbol.dispose]());

const textOf = (line: string): number => Number(/"text":"(\d+) /.exec(line)?.[1] ?? Number.NaN);

function kept(state: StateFolder, agentId = "s1"): string {
  const path = join(state.session(agentId).path, "journal.ndjson");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

describe("JournalWriter", () => {
  it("loses no more than the batch on its way when it is killed, and stays readable", async () => {
    using state = new StateFolder();
    const program = bundled(import.meta.url, "writer", programs.path);
    let next = 0;
    let known: { readonly run: string; readonly end: number } | undefined;
    for (let round = 0; round < 6; round++) {
      const child = spawn(process.execPath, [program, state.path, String(next)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk: string) => (said += chunk));
      await once(child.stdout, "data");
      // At any moment: a few of them in the middle of a write, a trim or a move.
      await new Promise((resolve) => setTimeout(resolve, (round * 97) % 400));
      child.kill("SIGKILL");
      await once(child, "close");

      const [safe, run, end] = said.slice(0, said.lastIndexOf("\n")).split("\n").at(-1)!.split(" ");
      const reports: string[] = [];
      await using writer = new JournalWriter({ report: (what) => reports.push(what) });
      const journal = writer.open(state.session());
      await journal.prepare();
      const numbers = Buffer.concat(journal.read(journal.start, journal.end, Number.MAX_SAFE_INTEGER))
        .toString()
        .split("\n")
        .slice(0, -1)
        .map(textOf);
      expect(numbers.length).toBeGreaterThan(0);
      expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
      expect(numbers.at(-1)).toBeGreaterThanOrEqual(Number(safe));
      expect(journal.end).toBeGreaterThanOrEqual(Number(end));
      expect(journal.resumable(run!, Number(end))).toBe(true);
      if (known && known.end >= journal.start) expect(journal.resumable(known.run, known.end)).toBe(true);
      expect(reports.filter((what) => !what.includes("cut off"))).toEqual([]);
      known = { run: run!, end: Number(end) };
      next = numbers.at(-1)! + 1;
    }
  }, 60_000);

  it("has written a turn before anything else happens, and behind what its clients get", async () => {
    using state = new StateFolder();
    await using writer = new JournalWriter({ report: () => {} });
    const [journal, other] = [writer.open(state.session()), writer.open(state.session("s2"))];
    for (let turn = 0; turn < 3; turn++) {
      const before = kept(state);
      journal.append(frame(`prompt ${turn}`));
      other.append(frame("of another session"));
      journal.append(frame(`answer ${turn}`));
      let atClients: string | undefined;
      // As a client's writer, which has its first frame by now.
      process.nextTick(() => (atClients = kept(state)));
      journal.turnBoundary();
      await Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
      expect(atClients).toBe(before);
      expect(kept(state)).toBe(`${before}${frame(`prompt ${turn}`).toString()}${frame(`answer ${turn}`).toString()}`);
    }
    await batchWritten();
    expect(kept(state, "s2")).toBe(frame("of another session").toString().repeat(3));
  });

  it("writes much at once, with what came before it, behind what its clients get, and leaves less for later", async () => {
    using state = new StateFolder();
    await using writer = new JournalWriter({ report: () => {} });
    const journal = writer.open(state.session());
    const [small, large] = [frame("small"), frame("large", 128 * 1024)];
    journal.append(small);
    await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
    expect(kept(state)).toBe("");
    journal.append(large);
    let atClients: string | undefined;
    // As a client's writer, which gets its frame behind the journal.
    process.nextTick(() => (atClients = kept(state)));
    await new Promise((resolve) => process.nextTick(() => process.nextTick(() => process.nextTick(resolve))));
    expect(atClients).toBe("");
    expect(kept(state)).toBe(`${small.toString()}${large.toString()}`);
    journal.append(small);
    await batchWritten();
    expect(kept(state)).toBe(`${small.toString()}${large.toString()}${small.toString()}`);
  });

  it("lets what nobody has seen wait for what comes next, or a millisecond", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      using state = new StateFolder();
      await using writer = new JournalWriter({ report: () => {} });
      const journal = writer.open(state.session());
      const texts = ["prompt", "first word", "next prompt"].map((mark) => frame(mark).toString());
      journal.append(frame("prompt"), true);
      await batchWritten();
      expect(kept(state)).toBe("");
      journal.append(frame("first word"));
      await batchWritten();
      expect(kept(state)).toBe(texts.slice(0, 2).join(""));
      vi.advanceTimersByTime(1);
      journal.append(frame("next prompt"), true);
      await batchWritten();
      expect(kept(state)).toBe(texts.slice(0, 2).join(""));
      vi.advanceTimersByTime(1);
      expect(kept(state)).toBe(texts.join(""));
    } finally {
      vi.useRealTimers();
    }
  });

  it("appends and replays fast", () => {
    using state = new StateFolder();
    const program = bundled(import.meta.url, "speed", programs.path);
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, state.path], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    console.log(`journal speed: ${stdout.trim()}`);
    const speed: unknown = JSON.parse(stdout);
    // The time on the clock is printed only: other programs on this machine change it.
    expect(speed).toMatchObject({ appendsPerCpuSecond: expect.toSatisfy((each: number) => each > 250_000) });
    expect(speed).toMatchObject({ replayGrewMegabytes: expect.toSatisfy((each: number) => each < 64) });
  });

  it("costs little for a journal that rests, and nothing for a client that lags on disk, FF-120", () => {
    using state = new StateFolder();
    const program = bundled(import.meta.url, "memory", programs.path);
    const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", program, state.path], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    console.log(`journal memory: ${stdout.trim()}`);
    const memory: unknown = JSON.parse(stdout);
    expect(memory).toMatchObject({ equal: true });
    expect(memory).toMatchObject({ unusedBytes: expect.toSatisfy((each: number) => each < 4000) });
    expect(memory).toMatchObject({ parkedBytes: expect.toSatisfy((each: number) => each < 8000) });
    // Room that the collector of garbage leaves itself; it does not grow with the lag.
    expect(memory).toMatchObject({ rssGrewMegabytes: expect.toSatisfy((each: number) => each < 64) });
  });

  it("lets others run while a long journal is checked", async () => {
    using state = new StateFolder();
    {
      await using writer = new JournalWriter({ report: () => {} });
      const journal = writer.open(state.session());
      for (let n = 0; n < 50_000; n++) journal.append(frame(n, 300));
    }
    // Whoever touched it, it is checked again.
    appendFileSync(join(state.session().path, "journal.ndjson"), frame("last"));
    await using writer = new JournalWriter({ report: () => {} });
    const journal = writer.open(state.session());
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    await journal.prepare();
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
    expect(journal.end).toBe(readFileSync(join(state.session().path, "journal.ndjson")).length);
  });
});
