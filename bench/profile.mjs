// Where a daemon's and a shim's time went: reads the CPU profiles that Node wrote and sums each function's own time.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const TOP = 25;

/** Prints the functions with the most own time of every profile in `folder`; idle time is not counted. */
export function printProfiles(folder) {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".cpuprofile"))) {
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8"));
    const own = ownTimes(profile);
    const total = [...own.values()].reduce((sum, time) => sum + time, 0);
    console.log(`\n  own time, ${(total / 1e6).toFixed(2)} s busy (${name})`);
    for (const [where, time] of [...own].toSorted((a, b) => b[1] - a[1]).slice(0, TOP)) {
      console.log(`  ${((100 * time) / total).toFixed(1).padStart(5)} %  ${where}`);
    }
  }
}

/** Function and place → microseconds. */
function ownTimes({ nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const own = new Map();
  for (const [at, id] of samples.entries()) {
    const place = places.get(id);
    if (place === "(idle)" || place === "(program)") continue;
    own.set(place, (own.get(place) ?? 0) + timeDeltas[at]);
  }
  return own;
}

function placeOf({ functionName, url, lineNumber }) {
  const name = functionName || "(anonymous)";
  return url === "" ? name : `${name}  ${basename(url)}:${lineNumber + 1}`;
}
