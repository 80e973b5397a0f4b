// What people write first: a proxy on the official SDK that passes each method on. node sdk-proxy.mjs PATH PROGRAM…
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { Readable, Writable } from "node:stream";
import { agent, client, ndJsonStream } from "@agentclientprotocol/sdk";

const [path, program, ...args] = process.argv.slice(2);
const streamOf = (output, input) => ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
const toAgent = ["initialize", "session/new", "session/prompt"];
const toClient = ["session/request_permission"];

const server = createServer((socket) => {
  server.close();
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  let clientSide;
  let agentSide;
  const front = agent({ name: "proxy" });
  for (const method of toAgent) front.onRequest(method, ({ params }) => agentSide.request(method, params));
  const back = client({ name: "proxy" }).onNotification("session/update", ({ params }) =>
    clientSide.notify("session/update", params),
  );
  for (const method of toClient) back.onRequest(method, ({ params }) => clientSide.request(method, params));
  clientSide = front.connect(streamOf(socket, socket)).client;
  agentSide = back.connect(streamOf(child.stdin, child.stdout)).agent;
  socket.once("close", () => child.stdin.end());
});
server.listen(path, () => console.log("ready"));
