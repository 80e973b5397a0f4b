// Every field fault that must be covered has a test that cites it in its title, or an exemption that says why not.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const required: Readonly<Record<string, string>> = {
  framing: "1 3-10 12-15",
  "jsonrpc-ids": "16 18 19 21 22 25-28",
  routing: "29-35 38-41",
  ordering: "92 93 99",
  "session-lifecycle": "94 95 98 101-106",
  reconnect: "96 97 130",
  backpressure: "120-122",
  terminal: "152-154",
  process: "107-111 113 114 116-119",
  "daemon-start": "123-126 128 129",
  "transport-security": "131-136 138 139",
  "secrets-logs": "140-143",
  capabilities: "148-151",
  "paths-env": "160-163",
  shim: "165 166",
  permission: "42-54 56-59 61-67 69 70",
  "preset-policy": "71 72 74-77 79-84",
  cancel: "85 87-91",
  audit: "144-147",
  timers: "155-158",
  "proposal-channel": "167-171",
};

const testFolder = fileURLToPath(new URL("..", import.meta.url));
const readmeFile = fileURLToPath(new URL("./README.md", import.meta.url));
const longestExemptions = 10;

function numbersOf(ranges: string): number[] {
  return ranges.split(" ").flatMap((range) => {
    const [first = NaN, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}

/** The first argument of a test: a string literal that a function, a table or a list of options follows. */
const titles = /(["'`])((?:\\.|(?!\1)[^\\\n])*)\1,\s*(?:[A-Za-z_$][\w$]*,\s*)?(?:async\b|\(|\{|function\b)/g;

/** A comment that names a fault is no test of it, and neither is a skipped one. */
function citedIn(source: string): number[] {
  const code = source.replace(/^\s*\/\/.*$/gm, "").replace(/\b(?:it|test|describe)\.(?:skip|todo)\b[^\n]*/g, "");
  return [...code.matchAll(titles)].flatMap(([, , title = ""]) =>
    [...title.matchAll(/\bFF-(\d+)\b/g)].map(([, number]) => Number(number)),
  );
}

function citedInTests(): Map<number, string[]> {
  const found = new Map<number, string[]>();
  const files = readdirSync(testFolder, { recursive: true, encoding: "utf8" });
  for (const file of files) {
    if (!file.endsWith(".test.ts") || /node_modules|dist/.test(file) || file.endsWith("coverage.test.ts")) continue;
    for (const number of citedIn(readFileSync(`${testFolder}/${file}`, "utf8"))) {
      found.set(number, [...(found.get(number) ?? []), file]);
    }
  }
  return found;
}

const exemptions = (): Map<number, string> =>
  new Map(
    [...readFileSync(readmeFile, "utf8").matchAll(/^\| (\d+) +\| (.*?) *\|$/gm)].map(([, number, why = ""]) => [
      Number(number),
      why,
    ]),
  );

it("finds the numbers in titles, and nowhere else", () => {
  const source = [
    'it("does it (FF-1, FF-2)", async () => {});',
    "it.each(cases)('does it: %s (FF-3)', async (one) => {});",
    'it.each(ways)(\n  "does it on the %s (FF-4)",\n  async (way) => {},\n);',
    'it("with options (FF-5)", { timeout: 3 }, () => {});',
    'it("with named options (FF-9)", slow, async () => {});',
    "// FF-6 is named in a comment",
    'expect(text, "FF-7").toBe(1);',
    'it.skip("left out (FF-8)", () => {});',
  ].join("\n");
  expect(citedIn(source)).toEqual([1, 2, 3, 4, 5, 9]);
});

it.each(Object.entries(required))(
  "every fault of kind %s that must be covered has a test or an exemption",
  (_, ranges) => {
    const [cited, exempt] = [citedInTests(), exemptions()];
    expect(numbersOf(ranges).filter((number) => !cited.has(number) && !exempt.has(number))).toEqual([]);
  },
);

it("exemptions are few, say the code or the platform, and are of faults without a test", () => {
  const [cited, exempt] = [citedInTests(), exemptions()];
  expect(exempt.size).toBeGreaterThan(0);
  expect(exempt.size).toBeLessThanOrEqual(longestExemptions);
  for (const [number, why] of exempt) {
    expect(why, `the exemption of ${number}`).toMatch(/^(?:Platform|Code): .{20,}/);
    expect(cited.has(number), `${number} is exempt and has a test in ${cited.get(number)?.join(", ")}`).toBe(false);
  }
});
