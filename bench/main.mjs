// npm run bench [-- --long] [--only TEXT] [--profile] [--json FILE]: one table, one file. With --strict it fails
// when a row cannot be measured or a goal is not met: on a busy machine one may not be.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureSetUp } from "../scripts/workspace.mjs";
import { judgeRow, printGoals, printRow, writeReport } from "./report.mjs";
import { printProfiles } from "./profile.mjs";
import { endurance } from "./rows/endurance.mjs";
import { fanOut, manySessions } from "./rows/fan-out.mjs";
import { memory } from "./rows/memory.mjs";
import { permissions } from "./rows/permissions.mjs";
import { replay } from "./rows/replay.mjs";
import { roundTrip } from "./rows/round-trip.mjs";
import { stalled } from "./rows/stalled.mjs";
import { startUp } from "./rows/start-up.mjs";
import { streams } from "./rows/streams.mjs";
import { Stage } from "./stage.mjs";

const all = [roundTrip, ...streams, fanOut, manySessions, permissions, replay, startUp, memory, stalled, endurance];

const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
    profile: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
  },
});
const { long, only } = values;
const rows = all.filter((row) => (only === undefined ? long || !row.longOnly : row.name.includes(only)));
if (rows.length === 0) {
  console.error(`No row is named like "${only}". There are: ${all.map(({ name }) => name).join("; ")}.`);
  process.exit(2);
}

ensureSetUp();
const started = new Date().toISOString();
const folder = join(fileURLToPath(new URL("results", import.meta.url)), started.replace(/[:.]/g, "-"));
const results = {};
const goals = [];
let unmeasured = 0;
for (const row of rows) {
  const profiles = values.profile ? join(folder, row.name.replace(/\W+/g, "-")) : undefined;
  const stage = new Stage(profiles);
  try {
    const samples = await row.run(stage, { long });
    results[row.name] = { unit: row.unit, samples };
    printRow(row, samples);
    goals.push(...judgeRow(row, samples));
  } catch (error) {
    console.error(`\n${row.name}: could not be measured. ${error.message}`);
    unmeasured++;
  } finally {
    await stage.end();
  }
  if (profiles !== undefined) printProfiles(profiles);
}
printGoals(goals);

const file = values.json ?? `${folder}.json`;
writeReport(file, { started, long, rows: results, goals });
console.log(`\nRaw samples: ${file}`);
const missed = goals.some(({ met, void: isVoid }) => !met && !isVoid);
if (values.strict && (missed || unmeasured > 0)) process.exitCode = 1;
