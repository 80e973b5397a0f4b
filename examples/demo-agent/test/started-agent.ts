// The built demo agent as a child, with the official SDK's client on its other side.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  ndJsonStream,
  type ClientApp,
  type ClientCapabilities,
  type ClientContext,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { leftovers } from "../../../test/harness/processes.ts";
import { demoAgentProgram, Program, type Exit } from "../../../test/harness/program.ts";

export interface StartOptions {
  readonly capabilities?: ClientCapabilities;
  /** The option id to select, or undefined for the outcome cancelled. */
  readonly answer?: (request: RequestPermissionRequest) => string | undefined | Promise<string | undefined>;
  /** Adds handlers to the client. */
  readonly extend?: (app: ClientApp) => void;
  /** The folder of an earlier run, to find its sessions again. */
  readonly folder?: string;
}

export class StartedAgent implements AsyncDisposable {
  readonly folder: string;
  readonly program: Program;
  readonly agent: ClientContext;
  readonly updates: SessionNotification[] = [];
  readonly questions: RequestPermissionRequest[] = [];
  readonly #capabilities: ClientCapabilities;
  readonly #ownsFolder: boolean;

  constructor(options: StartOptions = {}) {
    this.#ownsFolder = options.folder === undefined;
    this.folder = options.folder ?? mkdtempSync(join(realpathSync(tmpdir()), "demo-agent-"));
    this.#capabilities = options.capabilities ?? {};
    const env = { PATH: process.env.PATH ?? "", XDG_STATE_HOME: join(this.folder, "state") };
    this.program = new Program(process.execPath, [demoAgentProgram], { env, cwd: this.folder });
    const app = client()
      .onNotification("session/update", ({ params }) => void this.updates.push(params))
      .onRequest("session/request_permission", async ({ params }) => {
        this.questions.push(params);
        const optionId = await options.answer?.(params);
        return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
      });
    options.extend?.(app);
    const { stdin, stdout } = this.program.child;
    this.agent = app.connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout))).agent;
  }

  initialize() {
    return this.agent.request("initialize", { protocolVersion: 1, clientCapabilities: this.#capabilities });
  }

  async newSession(): Promise<string> {
    await this.initialize();
    return (await this.agent.request("session/new", { cwd: this.folder, mcpServers: [] })).sessionId;
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  of<Kind extends SessionUpdate["sessionUpdate"]>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates
      .map((one) => one.update)
      .filter((update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind);
  }

  get text(): string {
    return this.of("agent_message_chunk")
      .map(({ content }) => (content.type === "text" ? content.text : ""))
      .join("");
  }

  get savedSessions(): number {
    return readdirSync(join(this.folder, "state", "acp-master-demo-agent")).length;
  }

  /** Closes its stdin and waits for its end. */
  finish(): Promise<Exit> {
    this.program.child.stdin.end();
    return this.program.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.finish();
    const left = await leftovers(this.folder, 2_000);
    if (this.#ownsFolder) rmSync(this.folder, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`left behind: ${left.map((one) => `${one.pid} ${one.command}`).join("; ")}`);
  }
}
