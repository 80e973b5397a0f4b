// Rules by kind and folder, the first that fits, and files that are none.
import { writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { apply, policyFileHelper, readPolicy, type Policy } from "../../src/reference/policy-file.ts";
import { allowed, asked, Folder, refused, request } from "../request-bench.ts";

const shipped = fileURLToPath(new URL("../../../../examples/helpers/policy.json", import.meta.url));

function decided(
  folder: Folder,
  rules: Policy["rules"],
  kind: string | undefined,
  path: string,
  otherwise: "ask" | "refuse" = "ask",
) {
  return apply({ rules, otherwise }, request({ kind, locations: [{ path }] }), folder.session("ask"));
}

test("the first rule that fits decides", () => {
  using folder = new Folder();
  const rules: Policy["rules"] = [
    { kinds: ["edit"], paths: ["docs"], answer: "allow" },
    { kinds: ["edit"], answer: "refuse" },
  ];
  expect(decided(folder, rules, "edit", "docs/new.md")).toEqual(allowed);
  expect(decided(folder, rules, "edit", "inner.txt")).toEqual(refused);
  expect(decided(folder, rules, "read", "docs/new.md")).toEqual(asked);
  expect(decided(folder, rules, undefined, "docs/new.md", "refuse")).toEqual(refused);
});

test("an allow needs every path in its places, a refusal only one that may be there", () => {
  using folder = new Folder();
  const both = request({ kind: "edit", locations: [{ path: "docs/a" }, { path: "inner.txt" }] });
  const session = folder.session("ask");
  expect(
    apply({ rules: [{ kinds: ["edit"], paths: ["docs"], answer: "allow" }], otherwise: "ask" }, both, session),
  ).toEqual(asked);
  expect(apply({ rules: [{ paths: ["docs"], answer: "refuse" }], otherwise: "ask" }, both, session)).toEqual(refused);
  const dead = request({ kind: "edit", locations: [{ path: "dead" }] });
  expect(apply({ rules: [{ paths: ["docs"], answer: "refuse" }], otherwise: "ask" }, dead, session)).toEqual(refused);
});

test("the shipped policy asks for commands and allows no write to the temp or home folder", () => {
  using folder = new Folder();
  const read = readPolicy(shipped);
  if (!read.ok) throw new Error(read.problem);
  const session = folder.session("ask");
  const shell = request({ kind: "execute", rawInput: { command: "python3 -V" } });
  expect(apply(read.policy, shell, session)).toEqual(asked);
  for (const place of [tmpdir(), homedir()]) {
    expect(apply(read.policy, request({ kind: "edit", locations: [{ path: join(place, "x") }] }), session)).toEqual(
      asked,
    );
  }
  expect(apply(read.policy, request({ kind: "edit", locations: [{ path: "docs/x" }] }), session)).toEqual(allowed);
  expect(
    apply(read.policy, request({ kind: "edit", rawInput: undefined, locations: [{ path: "docs/x" }] }), session),
  ).toEqual(asked);
});

test.each([
  ["{", "not JSON"],
  ["{}", "rules"],
  ['{"rules":[{"answer":"allow"}]}', "must name its kinds"],
  ['{"rules":[{"kinds":["edit"],"answer":"yes"}]}', "rules.0.answer"],
  ['{"rules":[],"otherwise":"allow"}', "otherwise"],
  ['{"rules":[{"answer":"ask","path":"x"}]}', "path"],
])("the file %s decides nothing and its problem is named", async (text, word) => {
  using folder = new Folder();
  const file = join(folder.top, "policy.json");
  writeFileSync(file, text);
  const read = readPolicy(file);
  expect(read.ok ? "" : read.problem).toContain(word);
  const decide = async () =>
    policyFileHelper(file).permission(request({}), folder.session("ask"), new AbortController().signal);
  await expect(decide()).rejects.toThrow("until it is mended");
});

test("a file that is not there decides nothing", () => {
  expect(readPolicy("/nowhere/policy.json")).toMatchObject({ ok: false });
});
