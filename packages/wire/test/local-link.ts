// A connected pair of real sockets for one test. Disposing closes both ends and the listener and removes the socket's folder.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class LocalLink implements AsyncDisposable {
  readonly near: net.Socket;
  readonly far: net.Socket;
  private readonly server: net.Server;
  private readonly folder: string | undefined;

  private constructor(near: net.Socket, far: net.Socket, server: net.Server, folder: string | undefined) {
    this.near = near;
    this.far = far;
    this.server = server;
    this.folder = folder;
  }

  /** Over a Unix socket (a named pipe on Windows), or over loopback TCP where a connection can be reset. */
  static async open(kind: "local" | "tcp" = "local"): Promise<LocalLink> {
    const folder = kind === "local" ? await mkdtemp(join(tmpdir(), "wire-")) : undefined;
    const server = net.createServer({ allowHalfOpen: true });
    if (folder === undefined) server.listen(0, "127.0.0.1");
    else server.listen(process.platform === "win32" ? join("\\\\.\\pipe", folder) : join(folder, "s"));
    await once(server, "listening");
    const address = server.address();
    if (address === null) throw new Error("The test server has no address.");
    const accepted = new Promise<net.Socket>((resolve) => server.once("connection", resolve));
    const near =
      typeof address === "string"
        ? net.connect({ path: address, allowHalfOpen: true })
        : net.connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(near, "connect");
    return new LocalLink(near, await accepted, server, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [this.near, this.far]) {
      if (socket.closed) continue;
      const closed = once(socket, "close").catch(() => undefined); // An error of a socket that is being thrown away.
      socket.destroy();
      await closed;
    }
    const closed = once(this.server, "close");
    this.server.close();
    await closed;
    if (this.folder !== undefined) await rm(this.folder, { recursive: true });
  }
}

/** Lets the event loop poll its sockets a few times. What is in the kernel by then has been read, if it is read at all. */
export async function loopTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
