// From the start of a program to its first answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { alternate } from "../alternate.mjs";
import { ratio } from "../goal.mjs";

const milliseconds = async (what) => {
  const from = performance.now();
  await what();
  return performance.now() - from;
};

const bareNode = () => milliseconds(() => once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit"));

async function leave(peer) {
  const gone = once(peer.child, "exit");
  peer.close();
  await gone;
}

export const startUp = {
  name: "start-up",
  unit: "ms",
  goals: [
    ratio("cold start to initialize answered", "cold start", "node -e 0", { most: 6 }),
    ratio("connect to a running daemon, to first answer", "connect", "node -e 0", { most: 1.6 }),
  ],
  async run(stage, { long }) {
    const daemon = await stage.daemon();
    // A connection keeps the agent's process: connect is measured, not the agent's start.
    const stays = await stage.socket(daemon);
    await stays.initialize("bench");
    await stays.newSession(stage.work);
    const firstAnswer = async (home) => {
      const peer = stage.connect(home);
      await peer.initialize("bench");
      return peer;
    };
    return alternate(long ? 20 : 6, {
      "node -e 0": bareNode,
      connect: async () => {
        let peer;
        const time = await milliseconds(async () => (peer = await firstAnswer(daemon.home)));
        await leave(peer);
        return time;
      },
      "cold start": async () => {
        const home = stage.home();
        let peer;
        const time = await milliseconds(async () => (peer = await firstAnswer(home)));
        await leave(peer);
        await stage.stopHome(home);
        return time;
      },
    });
  },
};
