// A client that stops reading while 200 MB pass, or a gigabyte in the long form: what it costs the daemon, and what it costs the others.
import { ratio, value } from "../goal.mjs";
import { residentBytes } from "../stage.mjs";

const MB = 1024 * 1024;

export const stalled = {
  name: "stalled client",
  unit: "µs of a turn next to it; MB",
  goals: [
    value("stalled client, added RSS", "MB", (samples) => samples["RSS, stalled"][0] - samples["RSS, reading"][0], {
      most: 32,
    }),
    ratio("a turn next to it", "turn, stalled", "turn, reading", { most: 1.1 }),
  ],
  async run(stage, { long }) {
    const daemon = await stage.daemon();
    const bytes = (long ? 1000 : 200) * MB;
    const flooding = await stage.socket(daemon);
    await flooding.initialize("bench");
    const flooded = await flooding.newSession(stage.work);
    const second = await stage.socket(daemon);
    await second.initialize(null);
    await second.request("session/load", { sessionId: flooded, cwd: stage.work, mcpServers: [] });
    const beside = await stage.socket(daemon);
    await beside.initialize("bench");
    const quiet = await beside.newSession(stage.work);
    const turns = async (count = 300) => {
      const times = [];
      for (let n = 0; n < count; n++) {
        const from = performance.now();
        await beside.prompt(quiet, "one");
        times.push((performance.now() - from) * 1e3);
      }
      return times;
    };
    const flood = async () => {
      for (let left = bytes; left > 0; left -= 50 * MB) await flooding.stream(flooded, 8192, (50 * MB) / 8192);
    };
    await turns();
    const reading = second.count(bytes);
    await flood();
    await reading;
    const rssReading = residentBytes(daemon.child.pid) / MB;
    const turnReading = await turns();
    second.pause();
    await flood();
    const rssStalled = residentBytes(daemon.child.pid) / MB;
    const turnStalled = await turns();
    const rest = second.count(bytes);
    second.resume();
    await rest;
    return {
      "RSS, reading": [rssReading],
      "RSS, stalled": [rssStalled],
      "turn, reading": turnReading,
      "turn, stalled": turnStalled,
    };
  },
};
