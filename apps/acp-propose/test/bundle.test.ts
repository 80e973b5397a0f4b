import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "./built-program.ts";

let program: BuiltProgram;

beforeAll(async () => {
  program = await buildProgram();
});

afterAll(() => rmSync(program.folder, { recursive: true, force: true }));

test("the program holds no library and nothing of a Helper but the socket's client", () => {
  const [output] = Object.values(program.metafile.outputs);
  const parts = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path.replace(/^.*?((?:packages|apps|node_modules)\/)/, "$1"));
  expect(parts.filter((path) => path.includes("node_modules"))).toEqual([]);
  for (const path of parts) {
    expect(path).toMatch(/^(?:apps\/acp-propose|packages\/proposal-channel)\/src\//);
    expect(path).not.toMatch(/payload\.ts|proposals\.ts|proposal-server\.ts|judge\.ts|decision\.ts/);
  }
  const imports = (output?.imports ?? []).map((each) => each.path);
  expect(imports.filter((path) => !path.startsWith("node:"))).toEqual([]);
  expect(statSync(program.path).size).toBeLessThan(40_000);
});

function took(args: readonly string[]): number {
  const before = process.hrtime.bigint();
  const ran = spawnSync(process.execPath, args);
  expect(ran.status).toBe(0);
  return Number(process.hrtime.bigint() - before);
}

test("it starts within 1.3 times the time of Node alone", { timeout: 120_000 }, () => {
  // The best of paired runs: what the machine does besides only ever adds to a run. More pairs are taken on a busy one.
  let bare = Infinity;
  let own = Infinity;
  for (let pairs = 0; pairs < 60 && (pairs < 10 || own > bare * 1.3); pairs += 1) {
    bare = Math.min(bare, took(["-e", "0"]));
    own = Math.min(own, took([program.path, "--version"]));
  }
  expect(own / bare).toBeLessThanOrEqual(1.3);
});
