import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundledProgram, FixtureHome } from "./fixture-home.ts";

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-program-"));
  program = bundledProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s stops in order", async (signal) => {
  await using home = new FixtureHome(program);
  const daemon = await home.serve();
  daemon.child.kill(signal);
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
});

it("a later signal ends a stop that takes too long, one that comes at once is the same wish", async () => {
  await using home = new FixtureHome(program);
  const daemon = await home.serve({ env: { FIXTURE: "slow-drain" } });
  daemon.child.kill("SIGINT");
  daemon.child.kill("SIGINT");
  await daemon.says("draining");
  expect(daemon.child.exitCode).toBeNull();
  while (daemon.child.exitCode === null) {
    await Promise.race([daemon.ended, new Promise((resolve) => setTimeout(resolve, 100))]);
    daemon.child.kill("SIGTERM");
  }
  expect(await daemon.ended).toEqual({ code: 130, signal: null });
});

it("a closed standard output and error end nothing and cost nothing", async () => {
  await using home = new FixtureHome(program);
  const daemon = home.run("sh", ["-c", '"$0" "$1" serve 2>&1 | head -c 1', process.execPath, program], {
    env: { ...process.env, ACP_MASTER_HOME: home.home },
    stdio: ["pipe", "pipe", "pipe"],
  });
  await daemon.says("{");
  const pid = home.births()[0]!;
  const ticks = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13).map(Number);
  const ask = async (): Promise<void> => {
    const socket = connect(home.places.socketPath);
    socket.write('{"jsonrpc":"2.0","id":1,"method":"complain"}\n');
    await once(socket, "data");
    socket.destroy();
  };
  await ask();
  const before = ticks();
  for (let n = 0; n < 10; n++) await ask();
  const spent = ticks().reduce((sum, value, index) => sum + value - before[index]!, 0);
  expect(spent).toBeLessThan(50);
});
