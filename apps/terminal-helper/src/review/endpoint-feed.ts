// Hears from the program that started this one which review endpoints there are: one JSON list of paths a line.
import { Socket } from "node:net";
import { createInterface } from "node:readline";

export class EndpointFeed implements Disposable {
  readonly first: Promise<readonly string[]>;
  /** Whoever names them is gone. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  #latest: readonly string[] = [];
  #onPaths: (paths: readonly string[]) => void = () => {};

  constructor(descriptor: number) {
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false });
    const lines = createInterface({ input: this.#socket });
    this.ended = new Promise((resolve) => lines.once("close", resolve));
    this.#socket.once("error", () => lines.close());
    this.first = new Promise((resolve) => {
      lines.on("line", (line) => {
        const paths = readPaths(line);
        resolve(paths);
        this.#latest = paths;
        this.#onPaths(paths);
      });
      lines.once("close", () => resolve([]));
    });
  }

  /** Calls with the newest list, now and whenever it changes. */
  follow(onPaths: (paths: readonly string[]) => void): void {
    this.#onPaths = onPaths;
    onPaths(this.#latest);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

function readPaths(line: string): readonly string[] {
  const read: unknown = JSON.parse(line);
  return Array.isArray(read) ? read.filter((path) => typeof path === "string") : [];
}
