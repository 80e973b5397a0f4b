// What a session costs the master: 1,000 parked, 1,000 idle with a client and one shared Helper. Resident bytes after a collection.
import { value } from "../goal.mjs";

const SESSIONS = 1000;
/** So many sessions first, until the daemon's own memory has its size. */
const WARM_UP = 500;
const KB = 1024;
/** They are parked after little more than a second. */
const PARK_MS = 120_000;
/** Until the Helper has answered to the end of each. */
const SETTLE_MS = 1000;

async function rowsIn(peer, state) {
  let cursor;
  let found = 0;
  do {
    const page = await peer.request("_acp-master/sessions", cursor === undefined ? {} : { cursor });
    found += page.sessions.filter((row) => row.state === state).length;
    cursor = page.nextCursor;
  } while (cursor !== undefined && cursor !== null);
  return found;
}

async function openMany(stage, daemon, count) {
  const peer = await stage.socket(daemon);
  await peer.initialize("bench");
  for (let n = 0; n < count; n++) await peer.prompt(await peer.newSession(stage.work), "one");
  return peer;
}

/** Bytes of each of 1,000 sessions more, and of their heap alone. */
async function each(daemon, more) {
  const before = await daemon.memory();
  await more(SESSIONS);
  const after = await daemon.memory();
  return (after.rss - before.rss) / SESSIONS / KB;
}

export const memory = {
  name: "memory of a session",
  unit: "KB",
  goals: [
    value("1,000 idle sessions with a shared Helper, each", "KB", (samples) => samples.idle[0], { most: 64 }),
    value("1,000 parked sessions, each", "KB", (samples) => samples.parked[0], { most: 24 }),
  ],
  async run(stage) {
    const shared = { helper: { isolation: "shared" } };
    const idleDaemon = await stage.daemon({ config: shared });
    await openMany(stage, idleDaemon, WARM_UP);
    const idle = await each(idleDaemon, (count) => openMany(stage, idleDaemon, count));
    await stage.stop(idleDaemon);

    const parking = await stage.daemon({ config: { ...shared, sessions: { idleMinutes: 0.02 } } });
    const watcher = await stage.socket(parking);
    await watcher.initialize(null);
    let kept = 0;
    const park = async (count) => {
      (await openMany(stage, parking, count)).close();
      kept += count;
      const latest = performance.now() + PARK_MS;
      while ((await rowsIn(watcher, "parked")) < kept) {
        if (performance.now() > latest) throw new Error(`the sessions were not parked within ${PARK_MS / 1000} s`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    };
    await park(WARM_UP);
    const parked = await each(parking, park);
    return { idle: [idle], parked: [parked] };
  },
};
