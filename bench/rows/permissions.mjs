// From the agent's question to its answer, by the agent's clock.
import { alternate } from "../alternate.mjs";
import { value } from "../goal.mjs";
import { median } from "../statistics.mjs";

const WARM_UP = 3000;

export const permissions = {
  name: "permission",
  unit: "µs",
  goals: [
    value(
      "permission through the default Helper, added to a relay",
      "ms",
      (samples) => (median(samples["Helper, then client"]) - median(samples.relay)) / 1e3,
      { most: 1 },
    ),
  ],
  async run(stage, { long }) {
    const asking = await stage.daemon();
    const allowing = await stage.daemon({ config: { approvals: { preset: "allow-all" } } });
    const peers = {
      direct: stage.direct(),
      relay: await stage.relay(),
      "Helper alone": await stage.socket(allowing),
      "Helper, then client": await stage.socket(asking),
      "sdk proxy": await stage.proxy(),
    };
    const targets = {};
    for (const [name, peer] of Object.entries(peers)) {
      await peer.initialize("bench");
      const sessionId = await peer.newSession(stage.work);
      // Until the engines have compiled what is measured.
      await peer.prompt(sessionId, `ask ${WARM_UP}`);
      targets[name] = async () => {
        const { _meta } = await peer.prompt(sessionId, `ask ${long ? 100 : 25}`);
        return median(_meta.bench.times);
      };
    }
    return alternate(long ? 40 : 20, targets);
  },
};
