// A real child process that runs a few lines of JavaScript. Disposing kills it and waits until it is gone.
import type { ChildProcessByStdio } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

export class ScriptChild implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly exited: Promise<unknown>;

  constructor(script: string) {
    this.process = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
    this.exited = once(this.process, "exit");
  }

  kill(): void {
    this.process.kill("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.exited;
  }
}
