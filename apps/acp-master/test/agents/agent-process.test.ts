// An agent process seen from the master: frames, writes, stderr, every way to end. Real processes throughout.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentDefinition, useStage } from "./agent-harness.ts";
import { isAlive, until } from "./process-table.ts";

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url).pathname;
const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`);
const pidsIn = (text: string): number[] => {
  const pids: Record<string, number> = JSON.parse(text);
  return Object.values(pids);
};

describe.each(["connection", "pipe"] as const)("an agent whose output comes through a %s", (output) => {
  const stage = useStage(output);

  describe("frames", () => {
    it("what is written reaches the agent and what it answers comes back, in order", async () => {
      const { agent, peer } = stage().sh("cat");
      expect(agent.write(line({ n: 1 }))).toBe(true);
      expect(agent.write(Buffer.concat([line({ n: 2 }), line({ n: 3 })]))).toBe(true);
      expect(await peer.saw(3)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
      expect((await agent.stop()).exitCode).toBe(0);
    });

    it("an unterminated last line is delivered before the exit, and the exit once", async () => {
      const { agent, peer } = stage().sh(`printf '{"n":1}\\n{"n":2}'; exit 7`);
      const exit = await agent.exited;
      expect(peer.seen).toEqual(['{"n":1}', '{"n":2}', "exited"]);
      expect(exit).toMatchObject({ exitCode: 7, signal: null, cause: "exited" });
      expect(exit.message).toContain("exit code 7");
      await agent.stop();
      expect(peer.exits).toHaveLength(1);
    });

    it("all that was in the pipe comes before the exit, also when it was paused", async () => {
      const { agent, peer } = stage().sh(`seq -f '{"n":%g}' 2000; exit 0`);
      agent.pause();
      await agent.exited;
      expect(peer.seen).toHaveLength(2001);
      expect(peer.seen[1999]).toBe('{"n":2000}');
      expect(peer.seen[2000]).toBe("exited");
    });

    it("a paused agent is read no further, and read again after resume", async () => {
      const { agent, peer } = stage().sh("cat");
      agent.pause();
      const frame = line({ text: "x".repeat(1000) });
      for (let i = 0; i < 500; i++) agent.write(frame);
      await until(() => agent.queuedBytes > 0, 2000, "the agent blocks on its output");
      expect(peer.seen).toEqual([]);
      agent.resume();
      await peer.saw(500);
    });

    it("a line over the limit ends the agent, and nothing after it is delivered", async () => {
      const script = `echo '{"n":1}'; head -c 300000 /dev/zero | tr '\\0' x; echo; echo '{"n":2}'; cat`;
      const { agent, peer } = stage().sh(script, { maxFrameBytes: 100_000 });
      const exit = await agent.exited;
      expect(peer.seen).toEqual(['{"n":1}', "exited"]);
      expect(exit.cause).toBe("frame_too_long");
      expect(exit.message).toContain("100000 bytes");
      await agent.stop();
      expect(peer.exits).toHaveLength(1);
      expect(isAlive(agent.pid!)).toBe(false);
    });
  });

  describe("writes", () => {
    it("are refused over the bound, keep memory bounded, and are accepted again after a drain", async () => {
      const maxQueuedBytes = 256 * 1024;
      const { agent, peer } = stage().sh("read go; exec cat >/dev/null", { maxQueuedBytes });
      const frame = line({ text: "x".repeat(10_000) });
      let accepted = 0;
      while (agent.write(frame)) accepted++;
      expect(accepted * frame.length).toBeLessThanOrEqual(maxQueuedBytes);
      await peer.reached(() => peer.drains > 0);
      expect(agent.write(frame)).toBe(true);
    });

    it("to an agent that never reads are refused over the bound, and stopping it still works", async () => {
      const { agent } = stage().sh("exec sleep 1000", { maxQueuedBytes: 100_000 });
      const frame = line({ text: "x".repeat(50_000) });
      // What the kernel takes is beyond the bound; then the queue fills.
      let refused = false;
      for (let turn = 0; turn < 100 && !refused; turn++) {
        refused = !agent.write(frame);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(refused).toBe(true);
      expect(agent.queuedBytes).toBeLessThanOrEqual(100_000);
      expect(agent.inputOpen).toBe(true);
      expect(await agent.stop()).toMatchObject({ cause: "stopped", signal: "SIGTERM" });
    });

    it("that answer the agent have as much room again, and no more", async () => {
      const maxQueuedBytes = 256 * 1024;
      const { agent, peer } = stage().sh("read go; exec cat >/dev/null", { maxQueuedBytes });
      const frame = line({ text: "x".repeat(10_000) });
      while (agent.write(frame));
      expect(agent.sendAnswer(frame)).toBe(true);
      while (agent.sendAnswer(frame));
      expect(agent.queuedBytes).toBeGreaterThan(maxQueuedBytes);
      expect(agent.queuedBytes).toBeLessThanOrEqual(2 * maxQueuedBytes);
      await peer.reached(() => peer.drains > 0);
      expect(agent.write(frame)).toBe(true);
    });

    it("one frame larger than the bound passes through an empty queue", async () => {
      const { agent, peer } = stage().sh("cat", { maxQueuedBytes: 1000 });
      const big = { text: "x".repeat(100_000) };
      expect(agent.write(line(big))).toBe(true);
      expect(await peer.saw(1)).toEqual([JSON.stringify(big)]);
    });

    it("to an agent that closed its input fail that agent only, and it is ended", async () => {
      const other = stage().sh("cat");
      const { agent, peer } = stage().sh(`exec <&-; echo '{"closed":true}'; exec sleep 1000`);
      await peer.saw(1);
      const frame = line({ text: "x".repeat(1000) });
      while (agent.inputOpen) {
        agent.write(frame);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(agent.write(frame)).toBe(false);
      expect((await agent.exited).cause).toBe("input_closed");
      other.agent.write(line({ alive: true }));
      expect(await other.peer.saw(1)).toEqual(['{"alive":true}']);
    });

    it("to an agent that was killed raise nothing and its exit names the signal", async () => {
      const { agent, peer } = stage().sh("exec cat");
      process.kill(agent.pid!, "SIGKILL");
      const frame = line({ text: "x".repeat(100_000) });
      const stillRunning = () => peer.exits.length === 0;
      while (stillRunning()) {
        agent.write(frame);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await agent.exited).toMatchObject({ cause: "exited", signal: "SIGKILL", exitCode: null });
      expect(agent.write(frame)).toBe(false);
    });
  });

  describe("stderr and stray output", () => {
    it("a flood on stderr is drained while stdout is paused; the tail and the memory stay bounded", async () => {
      const script = `head -c 200000000 /dev/zero | tr '\\0' e >&2; echo >&2; echo last words >&2; exit 3`;
      const { agent } = stage().sh(script);
      agent.pause();
      const before = process.memoryUsage().arrayBuffers;
      const exit = await agent.exited;
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
      expect(exit.exitCode).toBe(3);
      expect(exit.stderrTail.endsWith("last words")).toBe(true);
      expect(Buffer.byteLength(exit.stderrTail)).toBeLessThanOrEqual(16 * 1024);
      expect(exit.message).not.toContain("last words");
    });

    it("noise is counted, kept for the tail, and warned about with counts and lengths only", async () => {
      const { agent } = stage().sh("cat");
      agent.noise(Buffer.from("secret banner"));
      for (let i = 0; i < 1000; i++) agent.noise(Buffer.from("more of it"));
      expect(agent.noiseCount).toBe(1001);
      expect(agent.stderrTail()).toContain("stdout: more of it");
      const warnings = stage().logged.filter(({ level }) => level === "warn");
      expect(warnings).toHaveLength(1);
      expect(warnings[0]!.fields).toMatchObject({ agent: "tested", lines: 1, bytes: 13 });
      await agent.stop();
      expect(JSON.stringify(stage().logged)).not.toMatch(/banner|more of it/);
    });
  });

  describe("a failed start", () => {
    it("of a missing command names the command, the PATH and what to do, and is reported after start returned", async () => {
      const environment = { PATH: "/usr/bin:/bin" };
      const { agent, peer } = stage().start(agentDefinition("no-such-agent"), { environment });
      expect(agent.pid).toBeUndefined();
      expect(peer.exits).toEqual([]);
      const exit = await agent.exited;
      expect(exit).toMatchObject({ cause: "failed_to_start", exitCode: null, signal: null });
      expect(exit.message).toContain('"no-such-agent"');
      expect(exit.message).toContain('PATH was "/usr/bin:/bin"');
      expect(exit.message).toContain("agents.tested.command");
      expect(agent.write(line({}))).toBe(false);
      expect(await agent.stop()).toBe(exit);
      expect(peer.seen).toEqual(["exited"]);
    });

    it("tells a file that may not be run, a missing interpreter and a missing folder apart", async () => {
      const folder = mkdtempSync(join(tmpdir(), "agents-"));
      try {
        const plain = join(folder, "plain");
        writeFileSync(plain, "#!/bin/sh\n");
        const script = join(folder, "script");
        writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
        const message = async (command: string, cwd = folder) =>
          (await stage().start(agentDefinition(command), { cwd }).agent.exited).message;
        expect(await message(plain)).toMatch(/may not be run \(EACCES\)/);
        expect(await message(script)).toMatch(/interpreter that its first line names was not found/);
        expect(await message("/bin/sh", join(folder, "gone"))).toContain(`${folder}/gone`);
        expect(await message("/bin/\0sh")).toContain("could not be started");
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });

  describe("the end", () => {
    it("an agent that ends at EOF is stopped at once; stopping twice is one stop", async () => {
      const { agent, peer } = stage().sh("cat");
      const startedAt = performance.now();
      const [first, second] = await Promise.all([agent.stop(), agent.stop()]);
      expect(performance.now() - startedAt).toBeLessThan(2000);
      expect(first).toBe(second);
      expect(first).toMatchObject({ cause: "stopped", exitCode: 0, signal: null });
      expect(peer.exits).toEqual([first]);
    });

    it("an agent that ignores EOF and TERM is killed after three and two seconds", async () => {
      const { agent, peer } = stage().sh(`trap '' TERM; echo '{}'; while :; do sleep 1000; done`);
      await peer.saw(1);
      const startedAt = performance.now();
      const exit = await agent.stop();
      const took = performance.now() - startedAt;
      expect(exit).toMatchObject({ cause: "stopped", signal: "SIGKILL" });
      expect(took).toBeGreaterThan(4900);
      expect(took).toBeLessThan(7000);
      expect(isAlive(agent.pid!)).toBe(false);
    });

    it("frames that come during a stop are delivered before the exit", async () => {
      const { agent, peer } = stage().sh(`cat >/dev/null; echo '{"last":true}'`);
      await agent.stop();
      expect(peer.seen).toEqual(['{"last":true}', "exited"]);
    });

    const wrapper = `sh -c 'sleep 1000 & echo {\\"c\\":$$,\\"d\\":$!}; wait' & wait`;

    it("stopping a wrapper ends both levels below it", async () => {
      const { agent, peer } = stage().sh(wrapper);
      const pids = [agent.pid!, ...pidsIn((await peer.saw(1))[0]!)];
      expect(pids.map(isAlive)).toEqual([true, true, true]);
      await agent.stop();
      expect(pids.map(isAlive)).toEqual([false, false, false]);
    });

    it("when the leader alone is killed the rest of its group is killed too", async () => {
      const { agent, peer } = stage().sh(wrapper);
      const pids = pidsIn((await peer.saw(1))[0]!);
      process.kill(agent.pid!, "SIGKILL");
      expect(await agent.exited).toMatchObject({ cause: "exited", signal: "SIGKILL" });
      await agent.stop();
      expect(pids.map(isAlive)).toEqual([false, false]);
    });

    it("an agent that closes its output but lives on is reported within a second, then ended by the ladder", async () => {
      const { agent, peer } = stage().sh(`echo '{"n":1}'; exec >&- 2>&-; exec sleep 1000`);
      await peer.saw(1);
      const startedAt = performance.now();
      const exit = await agent.exited;
      expect(performance.now() - startedAt).toBeLessThan(1000);
      expect(exit.cause).toBe("output_ended");
      expect(agent.write(line({}))).toBe(false);
      await agent.stop();
      expect(isAlive(agent.pid!)).toBe(false);
      expect(peer.seen).toEqual(['{"n":1}', "exited"]);
    });

    it("a process that left the group and holds the pipes does not delay the exit", async () => {
      const stray = `setsid sh -c 'echo {\\"c\\":$$}; exec sleep 1000'`;
      const { agent, peer } = stage().sh(`${stray} & read go; exit 4`);
      const [pid] = pidsIn((await peer.saw(1))[0]!);
      agent.write(line({}));
      const startedAt = performance.now();
      expect(await agent.exited).toMatchObject({ cause: "exited", exitCode: 4 });
      expect(performance.now() - startedAt).toBeLessThan(1000);
      expect(isAlive(pid!)).toBe(true);
    });

    it("code 127 hints at a missing program", async () => {
      const { agent } = stage().sh("no-such-program-here");
      const exit = await agent.exited;
      expect(exit.exitCode).toBe(127);
      expect(exit.message).toContain("PATH was");
      expect(exit.stderrTail).toContain("no-such-program-here");
    });
  });

  describe("what an agent is given", () => {
    it("is its arguments as they are, the neutral folder, and no descriptor but its three streams", async () => {
      const args = ["a b", `"'`, "$HOME", "&", ""];
      const cwd = tmpdir();
      const { peer } = stage().start(agentDefinition(process.execPath, [fixture("report.mjs"), ...args]), { cwd });
      const report: { argv: string[]; cwd: string; descriptors: string[] } = JSON.parse((await peer.saw(1))[0]!);
      expect(report.argv).toEqual(args);
      expect(report.cwd).toBe(cwd);
      expect(report.descriptors.filter((target) => target.startsWith("socket:"))).toHaveLength(3);
    });

    it("instances have different random names", () => {
      const names = [stage().sh("cat"), stage().sh("cat")].map(({ agent }) => agent.instance);
      expect(names[0]).toMatch(/^[0-9a-f]{16}$/);
      expect(names[0]).not.toBe(names[1]);
    });
  });
});
