// The second try of tests that fail: it forgives a few that pass then, and nothing else.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
const module = new URL("run-tests.mjs", import.meta.url).href;
let folder: string;

beforeEach(() => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "run-tests-"));
  const config = { test: { root: folder, include: ["*.test.mjs"], exclude: [] } };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const steady = 'import { expect, it } from "vitest";\nit("steady", () => expect(1).toBe(1));\n';
const broken = 'it("broken", () => expect(1).toBe(2));\n';
/** Fails in the first run only. */
const unsteady = (name: string): string =>
  `import { existsSync as was${name}, writeFileSync as mark${name} } from "node:fs";
it("unsteady ${name}", () => {
  const mark = ${JSON.stringify(join(folder, name))};
  const second = was${name}(mark);
  mark${name}(mark, "");
  expect(second).toBe(true);
});
`;

function run(source: string): { readonly counts: unknown; readonly said: string } {
  writeFileSync(join(folder, "some.test.mjs"), source);
  const args = JSON.stringify(["--config", join(folder, "vitest.config.mjs")]);
  const script = `import { runTests } from ${JSON.stringify(module)}; console.log("counts " + JSON.stringify(runTests(${args})));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return { counts: JSON.parse(/^counts (.*)$/m.exec(stdout)?.[1] ?? "null"), said: stdout };
}

test("what passes in the second try counts as passed and is named", () => {
  const { counts, said } = run(steady + unsteady("A"));
  expect(counts).toEqual({ passed: 2, failed: 0, skipped: 0 });
  expect(said).toContain("UNSTEADY unsteady A failed, and passed");
});

test("what fails again has failed, and so has what failed beside it", () => {
  const { counts, said } = run(steady + unsteady("A") + broken);
  expect(counts).toEqual({ passed: 1, failed: 2, skipped: 0 });
  expect(said).not.toContain("UNSTEADY");
});

test("more than three get no second try", () => {
  const { counts, said } = run(steady + ["A", "B", "C", "D"].map(unsteady).join(""));
  expect(counts).toEqual({ passed: 1, failed: 4, skipped: 0 });
  expect(said).not.toContain("Once more");
});

test("a file that cannot be loaded has failed", () => {
  expect(run('throw new Error("no");').counts).toMatchObject({ failed: 1 });
});
