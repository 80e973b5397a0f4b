// The table for people and the file for programs.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { sayBounds } from "./goal.mjs";
import { median, spread } from "./statistics.mjs";

const say = (number) =>
  Math.abs(number) >= 1000 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3)));

/** A row whose generator is not at least twice as fast as every result shows the generator, so it is void. */
export function isVoid({ generator }, samples) {
  if (generator === undefined) return false;
  return median(samples[generator]) < 2 * median(samples.master);
}

export function printRow(row, samples) {
  console.log(`\n${row.name} (${row.unit})${isVoid(row, samples) ? " — VOID: the generator is too slow" : ""}`);
  const width = Math.max(...Object.keys(samples).map((name) => name.length));
  for (const [name, values] of Object.entries(samples)) {
    const around = values.length > 1 ? ` ± ${(100 * spread(values)).toFixed(0)} %` : "";
    console.log(`  ${name.padEnd(width)}  ${say(median(values)).padStart(12)}${around}`);
  }
}

export function judgeRow(row, samples) {
  return row.goals.map(({ what, bounds, of }) => ({
    what,
    wanted: sayBounds(bounds),
    ...of(samples),
    void: isVoid(row, samples),
  }));
}

export function printGoals(goals) {
  if (goals.length === 0) return;
  console.log("\ngoal");
  const width = Math.max(...goals.map(({ what }) => what.length));
  for (const { what, wanted, value, unit, met, void: isVoid } of goals) {
    const verdict = isVoid ? "void" : met ? "met" : "NOT MET";
    console.log(`  ${what.padEnd(width)}  ${`${say(value)} ${unit}`.padStart(12)}  ${wanted.padEnd(8)}  ${verdict}`);
  }
}

export function writeReport(file, { started, long, rows, goals }) {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL("../package.json", import.meta.url)), "utf8"));
  mkdirSync(dirname(file), { recursive: true });
  const machine = {
    processor: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
  };
  const versions = { node: process.version, "acp-master": manifest.version, commit: commit() };
  writeFileSync(file, `${JSON.stringify({ started, long, machine, versions, rows, goals }, null, 1)}\n`);
}

function commit() {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined; // a package has no history
  }
}
