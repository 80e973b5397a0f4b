// A client that loads a session with a long journal.
import { alternate } from "../alternate.mjs";

export const replay = {
  name: "attach and replay of 100 MB",
  unit: "MB/s",
  more: true,
  goals: [],
  async run(stage, { long }) {
    const daemon = await stage.daemon();
    const count = (long ? 100e6 : 25e6) / 1000;
    const first = await stage.socket(daemon);
    await first.initialize("bench");
    const sessionId = await first.newSession(stage.work);
    await first.stream(sessionId, 1000, count);
    const relay = await stage.relay();
    await relay.initialize("bench");
    const relayed = await relay.newSession(stage.work);
    return alternate(long ? 5 : 3, {
      "relay, from the agent": async () => (count * 1000) / 1e6 / (await relay.stream(relayed, 1000, count)),
      "master, from the journal": async () => {
        const peer = await stage.socket(daemon);
        await peer.initialize(null);
        const from = performance.now();
        const counted = peer.count(count * 1000);
        peer.request("session/load", { sessionId, cwd: stage.work, mcpServers: [] }).catch(() => {});
        await counted;
        const seconds = (performance.now() - from) / 1e3;
        peer.close();
        return (count * 1000) / 1e6 / seconds;
      },
    });
  },
};
