// One random story about permissions in one session: questions, answers of every kind, cancels, losses. It knows who
// gave an allow to what, and keeps all that the agent got, so that its round can judge it.
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { PERMISSION, selected, yesNo, type Conversation } from "./conversation.ts";
import type { Random } from "../harness/random.ts";

export interface Question {
  readonly toolCallId: string;
  readonly requestId: string;
  /** What the agent got, in order. */
  answers: Message[];
}

export class Story {
  readonly questions: Question[] = [];
  readonly talking: Conversation;
  readonly #random: Random;
  readonly #name: string;
  readonly #allowed: Set<string>;
  readonly #clients: RawClient[] = [];
  #turns = false;

  /** `allowed` gets the tool calls that somebody allowed, rightly or too late. */
  constructor(talking: Conversation, name: string, random: Random, allowed: Set<string>) {
    this.talking = talking;
    this.#name = name;
    this.#random = random;
    this.#allowed = allowed;
    this.#clients.push(talking.client);
    this.#turns = true;
    // A turn that a cancel or the end of something ends elsewhere is not this story's concern.
    talking.turn.done.catch(() => {});
  }

  async tell(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await this.#step();
    if (this.#random.below(3) > 0) return;
    // Some let the time run, with people there or not.
    if (this.#random.below(2) === 0) for (const client of this.#clients.splice(0)) await client.close();
    await eventually(() => this.#isAnswered(), "every question ends by itself", 600).catch(() => {});
  }

  #isAnswered(): boolean {
    const ids = new Set(this.talking.process.lines.all.map(({ message }) => message.id));
    return this.questions.every(({ requestId }) => ids.has(requestId));
  }

  /** Some question that this client was asked, waiting a little for the first; mostly one of the newest. */
  async #offer(client: RawClient): Promise<Message | undefined> {
    await client.lines.waitFor(({ message }) => message.method === PERMISSION, "a question", 60).catch(() => {});
    const offers = client.received(PERMISSION);
    const among = this.#random.below(4) === 0 ? offers : offers.slice(-2);
    return among.length === 0 ? undefined : this.#random.pick(among);
  }

  /** Whatever is open ends with the session. */
  async end(watcher: RawClient): Promise<void> {
    const { sessionId } = this.talking;
    await watcher.request("_acp-master/session/close", { sessionId });
    for (const client of this.#clients) await client.close();
  }

  async #step(): Promise<void> {
    const roll = this.#random.below(100);
    const { sessionId, process } = this.talking;
    if (roll < 25) await this.#ask();
    else if (roll < 60) await this.#answer();
    else if (roll < 70) await this.#answerById();
    else if (roll < 74) await this.#agentCancels();
    else if (roll < 82) await this.#update("in_progress");
    else if (roll < 85) await this.#update(this.#random.pick(["completed", "failed"]));
    else if (roll < 88) await this.#turn();
    else if (roll < 90) await this.#cancel();
    else if (roll < 95) await this.#comesOrGoes();
    else if (roll < 97) await this.#switch();
    else await process.say(sessionId, "hm");
  }

  #any(): Question | undefined {
    return this.questions.length === 0 ? undefined : this.#random.pick(this.questions);
  }

  async #ask(): Promise<void> {
    const n = this.questions.length;
    const toolCallId = `${this.#name}-${n}`;
    const question: Question = { toolCallId, requestId: toolCallId, answers: [] };
    this.questions.push(question);
    const { sessionId, process } = this.talking;
    const toolCall = { toolCallId, title: "Run", kind: "execute", rawInput: { command: "true" } };
    await process.send({
      jsonrpc: "2.0",
      id: question.requestId,
      method: PERMISSION,
      params: { sessionId, toolCall, options: yesNo },
    });
  }

  /** An answer in any dialog that any of its clients ever had: right, wrong, late or twice. */
  async #answer(): Promise<void> {
    const client = this.#random.pick(this.#clients);
    const offer = await this.#offer(client);
    if (offer === undefined) return;
    const { id, params } = offer;
    const answer = this.#random.pick<Loose>([
      { result: selected("yes") },
      { result: selected("yes") },
      { result: selected("no") },
      { result: selected("maybe") },
      { result: { outcome: { outcome: "cancelled" } } },
      { result: {} },
      { error: { code: -32603, message: "no" } },
    ]);
    if (answer.result?.outcome?.optionId === "yes") this.#allowed.add(params.toolCall.toolCallId);
    await client.send({ jsonrpc: "2.0", id, ...answer });
  }

  async #answerById(): Promise<void> {
    const client = this.#random.pick(this.#clients);
    const params = (await this.#offer(client))?.params;
    if (params === undefined) return;
    const outcome = this.#random.pick<Loose>([selected("yes"), selected("no"), selected("maybe")]).outcome;
    if (outcome.optionId === "yes") this.#allowed.add(params.toolCall.toolCallId);
    const { approvalId } = params._meta["acp-master"];
    await client.send({
      jsonrpc: "2.0",
      id: `by-id-${this.#random.below(1e9)}`,
      method: "_acp-master/approval/answer",
      params: { approvalId, outcome },
    });
  }

  async #agentCancels(): Promise<void> {
    const question = this.#any();
    if (question) await this.talking.process.notify("$/cancel_request", { requestId: question.requestId });
  }

  async #update(status: string): Promise<void> {
    const toolCallId = this.#any()?.toolCallId;
    if (toolCallId === undefined) return;
    await this.talking.process.update(this.talking.sessionId, {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status,
    });
  }

  /** The turn ends, or one begins. */
  async #turn(): Promise<void> {
    const { talking } = this;
    if (this.#turns) {
      this.#turns = false;
      await talking.process.answer(talking.turn.prompt, { stopReason: "end_turn" });
      return;
    }
    const client = this.#clients.at(0);
    if (client === undefined) return;
    this.#turns = true;
    await talking.startTurn(client);
    talking.turn.done.catch(() => {});
  }

  async #cancel(): Promise<void> {
    const { sessionId } = this.talking;
    await this.#random.pick(this.#clients).notify("session/cancel", { sessionId });
    if (!this.#turns) return;
    this.#turns = false;
    await this.talking.process.answer(this.talking.turn.prompt, { stopReason: "cancelled" });
  }

  /** Another client joins, or one is gone without a word; the last one sometimes, too. */
  async #comesOrGoes(): Promise<void> {
    const isFull = this.#clients.length > 2;
    if (isFull || (this.#clients.length > 1 && this.#random.below(3) === 0)) {
      const at = this.#random.below(this.#clients.length);
      const [gone] = this.#clients.splice(at, 1);
      await gone?.close();
    } else {
      this.#clients.push(await this.talking.join({ events: false }));
    }
  }

  async #switch(): Promise<void> {
    const preset = this.#random.pick(["talk", "talk", "free", "closed"]);
    const { sessionId } = this.talking;
    await this.#random.pick(this.#clients).send({
      jsonrpc: "2.0",
      id: `preset-${this.#random.below(1e9)}`,
      method: "_acp-master/session/preset",
      params: { sessionId, preset, confirm: true },
    });
  }
}
