// Updates of one size in a row to one client.
import { alternate } from "../alternate.mjs";
import { ratio } from "../goal.mjs";
import { generatorAlone } from "../generator.mjs";
import { otherPeers } from "../others.mjs";
import { useMemory } from "../used-memory.mjs";

const MILLION = 1e6;
const ROUNDS = { short: 5, long: 9 };
/** Rounds until the engine has compiled what the frames run through; large ones are few. */
const WARM_UPS = { small: 1, large: 5 };
const LARGE_BYTES = 16 * 1024;
/** So much larger are those of the long form. */
const LONG = 6;

/** So long a session's Helper, which is a program of its own, is busy with its start. */
const HELPER_MS = 200;

/**
 * In a session of its own, whose journal is removed again. To start its Helper forks the daemon, after which the first write to
 * each page of its memory costs a fault: a tenth of the updates goes ahead, unmeasured, as in any session that has lasted a while.
 */
async function inSession({ peer, folder, bytes, updates, kind }, measure) {
  const sessionId = await peer.newSession(folder);
  await peer.prompt(sessionId, "nothing");
  await new Promise((resolve) => setTimeout(resolve, HELPER_MS));
  const ahead = Math.ceil(updates / 10);
  useMemory(bytes * (ahead + updates));
  await peer.stream(sessionId, bytes, ahead, kind);
  const measured = await measure(sessionId);
  await peer.remove(sessionId);
  return measured;
}

function stream({ name, bytes, kind = "plain", megabytes, proxyCount, goals, others = false }) {
  return {
    name,
    unit: "updates/s",
    more: true,
    goals,
    // What the generator writes must be at least twice what is measured.
    generator: "generator",
    async run(stage, { long }) {
      const daemon = await stage.daemon();
      const scale = long ? LONG : 1;
      const count = Math.ceil((scale * megabytes * MILLION) / bytes);
      const targets = { generator: () => generatorAlone(bytes, count, kind) };
      const peers = { direct: [stage.direct(), count] };
      peers.relay = [await stage.relay(), count];
      peers.master = [await stage.socket(daemon), count];
      peers["sdk proxy"] = [await stage.proxy(), scale * proxyCount];
      for (const [peer] of Object.values(peers)) await peer.initialize("bench");
      if (long && others) {
        for (const [name, peer] of Object.entries(await otherPeers(stage))) peers[name] = [peer, scale * proxyCount];
      }
      for (const [target, [peer, updates]] of Object.entries(peers)) {
        const reencoded = !["direct", "relay", "master"].includes(target);
        const streamed = async (sessionId) =>
          updates / (await peer.stream(sessionId, bytes, updates, kind, { reencoded }));
        if (target === "master")
          targets[target] = () => inSession({ peer, folder: stage.work, bytes, updates, kind }, streamed);
        else {
          const sessionId = await peer.newSession(stage.work);
          targets[target] = () => streamed(sessionId);
        }
      }
      const warmUps = bytes >= LARGE_BYTES ? WARM_UPS.large : WARM_UPS.small;
      return alternate(long ? ROUNDS.long : ROUNDS.short, targets, warmUps);
    },
  };
}

export const streams = [
  stream({
    name: "stream, 200 B",
    bytes: 200,
    megabytes: 24,
    proxyCount: 2400,
    others: true,
    goals: [
      ratio("updates per second, 200 B", "master", "relay", { least: 0.2 }),
      ratio("updates per second, 200 B", "master", "sdk proxy", { least: 20 }),
    ],
  }),
  stream({ name: "stream, 1 KB", bytes: 1024, megabytes: 48, proxyCount: 2400, goals: [] }),
  stream({
    name: "stream, 64 KB",
    bytes: 65_536,
    megabytes: 150,
    proxyCount: 180,
    goals: [ratio("bytes per second, 64 KB", "master", "relay", { least: 0.5 })],
  }),
  stream({
    name: "stream, 64 KB, escaped",
    bytes: 65_536,
    kind: "escaped",
    megabytes: 120,
    proxyCount: 120,
    goals: [ratio("bytes per second, 64 KB, escaped", "master", "relay", { least: 0.35 })],
  }),
];
