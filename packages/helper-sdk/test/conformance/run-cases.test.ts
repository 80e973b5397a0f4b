// Every broken Helper fails exactly the case it is named for; the sound ones pass them all.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cases } from "../../src/conformance/cases.ts";
import { runCases, showResults } from "../../src/conformance/run-cases.ts";

const folder = fileURLToPath(new URL("../broken/", import.meta.url));
const broken = readdirSync(folder).filter((name) => name !== "sound.mjs");
const caseOf = (name: string) =>
  cases
    .map((each) => each.id)
    .filter((id) => name.startsWith(id))
    .sort((a, b) => b.length - a.length)[0];
const waits = { answerMs: 1_000, exitMs: 1_000 };
/** Every case against every broken Helper is 400 processes; by default each meets its own case and these. */
const always = ["handshake", "verdict", "shutdown"];
const isFull = process.env.CONFORMANCE_FULL === "1";

async function failed(command: readonly string[], only?: readonly string[]): Promise<string[]> {
  const results = await runCases(command, { waits, ...(only === undefined || isFull ? {} : { only }) });
  return results.filter((result) => result.result === "fail").map((result) => `${result.id}: ${result.found}`);
}

test("the sound Helper passes every case", { timeout: 120_000 }, async () => {
  expect(await failed([process.execPath, `${folder}sound.mjs`])).toEqual([]);
});

test.each(broken)("%s fails exactly its case", { timeout: 120_000 }, async (name) => {
  const found = await failed([process.execPath, folder + name], [...always, caseOf(name) ?? name]);
  expect(found.map((line) => line.slice(0, line.indexOf(":")))).toEqual([caseOf(name)]);
});

test("every case has a Helper that fails it", () => {
  expect(new Set(broken.map(caseOf))).toEqual(new Set(cases.map((each) => each.id)));
});

test("a program that does not exist fails, and the table says so", async () => {
  const results = await runCases(["/nowhere/helper"], { waits, only: ["handshake"] });
  expect(showResults(results)).toContain("the program could not be started");
});
