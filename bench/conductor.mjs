// @thinkwell/conductor between a socket and an agent. node conductor.mjs PACKAGE-FOLDER PATH PROGRAM…
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, path, command, ...args] = process.argv.slice(2);
const { Conductor, fromConnectors, StdioConnector } = await import(
  pathToFileURL(`${folder}/node_modules/@thinkwell/conductor/dist/index.js`).href
);

async function* messagesOf(socket) {
  for await (const line of createInterface({ input: socket })) yield JSON.parse(line);
}

const server = createServer((socket) => {
  server.close();
  const connection = {
    send: (message) => socket.write(`${JSON.stringify(message)}\n`),
    messages: messagesOf(socket),
    close: () => Promise.resolve(socket.end()),
  };
  const conductor = new Conductor({ instantiator: fromConnectors(new StdioConnector({ command, args })) });
  void conductor.connect({ connect: () => Promise.resolve(connection) });
});
server.listen(path, () => console.log("ready"));
