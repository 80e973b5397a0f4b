// Prompt → one update → result, one after the other.
import { alternate } from "../alternate.mjs";
import { ratio } from "../goal.mjs";
import { otherPeers } from "../others.mjs";
import { median } from "../statistics.mjs";

const WARM_UP = 5000;

/** Microseconds of the median of `turns` turns. */
async function turns(peer, sessionId, count) {
  const times = [];
  for (let n = 0; n < count; n++) {
    const from = performance.now();
    await peer.prompt(sessionId, "one");
    times.push((performance.now() - from) * 1e3);
  }
  return median(times);
}

export const roundTrip = {
  name: "round trip",
  unit: "µs",
  goals: [
    ratio("round trip on the socket", "master", "relay", { most: 1.5 }),
    ratio("round trip through connect", "connect", "two relays", { most: 1.3 }),
  ],
  async run(stage, { long }) {
    const daemon = await stage.daemon();
    const peers = {
      direct: stage.direct(),
      relay: await stage.relay(),
      master: await stage.socket(daemon),
      "two relays": await stage.relays(),
      connect: stage.connect(daemon.home),
      "sdk proxy": await stage.proxy(),
    };
    for (const peer of Object.values(peers)) await peer.initialize("bench");
    if (long) Object.assign(peers, await otherPeers(stage));
    const targets = {};
    for (const [name, peer] of Object.entries(peers)) {
      const sessionId = await peer.newSession(stage.work);
      // Until the engine has compiled what is measured.
      await turns(peer, sessionId, WARM_UP);
      targets[name] = () => turns(peer, sessionId, long ? 200 : 50);
    }
    // Many short samples: the machine's pace changes within seconds.
    return alternate(long ? 50 : 30, targets);
  },
};
