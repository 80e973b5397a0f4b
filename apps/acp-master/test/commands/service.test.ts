import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { launchdPlist, systemdUnit } from "../../src/commands/service-files.ts";
import { bundledProgram, Installation } from "./command-line.ts";

const awkward = `/opt/a b/100% $HOME ünï "q" 'p' \\ & <x>`;
const plain = { node: "/usr/bin/env", script: awkward, environment: { PATH: "/bin:/x y", ACP_MASTER_HOME: awkward } };
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const hasAnalyze = has("systemd-analyze", "--version");
if (!hasAnalyze) console.log("the unit is not verified: systemd-analyze is not here (Debian: apt-get install systemd)");
const hasPython = has("python3", "-c", "import plistlib");
if (!hasPython) console.log("the plist is not parsed: python3 is not here");

describe("the systemd unit", () => {
  test("writes awkward paths so that systemd reads them back", () => {
    const unit = systemdUnit(plain);
    const word = `/opt/a b/100%% $HOME ünï \\"q\\" 'p' \\\\ & <x>`;
    expect(unit).toContain(`ExecStart=:"/usr/bin/env" "${word}" "serve"\n`);
    expect(unit).toContain(`Environment="ACP_MASTER_HOME=${word}"\n`);
  });

  test("a program path that systemd does not take goes through a shell, as an argument", () => {
    expect(systemdUnit({ ...plain, node: `/o'b/node` })).toContain(
      `ExecStart=:"/bin/sh" "-c" "exec \\"$@\\"" "acp-master" "/o'b/node" `,
    );
  });

  test("a control character stops it", () => {
    expect(() => systemdUnit({ ...plain, script: "/a\nExecStart=/bin/evil" })).toThrow("control character");
  });

  test.runIf(hasAnalyze)("is accepted by systemd, awkward paths included", async () => {
    await using place = new Installation();
    const node = join(place.folder, "no de $x 100%", "node");
    mkdirSync(dirname(node));
    symlinkSync(process.execPath, node);
    for (const program of [
      { ...plain, node },
      { ...plain, node: process.execPath },
    ]) {
      const file = join(place.folder, "acp-master.service");
      writeFileSync(file, systemdUnit(program));
      const verified = spawnSync("systemd-analyze", ["--user", "verify", file], {
        encoding: "utf8",
        env: { ...place.env, XDG_RUNTIME_DIR: place.folder },
      });
      expect([verified.status, verified.stderr]).toEqual([0, ""]);
    }
  });
});

test.runIf(hasPython)("a plist parser reads the launchd agent back, awkward paths included", () => {
  const read = "import plistlib,sys,json;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
  const parsed = spawnSync("python3", ["-c", read], { input: launchdPlist(plain), encoding: "utf8" });
  expect(parsed.stderr).toBe("");
  expect(JSON.parse(parsed.stdout)).toMatchObject({
    Label: "acp-master",
    ProgramArguments: ["/usr/bin/env", awkward, "serve"],
    EnvironmentVariables: plain.environment,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
  });
});

describe.each([
  ["linux", "config/systemd/user/acp-master.service", "systemctl --user enable --now acp-master.service"],
  ["darwin", "Library/LaunchAgents/acp-master.plist", "launchctl bootstrap"],
])("service on %s", (platform, path, next) => {
  const calls = async (place: Installation) => {
    const home = join(place.folder, "home");
    const env = { XDG_CONFIG_HOME: join(home, "config") };
    const service = (...args: string[]) => place.run(["service", ...args, "--platform", platform], { env });
    return { file: join(home, path), service };
  };

  test("writes, reports and removes its file, and says what to run", async () => {
    await using place = new Installation();
    const { file, service } = await calls(place);
    expect((await service("status")).code).toBe(1);
    const dry = await service("install", "--dry-run");
    expect([dry.code, existsSync(file)]).toEqual([0, false]);
    const installed = await service("install");
    expect(installed.code).toBe(0);
    expect(installed.stdout).toContain(`Wrote ${file}\n`);
    expect(installed.stdout).toContain(next);
    expect(readFileSync(file, "utf8")).toBe(dry.stdout);
    expect(dry.stdout).toContain(await bundledProgram());
    expect(dry.stdout).toContain(place.home);
    expect((await service("status")).stdout).toContain(`installed   ${file}\n`);
    expect((await service("install")).code).toBe(0);
    expect((await service("uninstall")).stdout).toContain(`Removed ${file}\n`);
    expect(existsSync(file)).toBe(false);
    expect((await service("uninstall")).code).toBe(0);
  });

  test("leaves a file alone that it did not write", async () => {
    await using place = new Installation();
    const { file, service } = await calls(place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "mine");
    expect((await service("install")).code).toBe(1);
    expect((await service("uninstall")).code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("mine");
  });
});
