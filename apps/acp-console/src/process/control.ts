// Where the command line asks the running console for an address: a socket in the daemon's private folder. One line of
// JSON each way.
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import * as z from "zod";

const request = z.discriminatedUnion("ask", [
  z.strictObject({ ask: z.literal("address"), role: z.enum(["controller", "observer"]) }),
  z.strictObject({ ask: z.literal("state") }),
  z.strictObject({ ask: z.literal("stop") }),
]);

export type ControlRequest = z.infer<typeof request>;

const longestLine = 1024;

export class Control {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Throws an Error that says what is in the way. The folder is private; two consoles never start at once. */
  static async open(path: string, answer: (request: ControlRequest) => object): Promise<Control> {
    await removeStale(path);
    const server = createServer((socket) => serve(socket, answer));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    // The mask of this process has left it to its user alone already.
    chmodSync(path, 0o600);
    return new Control(server);
  }

  /** The socket file goes with it. */
  close(): void {
    this.#server.close();
  }
}

function serve(socket: Socket, answer: (request: ControlRequest) => object): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.setTimeout(5000, () => socket.destroy());
  socket.on("error", () => {});
  socket.on("data", (part: string) => {
    text += part;
    const end = text.indexOf("\n");
    if (end < 0 && text.length <= longestLine) return;
    const read = request.safeParse(parsed(text.slice(0, end)));
    socket.end(`${JSON.stringify(read.success ? answer(read.data) : { error: "not a request" })}\n`);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A socket that nobody serves was left by a console that was killed. */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} is no socket. Move it away; nothing was changed.`);
  const isServed = await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => socket.destroy());
    socket.setTimeout(1000, () => resolve(true));
  });
  if (isServed) throw new Error(`Another console listens on ${path}.`);
  unlinkSync(path);
}
