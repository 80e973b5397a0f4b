// The stdout of an agent as a connection that the daemon has made itself: only such a one can be read into memory of our choice, in
// which the lines of an agent lie side by side. It starts nothing and looks at line ends alone.
import { LineMemory } from "@acp-master/wire";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { longestSocketPath } from "../config/places.ts";

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

  /**
   * By way of a socket in a folder of its own, which is for this user alone and gone again; an agent can read that name, and learns
   * nothing from it. Undefined where that cannot be: a pipe does as well, at more cost.
   */
  static async open(): Promise<AgentOutput | undefined> {
    if (process.platform === "win32") return undefined;
    const server = createServer({ pauseOnConnect: true });
    server.maxConnections = 1;
    const ends: Socket[] = [];
    let folder: string | undefined;
    try {
      folder = mkdtempSync(join(tmpdir(), "acp-output-"));
      const path = join(folder, "s");
      // A longer one would be cut off without a word.
      if (Buffer.byteLength(path) > longestSocketPath) return undefined;
      server.listen(path);
      await once(server, "listening");
      server.once("connection", (end) => ends.push(end));
      const stream = readInto(new LineMemory(), path);
      ends.push(stream);
      // Without a descriptor left the system takes the connection and closes it, and the server hears nothing of it.
      const closed = new AbortController();
      stream.once("close", () => closed.abort());
      const { signal } = closed;
      const [[agentEnd]] = await Promise.all([
        once(server, "connection", { signal }),
        once(stream, "connect", { signal }),
      ]);
      return new AgentOutput(stream, agentEnd);
    } catch {
      for (const end of ends) end.destroy();
      return undefined;
    } finally {
      server.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
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
  // Ahead of whoever ends with it.
  for (const over of ["end", "error", "close"]) stream.on(over, () => pass(memory.rest()));
  return stream;
}
