// A Helper whose every answer is the test's: a real program (scripted-helper.mjs) that the master starts, told what to do
// over a socket. What is not said otherwise it answers like a Helper that leaves everything to people.
import { randomBytes } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deferred, patient, Seen, within } from "./events.ts";
import { isRequest, LineSplitter, type Loose, type Message } from "./lines.ts";
import { processGone } from "./processes.ts";

/** A result, or a function that gives one; undefined or `false` leaves the request to the test. */
export type HelperAuto = object | false | ((params: Loose, helper: ScriptedHelperProcess, message: Message) => Loose);

export interface ScriptedHelperOptions {
  /** What `helper/session_start` declares. */
  readonly presets?: readonly object[];
  readonly hooks?: readonly string[];
  /** Answers by method, over the defaults. */
  readonly auto?: Readonly<Record<string, HelperAuto>>;
}

const program = fileURLToPath(new URL("./scripted-helper.mjs", import.meta.url));

/** One started process of a scripted Helper. */
export class ScriptedHelperProcess {
  readonly pid: number;
  readonly messages: Seen<Message>;
  readonly gone: Promise<void>;
  readonly #over = new Deferred<void>();
  readonly #control: Socket;

  constructor(control: Socket, pid: number, index: number) {
    this.#control = control;
    this.pid = pid;
    this.gone = this.#over.promise;
    this.messages = new Seen<Message>(`helper process ${index} (pid ${pid})`, (message) => JSON.stringify(message));
  }

  /** The next message of this method (or that fits) that no `received` gave before. */
  received(fits: string | ((message: Message) => boolean), deadlineMs?: number): Promise<Message> {
    const test = typeof fits === "string" ? (message: Message) => message.method === fits : fits;
    return this.messages.take(test, typeof fits === "string" ? fits : "a fitting message", deadlineMs);
  }

  count(method: string): number {
    return this.messages.all.filter((message) => message.method === method).length;
  }

  /** Writes exactly these bytes to its standard output. */
  sendRaw(bytes: Buffer | string): void {
    this.#do({ do: "write", bytes: Buffer.from(bytes).toString("base64") });
  }

  send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.sendRaw(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  answer(request: Message, result: Loose): void {
    this.send({ id: request.id, result });
  }

  fail(request: Message, code: number, message = "failed"): void {
    this.send({ id: request.id, error: { code, message } });
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  print(text: string): void {
    this.#do({ do: "print", text });
  }

  /** Stops reading, as a Helper that hangs; `resumeInput` goes on. */
  pauseInput(): void {
    this.#do({ do: "pauseInput" });
  }

  resumeInput(): void {
    this.#do({ do: "resumeInput" });
  }

  async exit(code = 0): Promise<void> {
    this.#do({ do: "exit", code });
    await processGone(this.pid);
  }

  async kill(): Promise<void> {
    process.kill(this.pid, "SIGKILL");
    await processGone(this.pid);
  }

  /** Called by the control server. */
  ended(): void {
    this.messages.end("the process is gone");
    this.#over.resolve();
  }

  #do(command: object): void {
    if (!this.#control.destroyed) this.#control.write(`${JSON.stringify(command)}\n`);
  }
}

export class ScriptedHelper implements AsyncDisposable {
  /** For `helper.use` in a configuration. */
  readonly use: { readonly command: readonly string[] };
  readonly processes: ScriptedHelperProcess[] = [];
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Map<number, Deferred<ScriptedHelperProcess>>();
  readonly #auto: Record<string, HelperAuto>;

  constructor(options: ScriptedHelperOptions) {
    this.#folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-helper-"));
    const control = join(this.#folder, `${randomBytes(4).toString("hex")}.sock`);
    this.#server = createServer((socket) => this.#accept(socket)).listen(control);
    this.use = { command: [process.execPath, program, control] };
    const { presets, hooks = [] } = options;
    this.#auto = {
      "helper/initialize": { protocolVersion: 1, helper: { name: "scripted", version: "1" }, hooks },
      "helper/session_start": presets === undefined ? {} : { presets },
      "session/request_permission": { outcome: { outcome: "ask" } },
      "helper/turn_start": {},
      "helper/tool_call": { verdict: "pass", final: true },
      "helper/session_end": {},
      "helper/shutdown": {},
      ...options.auto,
    };
  }

  /** The n-th process that was started (from 0), as soon as it has started. */
  process(n = 0, deadlineMs?: number): Promise<ScriptedHelperProcess> {
    const there = this.processes[n];
    if (there !== undefined) return Promise.resolve(there);
    const waiting = this.#waiting.get(n) ?? new Deferred<ScriptedHelperProcess>();
    this.#waiting.set(n, waiting);
    const started = (): string => `${this.processes.length} processes were started`;
    return patient(within(waiting.promise, `process ${n} of the scripted Helper starts`, deadlineMs, started));
  }

  setAuto(method: string, answer: HelperAuto): void {
    this.#auto[method] = answer;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let helper: ScriptedHelperProcess | undefined;
    const splitter = new LineSplitter((bytes) => {
      const event: Loose = JSON.parse(bytes.toString("utf8"));
      if (event.event === "hello") helper = this.#started(socket, event.pid);
      else if (event.event === "message" && helper !== undefined) this.#message(helper, JSON.parse(event.body));
    });
    socket.on("data", (chunk: Buffer) => splitter.push(chunk));
    socket.on("error", () => {}); // a killed process resets; "close" follows
    socket.on("close", () => {
      this.#sockets.delete(socket);
      helper?.ended();
    });
  }

  #started(socket: Socket, pid: number): ScriptedHelperProcess {
    const index = this.processes.length;
    const helper = new ScriptedHelperProcess(socket, pid, index);
    this.processes.push(helper);
    this.#waiting.get(index)?.resolve(helper);
    this.#waiting.delete(index);
    return helper;
  }

  #message(helper: ScriptedHelperProcess, message: Message): void {
    helper.messages.add(message);
    if (!isRequest(message)) return;
    const auto = this.#auto[message.method ?? ""];
    if (auto === undefined || auto === false) return;
    const result: unknown = typeof auto === "function" ? auto(message.params, helper, message) : auto;
    if (result !== undefined) helper.answer(message, result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** `await using helper = scriptedHelper({ … })`, before the master that uses it. */
export const scriptedHelper = (options: ScriptedHelperOptions = {}): ScriptedHelper => new ScriptedHelper(options);
