// One connection to the daemon: whole frames both ways until it ends. What a dying daemon left half written is no frame.
import type { Socket } from "node:net";
import { FrameReader, FrameWriter } from "@acp-master/wire";
import { FrameRun } from "./frame-run.ts";
import { longestFrame } from "./longest-frame.ts";

export interface DaemonReceiver {
  /** As the frame reader's. */
  arrives(chunk: Buffer, begins: boolean): boolean;
  frame(bytes: Buffer, start: number, end: number): void;
  chunkEnd(): void;
  tooLong(): void;
  /** It takes more again. */
  drained(): void;
  /** The last call. */
  lost(): void;
}

export class DaemonConnection {
  readonly writer: FrameWriter;
  /** Frames of the editor that lie side by side. */
  readonly run: FrameRun;
  /** Why the daemon said that it will close this connection. */
  closing: string | undefined;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  #dropped = false;

  constructor(socket: Socket, receiver: DaemonReceiver) {
    this.#socket = socket;
    this.writer = new FrameWriter(socket, { onDrain: () => this.#dropped || receiver.drained() });
    this.run = new FrameRun(this.writer);
    this.#reader = new FrameReader(socket, longestFrame, {
      frame: (bytes, start, end) => {
        const isWhole = !socket.readableEnded && !socket.destroyed;
        if (isWhole && !this.#dropped) receiver.frame(bytes, start, end);
      },
      arrives: (chunk, begins) => !this.#dropped && receiver.arrives(chunk, begins),
      chunkEnd: () => this.#dropped || receiver.chunkEnd(),
      tooLong: () => this.#dropped || receiver.tooLong(),
      ended: () => {
        if (this.#dropped) return;
        this.drop();
        receiver.lost();
      },
    });
  }

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  /** Nothing is heard of it any more. */
  drop(): void {
    this.#dropped = true;
    this.#socket.destroy();
  }
}
