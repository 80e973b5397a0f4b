// A small world around Tickets for the interleavings: agents, clients, a Helper, a record and a clock, driven by a tape of
// bytes. It keeps its own books, by rules written down a second time, and says where Tickets broke one.
import type { AgentAnswer, TicketOption } from "../src/choice.ts";
import { decisionAfterRestart } from "../src/decision.ts";
import type { Decision } from "../src/decision.ts";
import type { TicketPorts } from "../src/ticket-ports.ts";
import type { ClientAnswer, HelperVerdict } from "../src/ticket-state.ts";
import type { TicketView } from "../src/ticket.ts";
import { Tickets } from "../src/tickets.ts";
import type { Tape } from "./tape.ts";
import { VirtualClock } from "./virtual-clock.ts";

const optionLists: readonly (readonly TicketOption[] | undefined)[] = [
  [
    { optionId: "y", kind: "allow_once" },
    { optionId: "n", kind: "reject_once" },
  ],
  [
    { optionId: "y", kind: "allow_once" },
    { optionId: "Y", kind: "allow_always" },
    { optionId: "n", kind: "reject_once" },
    { optionId: "N", kind: "reject_always" },
  ],
  [
    { optionId: "y", kind: "allow_once" },
    { optionId: "z", kind: "allow_once" },
    { optionId: "x", kind: "surprise" },
  ],
  [
    { optionId: "n", kind: "reject_once" },
    { optionId: "n", kind: "allow_once" },
    { optionId: "", kind: "allow_once" },
  ],
  [],
  undefined,
];
const optionIds = ["y", "Y", "n", "N", "z", "x", "", "foreign"];
const sessions = ["s0", "s1"];
const clients = ["c0", "c1", "c2"];
const policies = [
  { timeoutSeconds: 0, noClientSeconds: 20 },
  { timeoutSeconds: 30, noClientSeconds: 20 },
  { timeoutSeconds: 30, noClientSeconds: 0 },
];

// The first one costs nothing: it is what a tape that has run out ends with.
type Step =
  | "time"
  | "open"
  | "helper answers"
  | "client answers"
  | "answer by id"
  | "attach"
  | "detach"
  | "cancel"
  | "end"
  | "exit"
  | "ask again"
  | "narrow"
  | "refuse all"
  | "record fails"
  | "crash";

const weights: readonly (readonly [Step, number])[] = [
  ["time", 5],
  ["open", 8],
  ["helper answers", 9],
  ["client answers", 9],
  ["answer by id", 2],
  ["attach", 5],
  ["detach", 2],
  ["cancel", 1],
  ["end", 2],
  ["exit", 1],
  ["ask again", 1],
  ["narrow", 1],
  ["refuse all", 1],
  ["record fails", 1],
  ["crash", 1],
];
const steps = weights.flatMap(([step, weight]) => Array<Step>(weight).fill(step));

interface Book {
  readonly session: string;
  readonly process: string;
  readonly options: readonly TicketOption[];
  passedOn: boolean;
  asked: number;
  /** The question that the Helper has and nobody took back. */
  question: number | undefined;
  /** Questions up to this number no longer count. */
  staleUpTo: number;
  /** The preset became narrower and the Helper has not judged by it. */
  narrowed: boolean;
  readonly dialogs: Set<string>;
  /** What was answered from inside a port: the ticket may be ending at that moment and takes it back all the same. */
  readonly answeredWithin: Set<string>;
  /** How often each client was offered it since it attached. */
  readonly offers: Map<string, number>;
  recorded: number;
  written: boolean;
  answered: AgentAnswer[];
  resolved: Decision[];
}

export class World {
  readonly #tape: Tape;
  readonly #clock = new VirtualClock();
  #tickets: Tickets;
  readonly #books = new Map<string, Book>();
  readonly #attached = new Set<string>();
  readonly #exited = new Set<string>();
  readonly #process = new Map<string, string>();
  readonly #cancelling = new Set<string>();
  readonly #refusing = new Set<string>();
  /** Allows that an operation in progress has validly given: `approvalId optionId`. */
  readonly #given: string[] = [];
  #generation = 0;
  #minted = 0;
  #depth = 0;
  #recordWorks = true;
  readonly outcomes: string[] = [];
  readonly broken: string[] = [];

  constructor(tape: Tape) {
    this.#tape = tape;
    this.#tickets = this.#start();
  }

  run(): void {
    if (this.#tape.next(2) > 0) for (const session of sessions) this.#attach(session, "c0");
    while (!this.#tape.ended) this.#step();
    this.#recordWorks = true;
    this.#tickets[Symbol.dispose]();
    this.#check(this.#tickets.tickets().length === 0, "a ticket is open after the end");
    this.#check(this.#clock.pendingTimers === 0, "a timer is left after the end");
    for (const [approvalId, book] of this.#books) this.#audit(approvalId, book);
  }

  #start(): Tickets {
    const generation = ++this.#generation;
    for (const session of sessions) this.#process.set(session, `p-${session}-${generation}`);
    return new Tickets(this.#ports(), policies[this.#tape.next(policies.length)] ?? policies[0]!);
  }

  #step(): void {
    const tape = this.#tape;
    const step = tape.pick(steps);
    switch (step) {
      case "open":
        return this.#open(tape.pick(sessions));
      case "helper answers":
        return this.#helperAnswers(this.#anyTicket());
      case "client answers":
        return this.#clientAnswers(this.#anyTicket());
      case "answer by id":
        return this.#answersById(this.#anyTicket());
      case "attach":
        return this.#attach(tape.pick(sessions), tape.pick(clients));
      case "detach":
        return this.#detach(tape.pick(sessions), tape.pick(clients));
      case "cancel":
        return this.#cancel(tape.pick(sessions));
      case "end":
        return this.#end(tape.pick(sessions), this.#anyTicket());
      case "exit":
        return this.#exit(tape.pick(sessions));
      case "ask again":
        return this.#askAgain(tape.pick(sessions));
      case "narrow":
        return this.#narrow(tape.pick(sessions));
      case "refuse all":
        return this.#refuseAll(tape.pick(sessions));
      case "time":
        return this.#time();
      case "record fails":
        this.#recordWorks = tape.next(3) > 0;
        return undefined;
      case "crash":
        return tape.next(3) === 0 ? this.#crash() : undefined;
    }
  }

  #attach(session: string, client: string): void {
    this.#attached.add(`${session} ${client}`);
    this.#tickets.controllerAttached(session, client, client);
  }

  #detach(session: string, client: string): void {
    this.#attached.delete(`${session} ${client}`);
    for (const book of this.#books.values()) if (book.session === session) book.offers.delete(client);
    this.#tickets.controllerDetached(session, client);
  }

  #cancel(session: string): void {
    this.#cancelling.add(session);
    this.#tickets.turnCancelled(session);
    if (this.#depth === 0) this.#cancelling.delete(session);
  }

  #refuseAll(session: string): void {
    this.#refusing.add(session);
    this.#tickets.presetRefusesAll(session);
    if (this.#tape.next(4) > 0) this.#refusing.delete(session);
  }

  #exit(session: string): void {
    const process = this.#process.get(session) ?? "";
    this.#exited.add(process);
    this.#process.set(session, `${process}'`);
    this.#tickets.processExited(process);
  }

  #askAgain(session: string): void {
    for (const book of this.#books.values()) {
      if (book.session === session) book.staleUpTo = book.question ?? book.staleUpTo;
    }
    if (this.#tape.next(2) === 0) this.#tickets.reaskHelper(session);
    else this.#tickets.helperRestarted(session);
  }

  #open(session: string): void {
    if (this.#minted > 12) return;
    const process = this.#process.get(session) ?? "";
    if (this.#exited.has(process)) return;
    this.#tickets.open({
      session,
      sessionId: `outward ${session}`,
      agent: "agent",
      process,
      toolCallId: this.#tape.pick(["", "call", "call"]),
      options: this.#tape.next(8) < 7 ? optionLists[this.#tape.next(4)] : optionLists[4 + this.#tape.next(2)],
      paramsDigest: "",
      turn: this.#tape.pick([1, undefined]),
      turnCancelling: this.#cancelling.has(session),
      knownSession: this.#tape.next(30) < 29,
    });
  }

  #helperAnswers(approvalId: string): void {
    const book = this.#books.get(approvalId);
    const ask = this.#tape.next(5) === 0 ? this.#tape.next(4) : (book?.question ?? 1);
    const counts = book !== undefined && book.question === ask && ask > book.staleUpTo;
    const narrowed = book?.narrowed === true;
    if (book?.question === ask) {
      book.question = undefined;
      if (this.#depth > 0) book.answeredWithin.add(`question ${ask}`);
    }
    if (counts) book.narrowed = false;
    if (this.#tape.next(8) === 0) return this.#tickets.helperFailed(approvalId, ask, "died");
    const verdict = this.#tape.pick<HelperVerdict>([
      { outcome: "ask" },
      { outcome: "ask" },
      { outcome: "ask" },
      { outcome: "cancelled" },
      { outcome: "selected", optionId: this.#tape.pick(optionIds) },
      { outcome: "selected", optionId: "y" },
    ]);
    let gives = "";
    if (counts) {
      book.passedOn ||= verdict.outcome === "ask" || narrowed;
      if (verdict.outcome === "selected" && !narrowed && !this.#refusing.has(book.session)) {
        const once = book.options.filter(({ kind, optionId }) => kind === "allow_once" && optionId !== "");
        if (once.length === 1 && once[0]?.optionId === verdict.optionId) gives = verdict.optionId;
      }
    }
    this.#giving(approvalId, gives, () => this.#tickets.helperAnswered(approvalId, ask, verdict));
  }

  #clientAnswers(approvalId: string): void {
    const book = this.#books.get(approvalId);
    const shown = [...(book?.dialogs ?? [])];
    const client = shown.length > 0 && this.#tape.next(6) > 0 ? this.#tape.pick(shown) : this.#tape.pick(clients);
    const answer = this.#anyAnswer();
    const hasDialog = book?.dialogs.has(client) === true;
    const gives = hasDialog ? this.#allowedBy(book, answer) : "";
    if (hasDialog) book?.dialogs.delete(client);
    if (hasDialog && this.#depth > 0) book?.answeredWithin.add(client);
    this.#giving(approvalId, gives, () => this.#tickets.clientAnswered(approvalId, client, answer));
  }

  #answersById(approvalId: string): void {
    const book = this.#books.get(approvalId);
    const answer = this.#anyAnswer();
    const toolCallId = this.#tape.pick([undefined, "other"]);
    const gives = book?.passedOn && toolCallId === undefined ? this.#allowedBy(book, answer) : "";
    const before = book?.resolved.length ?? 0;
    this.#giving(approvalId, gives, () => {
      const by = { clientId: "cli", name: "cli" };
      const receipt = this.#tickets.answerById(approvalId, by, answer, { toolCallId });
      if (!("status" in receipt) || receipt.status !== "accepted") return;
      const [decision] = book?.resolved ?? [];
      this.#check(before === 0 && decision?.by.name === "cli", "an answer was called accepted that decided nothing");
    });
  }

  #allowedBy(book: Book | undefined, answer: ClientAnswer): string {
    if (book === undefined || answer.kind !== "selected") return "";
    if (book.narrowed || this.#refusing.has(book.session)) return "";
    return answer.optionId;
  }

  #anyAnswer(): ClientAnswer {
    return this.#tape.pick<ClientAnswer>([
      { kind: "selected", optionId: this.#tape.pick(optionIds) },
      { kind: "selected", optionId: "y" },
      { kind: "cancelled" },
      { kind: "fault", fault: "shape" },
    ]);
  }

  #giving(approvalId: string, optionId: string, act: () => void): void {
    this.#given.push(`${approvalId} ${optionId}`);
    act();
    this.#given.pop();
  }

  #end(session: string, approvalId: string): void {
    switch (this.#tape.next(4)) {
      case 0:
        return this.#tickets.turnEnded(session, 1);
      case 1:
        return this.#tickets.sessionClosed(session);
      case 2:
        return this.#tickets.terminalStatus(session, this.#tape.pick(["", "call"]));
      default:
        return this.#tickets.agentCancelled(approvalId);
    }
  }

  #narrow(session: string): void {
    for (const book of this.#books.values()) {
      if (book.session !== session || book.recorded > 0) continue;
      book.narrowed = true;
      book.staleUpTo = book.question ?? book.staleUpTo;
    }
    this.#tickets.narrow(session);
  }

  #time(): void {
    switch (this.#tape.next(6)) {
      case 0:
      case 1:
      case 2:
        return this.#clock.pass(1_000 * this.#tape.next(60));
      case 3:
        return this.#clock.sleep(1_000 * this.#tape.next(200));
      case 4:
        return this.#clock.setWall(3_600_000);
      default:
        return this.#clock.setWall(-3_600_000);
    }
  }

  /** The daemon dies without a word and starts again: agents and dialogs are gone, the record says what was open. */
  #crash(): void {
    if (this.#depth > 0) return;
    this.#clock.crash();
    for (const process of this.#process.values()) this.#exited.add(process);
    for (const [approvalId, book] of this.#books) {
      book.dialogs.clear();
      book.question = undefined;
      if (book.recorded > 0 || book.resolved.length > 0) continue;
      book.recorded += 1;
      book.resolved.push(decisionAfterRestart());
      this.#check(book.answered.length === 0, `${approvalId} was answered without a decision`);
    }
    this.#attached.clear();
    this.#tickets = this.#start();
  }

  #ports(): TicketPorts {
    const generation = this.#generation;
    const during = (act: () => void): void => {
      this.#check(generation === this.#generation, "a master that is dead did something");
      act();
      this.#maybeReenter();
    };
    return {
      now: this.#clock.now,
      timers: this.#clock.timers,
      mintId: () => `t${++this.#minted}`,
      recordOpening: (ticket) => during(() => this.#noteOpening(ticket)),
      recordDecision: (ticket, decision) => {
        const written = this.#recordWorks;
        during(() => this.#noteRecord(ticket, decision, written));
        return written;
      },
      answerAgent: (ticket, answer) => during(() => this.#noteAnswer(ticket, answer)),
      askHelper: (ticket, ask) => during(() => this.#noteQuestion(ticket, ask)),
      cancelHelper: (ticket, ask) =>
        during(() => {
          const book = this.#book(ticket);
          this.#check(
            book.question === ask || book.answeredWithin.has(`question ${ask}`),
            "a question was cancelled that nobody has",
          );
          book.question = undefined;
        }),
      asked: (ticket) =>
        during(() => {
          const book = this.#book(ticket);
          book.asked += 1;
          this.#check(book.asked === 1 && book.passedOn, "people were said to be asked at the wrong time");
          this.#check(book.recorded === 0, "people were said to be asked about a settled ticket");
        }),
      offer: (ticket, client) => during(() => this.#noteOffer(ticket, client)),
      withdraw: (ticket, client) =>
        during(() => {
          const book = this.#book(ticket);
          const isThere = book.dialogs.delete(client) || book.answeredWithin.has(client);
          this.#check(isThere, "a dialog was withdrawn that is not there");
        }),
      resolved: (ticket, decision) =>
        during(() => {
          const book = this.#book(ticket);
          this.#check(book.recorded === 1, "a ticket was resolved without one record");
          book.resolved.push(decision);
          this.#compare(book, decision);
        }),
      refusesAll: (ticket) => this.#refusing.has(ticket.session),
      log: () => {},
    };
  }

  #maybeReenter(): void {
    if (this.#depth >= 2 || this.#tape.ended || this.#tape.next(8) > 0) return;
    this.#depth += 1;
    this.#step();
    this.#depth -= 1;
  }

  #noteOpening(ticket: TicketView): void {
    this.#check(!this.#books.has(ticket.approvalId), "an approval id was used twice");
    this.#books.set(ticket.approvalId, {
      session: ticket.session,
      process: ticket.process,
      options: ticket.options ?? [],
      passedOn: false,
      asked: 0,
      question: undefined,
      staleUpTo: 0,
      narrowed: false,
      dialogs: new Set(),
      answeredWithin: new Set(),
      offers: new Map(),
      recorded: 0,
      written: false,
      answered: [],
      resolved: [],
    });
  }

  #noteRecord(ticket: TicketView, decision: Decision, written: boolean): void {
    const book = this.#book(ticket);
    book.recorded += 1;
    book.written = written;
    this.#check(book.recorded === 1, "a ticket was recorded twice");
    this.#check(book.answered.length === 0, "the agent was answered before the record");
    this.#check(ticket.state === "settled", "a ticket was recorded before it was settled");
    this.#check(decision.outcome.result !== "selected" || decision.outcome.optionId !== undefined, "selected nothing");
  }

  #noteAnswer(ticket: TicketView, answer: AgentAnswer): void {
    const { approvalId } = ticket;
    const book = this.#book(ticket);
    book.answered.push(answer);
    this.#check(book.answered.length === 1, "the agent was answered twice");
    this.#check(book.recorded === 1, "the agent was answered without a record");
    this.#check(!this.#exited.has(book.process), "an agent that exited was answered");
    if (answer.outcome !== "selected") return;
    const chosen = book.options.filter((option) => option.optionId === answer.optionId);
    this.#check(chosen.length > 0, "the agent was told an option that was not offered");
    if (this.#isReject(book, answer.optionId)) return;
    this.#check(book.written, "an allow went out that is not recorded");
    this.#check(this.#given.includes(`${approvalId} ${answer.optionId}`), "an allow went out that nobody gave");
  }

  #noteQuestion(ticket: TicketView, ask: number): void {
    const book = this.#book(ticket);
    this.#check(book.question === undefined, "the Helper was asked twice at once");
    this.#check(book.recorded === 0, "the Helper was asked about a settled ticket");
    this.#check(ask > book.staleUpTo, "the Helper was asked under an old number");
    book.question = ask;
  }

  #noteOffer(ticket: TicketView, client: string): void {
    const book = this.#book(ticket);
    this.#check(book.recorded === 0, "a settled ticket was offered");
    this.#check(book.passedOn, "a ticket was offered that the Helper did not pass on");
    this.#check(
      this.#attached.has(`${book.session} ${client}`),
      "a ticket was offered to a client that is not attached",
    );
    this.#check(!book.dialogs.has(client), "a client has two dialogs of one ticket");
    book.dialogs.add(client);
    const offers = (book.offers.get(client) ?? 0) + 1;
    book.offers.set(client, offers);
    this.#check(offers <= 4, "a client was asked more than four times");
  }

  #compare(book: Book, { outcome }: Decision): void {
    const [answer] = book.answered;
    if (answer === undefined) return;
    const told = answer.outcome === "selected" ? answer.optionId : undefined;
    if (outcome.result === "selected") this.#check(told === outcome.optionId, "the agent was told another option");
    else if (told !== undefined) this.#check(this.#isReject(book, told), "a ticket that was not allowed told an allow");
  }

  #isReject(book: Book, optionId: string): boolean {
    return book.options.filter((option) => option.optionId === optionId).every(({ kind }) => kind.startsWith("reject"));
  }

  #audit(approvalId: string, book: Book): void {
    const at = (what: string): string => `${approvalId}: ${what}`;
    this.#check(book.recorded === 1, at("not exactly one record"));
    this.#check(book.dialogs.size === 0, at("a dialog is left"));
    this.#check(book.question === undefined, at("a question is left"));
    const gone = this.#exited.has(book.process);
    this.#check(book.answered.length === 1 || gone, at("the agent got no answer"));
    this.#check(book.resolved.length === 1, at("not exactly one outcome"));
    const [decision] = book.resolved;
    if (decision !== undefined) this.outcomes.push(`${decision.outcome.result} by ${decision.by.kind}`);
  }

  /** Mostly an open one, sometimes one that ended long ago. */
  #anyTicket(): string {
    const known = [...this.#books.keys()];
    const open = known.filter((approvalId) => this.#books.get(approvalId)?.recorded === 0);
    const from = open.length > 0 && this.#tape.next(8) > 0 ? open : known;
    return from.length === 0 ? "none" : this.#tape.pick(from);
  }

  #book(ticket: TicketView): Book {
    const book = this.#books.get(ticket.approvalId);
    if (book === undefined) throw new Error("A port was called for a ticket that was never opened.");
    return book;
  }

  #check(holds: boolean, broken: string): void {
    // Not thrown: what a port throws goes no further than the port.
    if (!holds) this.broken.push(broken);
  }
}
