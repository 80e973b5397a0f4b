import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resolvePlaces } from "../../src/config/places.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "acpm-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("resolvePlaces()", () => {
  it("puts everything below ACP_MASTER_HOME", () => {
    expect(resolvePlaces({ ACP_MASTER_HOME: root })).toEqual({
      configFile: join(root, "config.json"),
      runDir: join(root, "run"),
      stateDir: join(root, "state"),
      logDir: join(root, "log"),
      socketPath: join(root, "run", "master.sock"),
      masterFile: join(root, "run", "master.json"),
      homeOverride: root,
    });
  });

  it("makes a relative home absolute and understands ~", () => {
    expect(resolvePlaces({ ACP_MASTER_HOME: "x/y" }).homeOverride).toBe(join(process.cwd(), "x/y"));
    expect(resolvePlaces({ ACP_MASTER_HOME: "~/x" }).homeOverride).toBe(join(homedir(), "x"));
  });

  it("takes the platform's own places without it, or when it is empty", () => {
    const places = resolvePlaces({ ACP_MASTER_HOME: "" });
    expect(places.homeOverride).toBeUndefined();
    expect(places).toEqual(resolvePlaces({}));
    expect(places.configFile).toMatch(/acp-master[/\\].*config\.json$/);
  });

  it.each([
    [103, true],
    [104, false],
  ])("keeps a socket path of %i bytes: %s", (length, kept) => {
    const name = "é".repeat(10);
    const fill = length - Buffer.byteLength(join(root, name, "run", "master.sock"));
    const home = join(root, name + "x".repeat(fill));
    const inHome = join(home, "run", "master.sock");
    expect(Buffer.byteLength(inHome)).toBe(length);
    const { socketPath } = resolvePlaces({ ACP_MASTER_HOME: home });
    if (kept) expect(socketPath).toBe(inHome);
    else expect(socketPath).toMatch(/^\/tmp\/acp-master-\d+-[0-9a-f]{16}\/s$/);
  });

  it("gives one socket for a long home whatever its spelling and the folder for temporary files", () => {
    const long = join(root, "l".repeat(100));
    const before = resolvePlaces({ ACP_MASTER_HOME: long }).socketPath;
    mkdirSync(long);
    symlinkSync(long, join(root, "link"));
    expect(resolvePlaces({ ACP_MASTER_HOME: join(root, "link") }).socketPath).toBe(before);
    expect(resolvePlaces({ ACP_MASTER_HOME: long, TMPDIR: root, XDG_RUNTIME_DIR: root }).socketPath).toBe(before);
    expect(resolvePlaces({ ACP_MASTER_HOME: `${long}2` }).socketPath).not.toBe(before);
  });

  it("takes the real path where only the spelling is too long", () => {
    symlinkSync(root, join(root, "s".repeat(100)));
    const { socketPath } = resolvePlaces({ ACP_MASTER_HOME: join(root, "s".repeat(100)) });
    expect(socketPath).toBe(join(root, "run", "master.sock"));
  });
});
