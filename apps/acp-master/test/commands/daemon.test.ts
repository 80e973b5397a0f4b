// stop, restart, doctor and logs with a real daemon.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Installation } from "./command-line.ts";
import { FixtureDaemon, type Loose, Refusal } from "./fixture-daemon.ts";

async function serving(place: Installation) {
  const daemon = await place.start(["serve", "--json"]);
  await daemon.printed("stdout", /"ready":true/);
  return daemon;
}

describe("stop", () => {
  test("returns when the daemon's process is gone", async () => {
    await using place = new Installation();
    const daemon = await serving(place);
    const stopped = await place.run(["stop"]);
    expect(stopped).toMatchObject({ code: 0, stdout: `The daemon (pid ${daemon.child.pid}) has ended.\n` });
    expect(daemon.child.exitCode).toBe(0);
    expect(existsSync(place.socket)).toBe(false);
    expect((await place.run(["stop"])).code).toBe(3);
  });

  test("works on a daemon of another version: it names none", async () => {
    await using place = new Installation();
    await using daemon = await FixtureDaemon.start(place, {
      initialize: ({ _meta }) => {
        if (_meta["acp-master"].version !== undefined) throw new Refusal(-32060, "no", { reason: "version_mismatch" });
        return { protocolVersion: 1, _meta: { "acp-master": { version: "9.9.9", clientId: "c" } } };
      },
      "_acp-master/stop": (_params, peer) => setImmediate(() => peer.hangUp()),
    });
    writeFileSync(join(place.home, "run", "master.json"), "{}");
    expect((await place.run(["stop"])).code).toBe(0);
    expect(daemon.heard.at(-1)).toEqual(["_acp-master/stop", { reason: "stop" }]);
  });
});

test("restart ends the old daemon and starts a new one, or the first one", async () => {
  await using place = new Installation();
  const daemon = await serving(place);
  const restarted = await place.run(["restart"]);
  expect([restarted.code, daemon.child.exitCode]).toEqual([0, 0]);
  const { pid } = JSON.parse(readFileSync(join(place.home, "run", "master.json"), "utf8"));
  expect(pid).not.toBe(daemon.child.pid);
  expect(restarted.stdout).toContain(`pid ${pid}`);
  expect((await place.run(["stop"])).stdout).toContain(`pid ${pid}`);
  const first = await place.run(["restart"]);
  expect(first.stdout).toContain("No daemon was running.\n");
  expect((await place.run(["stop"])).code).toBe(0);
});

const checks = async (place: Installation) => {
  const { code, stdout } = await place.run(["doctor", "--json"]);
  const report = JSON.parse(stdout);
  return { code, ok: report.ok, found: Object.fromEntries(report.checks.map((one: Loose) => [one.check, one])) };
};

describe("doctor", () => {
  test("finds a fresh installation and a running daemon in order", async () => {
    await using place = new Installation();
    writeFileSync(join(place.home, "config.json"), '{"defaultAgent":"demo"}');
    const fresh = await checks(place);
    expect(fresh.found.daemon).toMatchObject({ ok: true, found: expect.stringContaining("none runs") });
    for (const check of [
      "node",
      "configuration",
      "run folder",
      "state folder",
      "log folder",
      "socket",
      "record",
      "default agent",
    ]) {
      expect(fresh.found[check], check).toMatchObject({ ok: true });
    }
    const daemon = await serving(place);
    const running = await checks(place);
    expect(running.found.daemon.found).toContain(`pid ${daemon.child.pid}`);
    expect(running.found.record).toMatchObject({ ok: true, found: expect.stringMatching(/^\d+ records/) });
    await place.run(["stop"]);
    writeFileSync(join(place.home, "state", "audit.ndjson"), "{}\n");
    expect((await checks(place)).found.record).toMatchObject({
      ok: false,
      next: expect.stringContaining("audit verify"),
    });
  });

  test("says of each fault what to do, in JSON and as text, and ends with 1", async () => {
    await using place = new Installation();
    chmodSync(join(place.home, "run"), 0o755);
    writeFileSync(join(place.home, "run", "master.sock"), "");
    writeFileSync(
      join(place.home, "config.json"),
      '{"helper":{"use":{"command":["no-such-helper"]}},"defaultAgent":"nobody"}',
    );
    const { code, ok, found } = await checks(place);
    expect([code, ok]).toEqual([1, false]);
    for (const check of ["run folder", "socket", "helper", "default agent"]) {
      expect(found[check], check).toMatchObject({ ok: false, next: expect.stringMatching(/\w{3}/) });
    }
    const { stdout } = await place.run(["doctor"]);
    expect(stdout).toMatch(/^BAD run folder: .*\n {6}.*chmod 700/m);
    writeFileSync(join(place.home, "config.json"), '{"agnets":{}}');
    expect((await checks(place)).found.configuration).toMatchObject({
      ok: false,
      found: expect.stringContaining("agnets"),
    });
  });
});

const tmuxCheck = async (version: string | undefined) => {
  await using place = new Installation();
  writeFileSync(join(place.home, "config.json"), '{"defaultAgent":"demo","helper":{"use":"terminal"}}');
  const bin = join(place.home, "bin");
  mkdirSync(bin);
  if (version !== undefined) writeFileSync(join(bin, "tmux"), `#!/bin/sh\necho "tmux ${version}"\n`, { mode: 0o755 });
  const { stdout } = await place.run(["doctor", "--json"], { env: { PATH: bin } });
  return JSON.parse(stdout).checks.find((one: Loose) => one.check === "tmux");
};

describe("doctor of a terminal Helper", () => {
  test.each([
    ["3.2a", true],
    ["next-3.6", true],
    ["3.1c", false],
    ["2.9", false],
    [undefined, false],
  ] as const)("takes tmux %s as enough: %s", async (version, isEnough) => {
    const found = await tmuxCheck(version);
    expect(found).toMatchObject({ ok: isEnough });
    expect(found.next ?? "").toContain(isEnough ? "" : "Install tmux");
  });
});

test.each(["work", "/run/some/tmux.sock"])(
  "doctor of a terminal Helper says when no tmux server answers on %s",
  async (server) => {
    await using place = new Installation();
    const helper = { use: "terminal", tmux: server };
    writeFileSync(join(place.home, "config.json"), JSON.stringify({ defaultAgent: "demo", helper }));
    const bin = join(place.home, "bin");
    mkdirSync(bin);
    const there = join(bin, "there");
    const program = `#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.4 && exit\n[ "$2 $3" = "${server} list-sessions" ] && [ -e ${there} ]\n`;
    writeFileSync(join(bin, "tmux"), program, { mode: 0o755 });
    const look = async (): Promise<Loose> => {
      const { stdout } = await place.run(["doctor", "--json"], { env: { PATH: bin } });
      return JSON.parse(stdout).checks.find((one: Loose) => one.check === "tmux server");
    };
    const command = `tmux ${server === "work" ? "-L" : "-S"} ${server}`;
    expect(await look()).toMatchObject({ ok: false, next: expect.stringContaining(`Start it with \`${command}\``) });
    writeFileSync(there, "");
    expect(await look()).toMatchObject({ ok: true, found: command });
  },
);

describe("logs", () => {
  test("prints the end of the log and follows it", async () => {
    await using place = new Installation();
    expect((await place.run(["logs"])).code).toBe(1);
    await serving(place);
    const once = await place.run(["logs", "-n", "1", "--json"]);
    expect(JSON.parse(once.stdout)).toMatchObject({ level: "info" });
    const following = await place.start(["logs", "-f"]);
    await following.printed("stdout", / info /);
    await place.run(["stop"]);
    await following.printed("stdout", /stopped/);
    following.child.kill("SIGINT");
    expect(await following.ended).toMatchObject({ code: 130, stderr: "" });
  });
});

describe("config", () => {
  test("check names every wrong key; schema and path need no file", async () => {
    await using place = new Installation();
    const file = join(place.home, "config.json");
    expect(await place.run(["config", "path"])).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect((await place.run(["config", "check"])).stdout).toContain("defaults");
    writeFileSync(file, '{ "limits": { "promptQueue": "many" }, "daemn": {} }');
    const { code, stdout, stderr } = await place.run(["config", "check"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/limits\.promptQueue.*\n.*daemn/);
    expect((await place.run(["config", "check", "none.json"])).code).toBe(1);
    expect(JSON.parse((await place.run(["config", "schema"])).stdout).properties).toHaveProperty("defaultAgent");
  });
});
