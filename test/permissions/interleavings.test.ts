// Random stories through the whole daemon: real sockets, real files, real Helper and agent processes, and kill -9 among the
// events. Whatever comes in whatever order, each question ends once, is recorded once, and no allow comes from nowhere.
// `npm run test:interleavings` tells 2,000 stories; the usual run a few.
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { isResponse, type Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper, type ScriptedHelperProcess } from "../harness/scripted-helper.ts";
import { askingAgent, converse, decisions, PERMISSION, selected } from "./conversation.ts";
import { Random } from "../harness/random.ts";
import { Story } from "./story.ts";

const wanted = Number(process.env["INTERLEAVINGS"] ?? 100);
const seed = Number(process.env["SEED"] ?? Date.now() % 1e9);
const atOnce = 25;

const presets = [
  { value: "closed", name: "Closed", width: 0, refuseAll: true },
  { value: "talk", name: "Talk", width: 2 },
  { value: "free", name: "Free", width: 4, confirm: true },
];

type Killed = "nobody" | "helper" | "agent" | "daemon";
const victims: readonly Killed[] = ["helper", "daemon", "agent", "nobody", "helper", "nobody"];

class World {
  readonly random = new Random(seed);
  /** Tool calls that somebody allowed. */
  readonly allowed = new Set<string>();
  readonly outcomes = new Map<string, number>();
  agent!: ScriptedAgent;
  helper!: ScriptedHelper;
  master!: Master;
  watcher!: RawClient;
  #round = 0;

  /** A few stories at once in one daemon, with somebody killed in between. */
  async round(killed: Killed): Promise<void> {
    const round = ++this.#round;
    this.#configure(round);
    const stories: Story[] = [];
    for (let n = 0; n < atOnce; n++) {
      const talking = await converse(this.master, { agent: "fake", events: false });
      stories.push(new Story(talking, `r${round}s${n}`, new Random(this.random.below(2 ** 31)), this.allowed));
    }
    const telling = Promise.allSettled(stories.map((story) => story.tell(6 + this.random.below(10))));
    if (killed !== "nobody") await this.#kill(killed, stories);
    const told = await telling;
    // Only those whose agent or daemon was killed may fail to be told to their end.
    const failed = told.find((one) => one.status === "rejected");
    if (failed?.status === "rejected" && killed !== "agent" && killed !== "daemon") throw failed.reason;
    await Promise.all(stories.map((story) => story.end(this.watcher).catch(() => {})));
    const isGone = killed === "agent" || killed === "daemon";
    // Each answer was written before its session was closed; it may still be on its way through the agent to here.
    await eventually(
      () => stories.map((story) => this.#collect(story)).every((isAnswered) => isAnswered || isGone),
      "every question is answered",
    ).catch(() => {}); // what is missing is told below
    await this.#judge(stories, killed, isGone);
  }

  // Each round has another Helper program, so that deaths of one round do not count in the next; that is a swap, too.
  #configure(round: number): void {
    const { use } = this.helper;
    this.master.configure({
      agents: { fake: this.agent },
      config: {
        helper: { use: { command: [...use.command, String(round)] }, isolation: "shared", decideSeconds: 0.5 },
        approvals: {
          preset: "talk",
          timeoutSeconds: this.random.pick([0, 0.2, 5]),
          noClientSeconds: this.random.pick([0.1, 5]),
        },
      },
    });
  }

  async #kill(killed: Killed, stories: readonly Story[]): Promise<void> {
    await eventually(() => stories.some((story) => story.questions.length > 1), "a question is asked");
    if (killed === "helper") {
      const running = this.helper.processes.filter((process) => !process.messages.ended);
      await running.at(-1)?.kill();
    } else if (killed === "agent") {
      await stories[0]!.talking.process.signal("SIGKILL");
    } else {
      await this.master.kill9();
      await this.start();
    }
  }

  async start(): Promise<void> {
    await this.master.serve();
    await this.watch();
  }

  async watch(): Promise<void> {
    this.watcher = await this.master.client();
    await this.watcher.initialize({ agent: null, events: true });
  }

  #collect(story: Story): boolean {
    const answers = story.talking.process.lines.all.map(({ message }) => message).filter((one) => isResponse(one));
    for (const question of story.questions) question.answers = answers.filter(({ id }) => id === question.requestId);
    return story.questions.every((question) => question.answers.length > 0);
  }

  async #judge(stories: readonly Story[], killed: Killed, isGone: boolean): Promise<void> {
    const questions = stories.flatMap((story) => story.questions);
    const recorded = grouped(decisions(this.master), (line) => line.toolCallId);
    const resolved = grouped(
      this.watcher.received("_acp-master/event").filter(({ params }) => params.type === "approval_resolved"),
      ({ params }) => params.toolCallId,
    );
    for (const { toolCallId, answers } of questions) {
      const told = `${toolCallId} (seed ${seed}): ${JSON.stringify(answers)}`;
      const records = recorded.get(toolCallId) ?? [];
      const [answer] = answers;
      if (isGone) {
        expect(answers.length, told).toBeLessThanOrEqual(1);
        expect(records.length, told).toBeLessThanOrEqual(1);
        // What reached the agent was recorded before.
        if (answer) expect(records, told).toHaveLength(1);
      } else {
        expect(answers, told).toHaveLength(1);
        expect(records, told).toHaveLength(1);
        expect(resolved.get(toolCallId) ?? [], told).toHaveLength(1);
      }
      if (answer) this.#compare(answer.result, records[0], told, toolCallId);
    }
    if (killed !== "daemon") {
      const { approvals } = await this.watcher.call("_acp-master/approvals", {});
      const left = approvals.filter((row: Loose) => questions.some(({ toolCallId }) => toolCallId === row.toolCallId));
      expect(left, `left open (seed ${seed})`).toEqual([]);
    }
  }

  #compare(result: Loose, record: Loose, told: string, toolCallId: string): void {
    expect(result?.outcome, told).toBeDefined();
    const { outcome, by } = record;
    const way = `${outcome.result} by ${by.kind}`;
    this.outcomes.set(way, (this.outcomes.get(way) ?? 0) + 1);
    if (outcome.result === "selected") expect(result.outcome.optionId, told).toBe(outcome.optionId);
    if (result.outcome.optionId !== "yes") return;
    expect(outcome, told).toEqual({ result: "selected", optionId: "yes" });
    expect(this.allowed.has(toolCallId), `${told}: an allow that nobody gave`).toBe(true);
  }

  /** The Helper's answers are chance, too: at once, late, wrong, or never. */
  decide(params: Loose, process: ScriptedHelperProcess, message: Loose): undefined {
    const { toolCallId } = params.toolCall;
    const [result, lateMs] = this.random.pick<[Loose, number]>([
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 0],
      [{ outcome: { outcome: "ask" } }, 10],
      [selected("yes"), 0],
      [selected("yes"), 30],
      [selected("no"), 0],
      [{ outcome: { outcome: "cancelled" } }, 5],
      [selected("maybe"), 0],
      [{}, 5],
      [undefined, 0],
    ]);
    if (result?.outcome?.optionId === "yes") this.allowed.add(toolCallId);
    if (result === undefined) return;
    if (lateMs === 0) process.answer(message, result);
    else setTimeout(() => process.answer(message, result), lateMs);
  }
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

it(
  "every question gets one answer and one record, an allow only from somebody who gave it, whoever dies in between",
  async () => {
    const world = new World();
    await using agent = askingAgent();
    await using helper = scriptedHelper({ presets });
    helper.setAuto(PERMISSION, (params, process, message) => world.decide(params, process, message));
    await using master = await startMaster({ agents: { fake: agent } });
    Object.assign(world, { agent, helper, master });
    await world.watch();
    const rounds = Math.ceil(wanted / atOnce);
    for (let n = 0; n < rounds; n++) {
      const killed = victims[n % victims.length]!;
      const began = performance.now();
      await world.round(killed);
      if (process.env["SHOW"]) console.log(n, killed, Math.round(performance.now() - began), "ms");
    }
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
    if (process.env["INTERLEAVINGS"] === undefined) return;
    console.log(`${rounds * atOnce} stories, seed ${seed}`, Object.fromEntries(world.outcomes));
    // The stories are worth nothing unless every way to end occurs in them.
    for (const way of [
      "selected by client",
      "selected by helper",
      "refused by client",
      "refused by preset",
      "cancelled by cancel",
      "cancelled by helper",
      "expired by expiry",
      "expired by no_client",
      "unavailable by helper",
      "superseded by superseded",
    ]) {
      expect(world.outcomes.get(way), way).toBeGreaterThan(0);
    }
  },
  20_000 + wanted * 400,
);
