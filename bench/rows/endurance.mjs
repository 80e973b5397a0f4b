// Ten million updates over ten minutes: nothing is lost and memory stays where it is.
import { value } from "../goal.mjs";
import { residentBytes } from "../stage.mjs";
import { lastQuarterSlope } from "../statistics.mjs";

const MB = 1024 * 1024;
const ROUNDS = 100;
const EACH = 100_000;

export const endurance = {
  name: "10 M updates in 10 minutes",
  unit: "MB of RSS",
  longOnly: true,
  goals: [
    value("last quarter's slope", "MB per 100,000 updates", (samples) => lastQuarterSlope(samples.RSS), { most: 0.2 }),
    value("updates lost", "updates", (samples) => samples.lost[0], { most: 0 }),
  ],
  async run(stage) {
    const daemon = await stage.daemon();
    const peer = await stage.socket(daemon);
    await peer.initialize("bench");
    const sessionId = await peer.newSession(stage.work);
    const RSS = [];
    let lost = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const next = new Promise((resolve) => setTimeout(resolve, 6000));
      const before = peer.received;
      await peer.stream(sessionId, 200, EACH);
      lost += EACH - Math.floor((peer.received - before) / 200);
      RSS.push(residentBytes(daemon.child.pid) / MB);
      await next;
    }
    return { RSS, lost: [lost] };
  },
};
