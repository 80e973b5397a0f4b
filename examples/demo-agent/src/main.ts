// The demo agent on stdin and stdout. It ends when stdin ends or on SIGTERM, and leaves no child of its own behind.
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { createDemoAgent } from "./agent.ts";
import { killRunningCommands } from "./running-command.ts";
import { SessionStore } from "./session-store.ts";
import { storeFolder } from "./store-folder.ts";

const sessions = new SessionStore(storeFolder(process.env));
const connection = createDemoAgent(sessions).connect(
  ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)),
);

process.once("exit", killRunningCommands);
process.once("SIGTERM", () => process.exit(143));
process.once("SIGINT", () => process.exit(130));

await connection.closed;
sessions.closeAll();
process.exit(0);
