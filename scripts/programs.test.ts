// What the built programs carry. Each starts often, Helpers with every session, and what it does not need costs each start.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const dist = new URL("../apps/acp-master/dist", import.meta.url).pathname;
const programs = readdirSync(dist).filter((name) => name.endsWith("js") && !name.startsWith("part-"));

/** The program with the parts that it loads, now or later. */
function textOf(program: string): string {
  const names = new Set([program]);
  const texts: string[] = [];
  for (const name of names) {
    const text = readFileSync(join(dist, name), "utf8");
    texts.push(text);
    for (const [part] of text.matchAll(/\bpart-\w+\.js(?=")/g)) names.add(part);
  }
  return texts.join("\n");
}

test.each(programs)("%s has zod's messages in one language", (program) => {
  const languages = textOf(program).match(/zod\/v4\/locales\/[\w-]+\.js/g) ?? [];
  // Whoever imports { z } gets all of them; import * as z from "zod" leaves out what is not used.
  expect(languages.filter((path) => !/\/(en|index)\.js$/.test(path))).toEqual([]);
});

test("programs are there, with zod in some of them", () => {
  for (const program of ["acp-master.js", "helper-presets.js"])
    expect(textOf(program)).toContain("zod/v4/locales/en.js");
});
