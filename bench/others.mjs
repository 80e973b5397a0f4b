// What people would use instead, from the npm registry, for the long form: each gets a few seconds to install and to answer;
// who does not is told of and left out.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { Peer } from "./peer.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const agent = here("agent.mjs");
const START_MS = 10_000;

const packages = [
  { name: "@thinkwell/conductor", version: "0.5.7", open: conductor },
  { name: "stdio-to-ws", version: "0.2.0", open: webSocket },
  { name: "@sandbox-agent/cli", version: "0.4.2", why: "starts the agents of its own list only, over HTTP of its own" },
  { name: "acpx", version: "0.19.1", why: "is a client, and stands between nobody" },
];

/** Name → peer that has been initialized. Prints who is left out, and why. */
export async function otherPeers(stage) {
  const peers = {};
  for (const { name, version, open, why } of packages) {
    let reason = why;
    if (reason === undefined) {
      try {
        const peer = await open(stage, installed(name, version));
        await within(peer.initialize("bench"));
        peers[name] = peer;
        continue;
      } catch (error) {
        reason = error.message;
      }
    }
    console.log(`  ${name} ${version}: left out; it ${reason}`);
  }
  return peers;
}

function installed(name, version) {
  const folder = here(`../.agents/bench-${name.replace(/\W+/g, "-")}-${version}`);
  const done = join(folder, "installed");
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", `${name}@${version}`];
  const { status } = spawnSync("npm", npm, { cwd: folder, stdio: "ignore" });
  if (status !== 0) throw new Error("could not be installed");
  writeFileSync(done, "");
  return folder;
}

async function within(promise) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("did not answer in time")), START_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function conductor(stage, folder) {
  return stage.relayed(here("conductor.mjs"), [folder]);
}

/** Frames become messages of a WebSocket, one each. */
async function webSocket(stage, folder) {
  const port = await freePort();
  const program = join(folder, "node_modules", "stdio-to-ws", "dist", "main.js");
  const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(agent)}`;
  stage.own(spawn(process.execPath, [program, "--quiet", "--port", String(port), command], { stdio: "ignore" }));
  const WebSocket = createRequire(join(folder, "package.json"))("ws");
  const socket = await within(opened(WebSocket, `ws://127.0.0.1:${port}`));
  const input = new PassThrough({ highWaterMark: 1 << 20 });
  socket.on("message", (bytes) => {
    input.write(bytes);
    input.write("\n");
  });
  return Object.assign(new Peer(input, { write: (line) => socket.send(line.trimEnd()) }), {
    close: () => socket.terminate(),
  });
}

/** The server takes a moment until it listens. */
async function opened(WebSocket, address) {
  for (;;) {
    const socket = new WebSocket(address);
    try {
      await once(socket, "open");
      return socket;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}
