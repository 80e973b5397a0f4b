// The editor's side of the shim: frames on standard input and output, text on standard error. A reader that is gone never raises here.
import { fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

export interface EditorStdio {
  readonly input: Readable;
  readonly output: Writable;
  /** One line for people. */
  say(text: string): void;
}

export function editorStdio(): EditorStdio {
  return { input: process.stdin, output: outputStream(), say };
}

/**
 * Node writes to pipes synchronously: an editor that stops reading would stop the whole shim, its signals included. So a
 * pipe is opened as a socket, which waits.
 */
function outputStream(): Writable {
  try {
    const stat = fstatSync(1);
    if (process.platform !== "win32" && (stat.isFIFO() || stat.isSocket())) {
      return new Socket({ fd: 1, readable: false, writable: true });
    }
  } catch {
    // Standard output is closed: Node's own stands in for it.
  }
  return process.stdout;
}

function say(text: string): void {
  try {
    writeSync(2, `acp-master: ${text}\n`);
  } catch {
    // Nobody listens.
  }
}
