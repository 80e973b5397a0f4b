// One session, ten clients: what is delivered in all, until the last one has everything.
import { alternate } from "../alternate.mjs";
import { ratio } from "../goal.mjs";

export const fanOut = {
  name: "fan-out, 200 B",
  unit: "updates/s delivered",
  more: true,
  goals: [ratio("fan-out to 10 clients, total delivered", "10 clients", "1 client", { least: 2 })],
  async run(stage, { long }) {
    const daemon = await stage.daemon();
    const count = long ? 400_000 : 100_000;
    const targets = {};
    for (const clients of [1, 10]) {
      const first = await stage.socket(daemon);
      await first.initialize("bench");
      const sessionId = await first.newSession(stage.work);
      const others = [];
      for (let n = 1; n < clients; n++) {
        const peer = await stage.socket(daemon);
        await peer.initialize(null);
        await peer.request("session/load", { sessionId, cwd: stage.work, mcpServers: [] });
        others.push(peer);
      }
      targets[`${clients} client${clients > 1 ? "s" : ""}`] = async () => {
        const all = others.map((peer) => peer.count(200 * count));
        const from = performance.now();
        await Promise.all([first.stream(sessionId, 200, count), ...all]);
        return (clients * count) / ((performance.now() - from) / 1e3);
      };
    }
    return alternate(long ? 9 : 3, targets);
  },
};

/** Updates per second of all sessions at once. */
const allAtOnce = (all, each) => async () => {
  const from = performance.now();
  await Promise.all(all.map(({ peer, sessionId }) => peer.stream(sessionId, 200, each)));
  return (all.length * each) / ((performance.now() - from) / 1e3);
};

export const manySessions = {
  name: "100 sessions, 200 B",
  unit: "updates/s",
  more: true,
  goals: [],
  async run(stage, { long }) {
    const daemon = await stage.daemon({ config: { helper: { isolation: "shared" } } });
    const count = long ? 20_000 : 2_000;
    const open = async (sessions) => {
      const all = [];
      for (let n = 0; n < sessions; n++) {
        const peer = await stage.socket(daemon);
        await peer.initialize("bench");
        all.push({ peer, sessionId: await peer.newSession(stage.work) });
      }
      return all;
    };
    return alternate(long ? 5 : 3, {
      "1 session": allAtOnce(await open(1), 100 * count),
      "100 sessions": allAtOnce(await open(100), count),
    });
  },
};
