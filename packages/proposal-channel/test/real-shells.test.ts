// The canonical command in real shells: each line must start exactly one program with exactly the four arguments. The
// program is a marker that prints its arguments; PATH is empty, so nothing else could run.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Spelling, recognise, render } from "../src/invocation.ts";
import { bytes, channel } from "./channels.ts";

const nasty = [
  "$(touch broken)",
  "`touch broken`",
  "$HOME ${HOME} $$ $? $! $*",
  "!! !x !$ !-1",
  "\\",
  "\\\\",
  "'",
  "''",
  "'''",
  "'\\''",
  "\\'",
  "'; touch broken; '",
  '"; touch broken; "',
  "' && touch broken && '",
  "' | touch broken | '",
  "' & touch broken & '",
  "'$(touch broken)'",
  "'\"'\"'",
  "$'x\\n'",
  '$"x"',
  "%s %n %d",
  "* ? [a-z] ~ ~root",
  "{a,b} {1..3}",
  "# comment",
  "<(touch broken) >(touch broken)",
  "> broken < x >> broken 2>&1",
  "=ls =(ls)",
  "^a^b",
  "a\u00a0b\u3000c",
  "\u2018\u2019\u201a\u201b\u201c\u201d",
  "é😀\u200d",
  "\u202e",
  "--help",
  "-n -e",
  " --payload-json '{}'",
  "x".repeat(3000),
  "\\u0041 \\n \\t \\r",
  "\n\r\t\u0000\u001b",
  "(x) ((1+1)) [[ x ]]",
  "a;b",
  "EOF",
  "\\",
];

function payloads(): string[] {
  const texts = nasty.map((text) => JSON.stringify({ a: text }));
  const pieces = fc.array(fc.constantFrom(...nasty.filter((text) => text.length < 100), "a", " ", '"'), {
    maxLength: 6,
  });
  const random = fc
    .sample(pieces, { numRuns: 60, seed: 7 })
    .map((parts) => JSON.stringify([parts.join(""), 1.5e3, null]));
  return [...texts, ...random, "1", '"x"', "[]", `"${"x".repeat(8190)}"`];
}

interface Line {
  readonly command: string;
  readonly expected: readonly string[];
}

function lines(): Line[] {
  return payloads().flatMap((json, n) =>
    (["json", "b64url"] as const).flatMap((spelling: Spelling) => {
      const command = render("sh", { channel: channel(n), payload: bytes(json), spelling });
      if (typeof command !== "string") return [];
      expect(recognise("sh", command).ok).toBe(true);
      const text = spelling === "json" ? json : Buffer.from(json).toString("base64url");
      return [{ command, expected: ["--channel", channel(n), `--payload-${spelling}`, text] }];
    }),
  );
}

const shells: [name: string, ...args: string[]][] = [
  ["bash", "--norc", "--noprofile"],
  ["bash", "--posix", "--norc", "--noprofile"],
  ["dash"],
  ["zsh", "-f"],
  ["zsh", "-f", "-o", "rcquotes", "-o", "extendedglob", "-o", "banghist"],
];

let folder: string;
let marker: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acp marker '"));
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "work"));
  marker = join(folder, "mark er");
  writeFileSync(marker, `#!/bin/sh\nprintf '%s\\0' "$#" "$@"\n`);
  chmodSync(marker, 0o755);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function isThere(shell: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${shell}`]);
    return true;
  } catch {
    return false; // the only answer that `command` has for a missing program
  }
}

describe.each(shells)("%s %s", (shell, ...args) => {
  const present = isThere(shell);
  if (!present) console.warn(`${shell} is not installed here, so its reading of the canonical command is not tested`);

  test.runIf(present)("starts exactly one program with exactly these arguments, line for line", () => {
    const all = lines();
    expect(all.length).toBeGreaterThan(150);
    const script = join(folder, `script-${args.length}-${shell}`);
    writeFileSync(script, `PS4="@ran "; set -x\n${all.map(({ command }) => `${command}\n`).join("")}`);
    const path = execFileSync("/bin/sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).trim();
    const ran = spawnSync(path, [...args, script], {
      cwd: join(folder, "work"),
      env: { ACP_PROPOSE: marker, PATH: join(folder, "empty"), LC_ALL: "C.UTF-8", HOME: folder },
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(ran.status).toBe(0);
    const expected = all.flatMap(({ expected: words }) => [String(words.length), ...words]);
    expect(ran.stdout.toString().split("\0").slice(0, -1)).toEqual(expected);
    const traced = ran.stderr
      .toString()
      .split("\n")
      .filter((text) => text !== "");
    expect(traced.filter((text) => text.startsWith("@ran ")).length).toBe(all.length);
    expect(readdirSync(join(folder, "work"))).toEqual([]);
  });

  test.runIf(present)("does the same when the command is its -c argument", () => {
    const all = lines().filter((_line, index) => index % 12 === 0);
    for (const { command, expected } of all) {
      const ran = spawnSync(shell, [...args, "-c", command], {
        cwd: join(folder, "work"),
        env: { ...process.env, ACP_PROPOSE: marker },
      });
      expect(ran.stderr.toString()).toBe("");
      expect(ran.stdout.toString().split("\0").slice(0, -1)).toEqual([String(expected.length), ...expected]);
    }
  });
});

test.skip("PowerShell is not available here, so its reading of the canonical command is not tested", () => {});
