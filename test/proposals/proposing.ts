// What the tests of direct proposals stand on: a real Helper that offers them (a module for the daemon), the real program
// acp-propose in a real shell, and a user interface at the review endpoint.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Card, openReview, type ReviewClient, type ReviewEvent } from "@acp-master/helper-sdk/review";
import { eventually, Seen, within } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import type { Master } from "../harness/master.ts";
import { Program } from "../harness/program.ts";
import type { Conversation } from "../permissions/conversation.ts";

export const heading = "[acp-master proposal]";

/** A Helper of presets and proposals whose executor writes down what it is given. */
export class ProposingHelper implements Disposable {
  readonly folder: string = mkdtempSync(join(realpathSync(tmpdir()), "acpm-proposing-"));
  readonly use: { readonly module: string } = { module: join(this.folder, "helper.mjs") };

  constructor() {
    writeFileSync(
      this.use.module,
      `import { appendFileSync, existsSync } from "node:fs";
       import { dryRun, presetsHelper, withProposals } from "@acp-master/helper-sdk";
       const file = (name) => ${JSON.stringify(`${this.folder}/`)} + name;
       const executor = {
         ...dryRun((line) => appendFileSync(file("orders"), line + "\\n")),
         bind: ({ sessionId }) => (existsSync(file("unplaced")) ? undefined : "pane of " + sessionId),
         isThere: () => !existsSync(file("gone")),
         context: (target) => "What stands in the " + target,
       };
       export default withProposals(presetsHelper, { executor });`,
    );
  }

  /** What the executor was given, a line for each action. */
  get orders(): string[] {
    const file = join(this.folder, "orders");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  }

  /** `gone`: nothing can be carried out. `unplaced`: no place is active. */
  set(state: "gone" | "unplaced", isSo: boolean): void {
    const file = join(this.folder, state);
    if (isSo) writeFileSync(file, "");
    else rmSync(file, { force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A user interface of a person. */
export class Reviewer implements AsyncDisposable {
  readonly events = new Seen<ReviewEvent>("reviewer", (event) => JSON.stringify(event));
  readonly client: ReviewClient;
  #close!: (reason: string | undefined) => void;
  readonly closed: Promise<string | undefined>;
  /** Of the review endpoint. */
  readonly path: string;

  constructor(path: string, name = "a person", place?: string) {
    this.path = path;
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.client = openReview({
      path,
      name,
      ...(place === undefined ? {} : { place }),
      onEvent: (event) => this.events.add(event),
      onClose: (reason) => {
        this.events.end(reason ?? "closed");
        this.#close(reason);
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.closed;
  }

  /** The next card; the person sees it. */
  async card(sessionId?: string): Promise<Card> {
    const event = await this.events.take(
      (each) => each.type === "card" && (sessionId === undefined || each.card.sessionId === sessionId),
      "a card",
    );
    if (event.type !== "card") throw new Error("unreachable");
    this.client.shown(event.card.proposalId);
    return event.card;
  }

  async over(proposalId: string): Promise<Extract<ReviewEvent, { type: "over" }>> {
    const event = await this.events.waitFor(
      (each) => each.type === "over" && each.proposalId === proposalId,
      "the end of a card",
    );
    if (event.type !== "over") throw new Error("unreachable");
    return event;
  }
}

export interface PayloadOptions {
  readonly origin?: string;
  readonly actions?: readonly object[];
  readonly choices?: readonly object[];
}

export function payload(
  input = "echo yes",
  { origin = "terminal_agent", actions, choices }: PayloadOptions = {},
): string {
  const first = { choice: 1, title: "Say it", actions: actions ?? [{ type: "send", input }] };
  return JSON.stringify({ schema_version: 1, origin, choices: choices ?? [first] });
}

/** The block that this turn's prompt ended with; undefined when it had none. */
export function blockOf(prompt: Message): string | undefined {
  const last: Loose = prompt.params.prompt.at(-1);
  return typeof last.text === "string" && last.text.startsWith(heading) ? last.text : undefined;
}

/** The command of a prompt block, filled in as the block says. */
export function commandIn(block: string | undefined, json: string): string {
  const line = block?.split("\n").find((each) => each.includes("--channel"));
  if (line === undefined) throw new Error("the prompt has no line with a command");
  return line.replace("<json>", () => json.replaceAll("'", "'\\''"));
}

export function commandOf(talk: Conversation, json: string): string {
  return commandIn(blockOf(talk.turn.prompt.message), json);
}

/** The agent's shell runs a command. */
export function runInShell(talk: Conversation, command: string): Program {
  const program = new Program("sh", ["-c", command], { env: talk.process.env, cwd: talk.master.work });
  program.child.stdin.end();
  talk.master.own({ [Symbol.asyncDispose]: async () => void (await program.end("SIGKILL", 5_000)) });
  return program;
}

let calls = 0;

/** The agent asks for this command and gets the one answer that there may be without a question. */
export async function approved(talk: Conversation, command: string, more: Loose = {}): Promise<void> {
  const toolCallId = `propose-${(calls += 1)}`;
  const toolCall = { kind: "execute", rawInput: { command }, ...more };
  await talk.process.update(talk.sessionId, {
    sessionUpdate: "tool_call",
    toolCallId,
    title: "Run a command",
    status: "pending",
    ...toolCall,
  });
  const answer = await talk.ask(toolCallId, { toolCall });
  if (answer.result?.outcome?.optionId !== "yes") throw new Error(`not approved: ${JSON.stringify(answer)}`);
}

/** Approved, run, shown, accepted: what waits for the person. */
export async function proposed(
  talk: Conversation,
  reviewer: Reviewer,
  json = payload(),
): Promise<{ readonly card: Card; readonly program: Program; readonly command: string }> {
  const command = commandOf(talk, json);
  await approved(talk, command);
  const program = runInShell(talk, command);
  const card = await reviewer.card(talk.sessionId);
  await eventually(() => program.stdout.includes("\n"), "the validation line");
  return { card, program, command };
}

/** What acp-propose printed, and how it ended. */
export async function linesOf(program: Program): Promise<{ readonly code: number | null; readonly lines: Loose[] }> {
  const { code } = await within(program.exited, "acp-propose ends", 20_000, () => program.stderr);
  const lines = program.stdout.split("\n").filter((line) => line !== "");
  return { code, lines: lines.map((line) => JSON.parse(line)) };
}

export async function rowOf(master: Master, sessionId: string): Promise<Loose> {
  const client = await master.client();
  await client.initialize({ agent: null });
  const { sessions } = await client.call("_acp-master/sessions", {});
  await client.close();
  return sessions.find((row: Loose) => row.sessionId === sessionId);
}

/** A user interface of the session's Helper. */
export async function reviewerOf(talk: Conversation, name?: string, place?: string): Promise<Reviewer> {
  const { review } = await rowOf(talk.master, talk.sessionId);
  return new Reviewer(review, name, place);
}
