// Updates of one size in a row to one client.
import { alternate } from "../alternate.mjs";
import { ratio } from "../goal.mjs";
import { generatorAlone } from "../generator.mjs";
import { otherPeers } from "../others.mjs";
import { useMemory } from "../used-memory.mjs";

const MILLION = 1e6;

/** So long a session's Helper, which is a program of its own, is busy with its start. */
const HELPER_MS = 400;

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
      const count = Math.ceil(((long ? 4 : 1) * megabytes * MILLION) / bytes);
      const targets = { generator: () => generatorAlone(bytes, count, kind) };
      const peers = { direct: [stage.direct(), count] };
      peers.relay = [await stage.relay(), count];
      peers.master = [await stage.socket(daemon), count];
      peers["sdk proxy"] = [await stage.proxy(), (long ? 4 : 1) * proxyCount];
      for (const [peer] of Object.values(peers)) await peer.initialize("bench");
      if (long && others) {
        for (const [name, peer] of Object.entries(await otherPeers(stage))) peers[name] = [peer, 4 * proxyCount];
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
      return alternate(long ? 9 : 3, targets);
    },
  };
}

export const streams = [
  stream({
    name: "stream, 200 B",
    bytes: 200,
    megabytes: 40,
    proxyCount: 4000,
    others: true,
    goals: [
      ratio("updates per second, 200 B", "master", "relay", { least: 0.2 }),
      ratio("updates per second, 200 B", "master", "sdk proxy", { least: 20 }),
    ],
  }),
  stream({ name: "stream, 1 KB", bytes: 1024, megabytes: 80, proxyCount: 4000, goals: [] }),
  stream({
    name: "stream, 64 KB",
    bytes: 65_536,
    megabytes: 250,
    proxyCount: 300,
    goals: [ratio("bytes per second, 64 KB", "master", "relay", { least: 0.5 })],
  }),
  stream({
    name: "stream, 64 KB, escaped",
    bytes: 65_536,
    kind: "escaped",
    megabytes: 200,
    proxyCount: 200,
    goals: [ratio("bytes per second, 64 KB, escaped", "master", "relay", { least: 0.35 })],
  }),
];
