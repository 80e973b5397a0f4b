// The least that can stand between a client and an agent: bytes from a socket to a program and back. node socket-relay.mjs PATH PROGRAM…
import { spawn } from "node:child_process";
import { createServer } from "node:net";

const [path, program, ...args] = process.argv.slice(2);
const server = createServer((socket) => {
  server.close();
  const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  socket.pipe(agent.stdin);
  agent.stdout.pipe(socket);
});
server.listen(path, () => console.log("ready"));
