// The stdout of an agent as a connection that the daemon has made itself: only such a one can be read into memory of our choice, in which the
// lines of an agent lie side by side. It starts nothing and looks at line ends alone.
import { LineMemory } from "@acp-master/wire";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { longestSocketPath } from "../config/places.ts";
import { unplacedSocket } from "../daemon/unplaced-socket.ts";
import { withUmask } from "../daemon/private-folder.ts";

export class AgentOutput {
  /** What the agent writes. Its "data" are whole lines, but for the last one and very long ones. */
  readonly stream: Socket;
  /** For the agent alone: to be destroyed here once it has it. */
  readonly agentEnd: Socket;

  private constructor(stream: Socket, agentEnd: Socket) {
    this.stream = stream;
    this.agentEnd = agentEnd;
    agentEnd.on("error", () => {});
  }

  /** By way of a socket in `folder`, which is for this user alone. Undefined where that cannot be; a pipe does as well, at more cost. */
  static async open(folder: string): Promise<AgentOutput | undefined> {
    const path = unplacedSocket(folder);
    // A longer one would be cut off without a word.
    if (process.platform === "win32" || Buffer.byteLength(path) > longestSocketPath) return undefined;
    const server = createServer({ pauseOnConnect: true });
    let stream: Socket | undefined;
    try {
      const listens = once(server, "listening");
      withUmask(0o177, () => server.listen(path));
      await listens;
      stream = readInto(new LineMemory(), path);
      const [[agentEnd]] = await Promise.all([once(server, "connection"), once(stream, "connect")]);
      return new AgentOutput(stream, agentEnd);
    } catch {
      stream?.destroy();
      return undefined;
    } finally {
      server.close();
    }
  }

  /** It is not needed after all. */
  discard(): void {
    this.agentEnd.destroy();
    this.stream.destroy();
  }
}

function readInto(memory: LineMemory, path: string): Socket {
  const pass = (bytes: Buffer): void => void (bytes.length > 0 && stream.emit("data", bytes));
  const callback = (count: number): boolean => {
    pass(memory.took(count));
    return true;
  };
  const stream: Socket = connect({ path, onread: { buffer: () => memory.room(), callback } });
  stream.on("error", () => {});
  // Ahead of whoever ends with it.
  stream.on("end", () => pass(memory.rest()));
  stream.on("close", () => pass(memory.rest()));
  return stream;
}
