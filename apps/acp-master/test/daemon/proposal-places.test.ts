// Where the sockets of direct proposals go, and when there are none.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolvePlaces } from "../../src/config/places.ts";
import { openProposalPlaces } from "../../src/daemon/proposal-places.ts";

let folder: string;
let program: string;
let temporary: string;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-pp-"));
  program = join(folder, "acp-propose.js");
  temporary = join(folder, "t");
  writeFileSync(program, "", { mode: 0o755 });
  mkdirSync(temporary, { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (env: NodeJS.ProcessEnv = {}, home = join(folder, "home")) =>
  openProposalPlaces(resolvePlaces({ ACP_MASTER_HOME: home }), program, {
    PATH: process.env.PATH,
    TMPDIR: temporary,
    ...env,
  });

const mode = (path: string): number => statSync(path).mode & 0o777;

test("two private folders; agents are told of the one, Helpers of the other", () => {
  using places = open();
  const socketDir = places.socketDir();
  const { ACP_MASTER_REVIEW_DIR: reviewDir = "" } = places.helperEnvironment;
  expect(socketDir.startsWith(temporary)).toBe(true);
  expect([mode(socketDir), mode(reviewDir)]).toEqual([0o700, 0o700]);
  expect(places.agentEnvironment).toEqual({ ACP_PROPOSE: program, ACP_PROPOSE_DIR: socketDir });
  expect(places.helperEnvironment).toEqual({ ACP_PROPOSE: program, ACP_MASTER_REVIEW_DIR: reviewDir });
  expect(reviewDir.startsWith(socketDir)).toBe(false);
  expect(places.problem).toBeUndefined();
});

test("they are gone at the end, come back when something removed them, and are cleared of what a killed daemon left", () => {
  const first = open();
  const socketDir = first.socketDir();
  writeFileSync(join(socketDir, "left.sock"), "");
  using second = open();
  expect(second.socketDir()).toBe(socketDir);
  expect(existsSync(join(socketDir, "left.sock"))).toBe(false);
  rmSync(join(socketDir, ".."), { recursive: true });
  expect(second.socketDir()).toBe(socketDir);
  expect(mode(socketDir)).toBe(0o700);
  second[Symbol.dispose]();
  expect(existsSync(join(socketDir, ".."))).toBe(false);
});

test("every daemon has its own", () => {
  using one = open();
  using other = open({}, join(folder, "other"));
  expect(one.socketDir()).not.toBe(other.socketDir());
});

test("a place inside of the daemon's own folder, or one too deep, is passed over for the next", () => {
  const deep = join(temporary, "d".repeat(60));
  mkdirSync(deep);
  for (const base of [join(folder, "home"), deep]) {
    mkdirSync(base, { recursive: true, mode: 0o700 });
    using places = open({ TMPDIR: base });
    expect(places.socketDir().startsWith("/tmp/acp-propose-")).toBe(true);
    expect(Buffer.byteLength(join(places.socketDir(), `${"0".repeat(32)}.sock`))).toBeLessThanOrEqual(103);
  }
});

test("what stands in its place and is not private is left alone, and the next is used", () => {
  using first = open();
  const root = join(first.socketDir(), "..");
  first[Symbol.dispose]();
  mkdirSync(join(folder, "elsewhere"));
  symlinkSync(join(folder, "elsewhere"), root);
  using places = open();
  expect(places.socketDir().startsWith("/tmp/acp-propose-")).toBe(true);
  rmSync(root);
  mkdirSync(root, { mode: 0o755 });
  chmodSync(root, 0o755);
  using again = open();
  expect(again.socketDir().startsWith(temporary)).toBe(false);
  expect(existsSync(root)).toBe(true);
});

test.each([
  ["the program is not there", {}, () => rmSync(program)],
  ["the program cannot be run", {}, () => chmodSync(program, 0o644)],
  ["there is no node on the PATH", { PATH: "/nowhere" }, () => {}],
])("there are none when %s; agents are told nothing", (_name, env, spoil) => {
  spoil();
  using places = open(env);
  expect(places.socketDir()).toBe("");
  expect(places.agentEnvironment).toEqual({});
  expect(places.problem).toContain(program);
});
