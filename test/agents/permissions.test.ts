// One permission of a real agent before two clients, and every way in which it can end: what the agent's side of the wire
// sees is what the rules say. A tap between the master and the agent notes its lines.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { AgentEntry } from "../harness/home.ts";
import { isRequest, isResponse, lineOf, type Line, type Loose, type Message } from "../harness/lines.ts";
import { Master } from "../harness/master.ts";
import { descendantsOf } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import { ScriptedModel } from "../model/server.ts";
import { realAgents, type RealAgent } from "./real-agents.ts";

const PERMISSION = "session/request_permission";
const turnMs = 60_000;
const tap = new URL("./wire-tap.mjs", import.meta.url).pathname;

interface Settings {
  readonly approvals?: Loose;
  readonly helper?: ScriptedHelper;
}

/** A master with one real agent whose question is open in two clients. */
class Scene implements AsyncDisposable {
  readonly master = new Master();
  readonly #agent: RealAgent;
  readonly #model: ScriptedModel;
  readonly #wire: string;
  client!: RawClient;
  other!: RawClient;
  sessionId!: string;
  file!: string;
  turn!: Promise<Message>;

  private constructor(agent: RealAgent, model: ScriptedModel) {
    this.#agent = agent;
    this.#model = model;
    this.#wire = join(this.master.folder, "wire");
  }

  static async open(agent: RealAgent, settings: Settings = {}): Promise<Scene> {
    const scene = new Scene(agent, await ScriptedModel.start());
    try {
      await scene.#start(settings);
    } catch (cause) {
      await scene[Symbol.asyncDispose]();
      throw cause;
    }
    return scene;
  }

  async #start({ approvals = {}, helper }: Settings): Promise<void> {
    const { master } = this;
    const folder = join(master.folder, "agent");
    mkdirSync(folder);
    const { command, args = [], ...entry } = this.#agent.define(folder, this.#model.url);
    const tapped: AgentEntry = { ...entry, command: process.execPath, args: [tap, this.#wire, command, ...args] };
    master.configure({
      config: { helper: { use: helper?.use ?? "ask" }, approvals },
      agents: { [this.#agent.name]: tapped },
    });
    await master.serve();
    this.client = await master.client();
    await this.client.initialize({ agent: this.#agent.name, events: true });
    ({ sessionId: this.sessionId } = await this.client.newSession());
    this.other = await master.client();
    await this.other.initialize({ agent: null, events: true });
    await this.other.call("session/load", { sessionId: this.sessionId, cwd: master.work, mcpServers: [] });
    this.file = join(master.work, "touched");
    this.turn = this.client.prompt(this.sessionId, this.#agent.touch(this.file), turnMs);
    this.turn.catch(() => {}); // a test may end the client before its turn
  }

  question(client: RawClient): Promise<Line> {
    return client.next(PERMISSION, turnMs);
  }

  /** The lines that the agent got and wrote, in order. */
  lines(direction: "in" | "out"): Message[] {
    const text = existsSync(this.#wire) ? readFileSync(this.#wire, "utf8") : "";
    return text
      .split("\n")
      .filter((line) => line.startsWith(`${direction} `))
      .map((line) => lineOf(Buffer.from(line.slice(direction.length + 1))).message);
  }

  /** What the agent was answered to its questions, one list for each. */
  answers(): Loose[][] {
    const asked = this.lines("out").filter((message) => isRequest(message) && message.method === PERMISSION);
    const got = this.lines("in").filter((message) => isResponse(message));
    return asked.map(({ id }) =>
      got.filter((message) => message.id === id).map((message) => message.result ?? "error"),
    );
  }

  async answered(): Promise<Loose> {
    const answers = await eventually(() => {
      const all = this.answers();
      return all.length > 0 && all[0]!.length > 0 && all;
    }, "the agent is answered");
    expect(answers[0]).toHaveLength(1);
    return answers[0]![0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.master[Symbol.asyncDispose]();
    } finally {
      await this.#model[Symbol.asyncDispose]();
    }
  }
}

const optionOf = (question: Line, kind: string): string =>
  question.message.params.options.find((option: Loose) => option.kind === kind).optionId;
const selected = (optionId: string): Loose => ({ outcome: { outcome: "selected", optionId } });
const cancelled = { outcome: { outcome: "cancelled" } };

/** What an automatic refusal of this question is: its only reject_once, else its only reject_always, else cancelled. */
function refusalOf(question: Line): Loose {
  for (const kind of ["reject_once", "reject_always"]) {
    const [only, second] = question.message.params.options.filter((option: Loose) => option.kind === kind);
    if (only && !second) return selected(only.optionId);
  }
  return cancelled;
}

describe.each(realAgents)("a permission of $name in two clients", (agent) => {
  it.each(["allow_once", "reject_once"])("that one of them answers with %s closes in the other", async (kind) => {
    await using scene = await Scene.open(agent);
    const [mine, theirs] = [await scene.question(scene.client), await scene.question(scene.other)];
    const { approvalId } = mine.message.params._meta["acp-master"];
    expect(theirs.message.params._meta["acp-master"].approvalId).toBe(approvalId);
    const result = selected(optionOf(theirs, kind));
    await scene.other.send({ jsonrpc: "2.0", id: theirs.message.id, result });
    expect(await scene.answered()).toEqual(result);
    const withdrawn = await scene.client.waitFor("$/cancel_request");
    expect(withdrawn.message.params.requestId).toBe(mine.message.id);
    // The late one decides nothing.
    await scene.client.send({ jsonrpc: "2.0", id: mine.message.id, result: selected(optionOf(mine, "allow_once")) });
    await scene.turn;
    expect(scene.answers()[0]).toEqual([result]);
    expect(existsSync(scene.file)).toBe(agent.really && kind === "allow_once");
  });

  it("is cancelled with the turn, in both", async () => {
    await using scene = await Scene.open(agent);
    const questions = [await scene.question(scene.client), await scene.question(scene.other)];
    await scene.client.notify("session/cancel", { sessionId: scene.sessionId });
    expect(await scene.answered()).toEqual(cancelled);
    for (const [n, client] of [scene.client, scene.other].entries()) {
      const withdrawn = await client.waitFor("$/cancel_request");
      expect(withdrawn.message.params.requestId).toBe(questions[n]!.message.id);
    }
    expect((await scene.turn).result.stopReason).toBe(agent.cancelled);
    expect(existsSync(scene.file)).toBe(false);
  });

  it("is refused when its time is over", async () => {
    await using scene = await Scene.open(agent, { approvals: { timeoutSeconds: 0.5 } });
    const question = await scene.question(scene.client);
    expect(await scene.answered()).toEqual(refusalOf(question));
    await scene.client.waitFor(
      ({ params }) => params?.type === "approval_resolved" && params.outcome.result === "expired",
    );
    await scene.turn;
    expect(existsSync(scene.file)).toBe(false);
  });

  it("is refused when its Helper is killed over it twice, and nobody is asked", async () => {
    await using helper = scriptedHelper({ auto: { [PERMISSION]: false } });
    await using scene = await Scene.open(agent, { helper });
    for (const n of [0, 1]) {
      const process = await helper.process(n, turnMs);
      await process.received(PERMISSION, turnMs);
      await process.kill();
    }
    const question = scene.lines("out").find((message) => message.method === PERMISSION);
    expect(await scene.answered()).toEqual(refusalOf({ ...lineOf(Buffer.from("{}")), message: question! }));
    await scene.turn;
    expect(existsSync(scene.file)).toBe(false);
    await scene.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
  });

  it("stays with the other client when one is killed, and is refused when both are", async () => {
    await using scene = await Scene.open(agent, { approvals: { noClientSeconds: 0.5 } });
    const mine = await scene.question(scene.client);
    const theirs = await scene.question(scene.other);
    await scene.client.close();
    // A dialog of an earlier connection that is answered late decides nothing.
    const back = await scene.master.client();
    await back.initialize({ agent: null });
    await back.call("session/load", { sessionId: scene.sessionId, cwd: scene.master.work, mcpServers: [] });
    await scene.question(back);
    const allow = selected(optionOf(theirs, "allow_once"));
    await back.send({ jsonrpc: "2.0", id: mine.message.id, result: allow });
    await back.expectSilence(({ method }) => method === PERMISSION);
    expect(scene.answers()[0]).toEqual([]);
    await scene.other.send({ jsonrpc: "2.0", id: theirs.message.id, result: allow });
    expect(await scene.answered()).toEqual(allow);

    await using second = await Scene.open(agent, { approvals: { noClientSeconds: 0.5 } });
    await second.question(second.client);
    await second.question(second.other);
    for (const client of [second.client, second.other]) await client.close();
    expect(await second.answered()).toEqual(refusalOf(mine));
    expect(second.answers()[0]).toHaveLength(1);
  });

  it("ends with its agent when that is killed: nothing is sent, both dialogs close", async () => {
    await using scene = await Scene.open(agent);
    await scene.question(scene.client);
    await scene.question(scene.other);
    const started = descendantsOf(scene.master.pid).find((one) => one.command.includes("wire-tap.mjs"));
    process.kill(-started!.pgid, "SIGKILL");
    for (const client of [scene.client, scene.other]) {
      await client.waitFor("$/cancel_request");
      await client.waitFor(({ params }) => params?.type === "approval_resolved" && params.by.kind === "agent_exit");
    }
    expect((await scene.turn).error?.data.reason).toBe("agent_exited");
    expect(scene.answers()[0]).toEqual([]);
  });
});
