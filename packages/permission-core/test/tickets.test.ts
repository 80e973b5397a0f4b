// The owner of open tickets, seen through its ports: what the agent, the Helper and the clients are told, in order.
import { describe, expect, it } from "vitest";
import type { TicketPorts } from "../src/ticket-ports.ts";
import { recording, threeOptions } from "./recording-ports.ts";

const allow = { kind: "selected", optionId: "allow" } as const;
const deny = { kind: "selected", optionId: "deny" } as const;
const closed = { kind: "cancelled" } as const;
function fail(): never {
  throw new Error("secret text");
}

const slip = { kind: "fault", fault: "not_an_outcome" } as const;

describe("who decides", () => {
  it("asks the Helper first and tells the agent what it chose", () => {
    const { tickets, opening, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = tickets.open(opening());
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    expect(take()).toEqual([
      "opening t1",
      "ask t1 1",
      "record t1 selected by helper",
      "answer t1 allow",
      "resolved t1 selected by helper",
    ]);
    expect(tickets.openCount("s1")).toBe(0);
  });

  it("offers a ticket that the Helper passed on to every attached controller at once", () => {
    const { tickets, opening, take, views } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    tickets.controllerAttached("s2", "C", "other session");
    const id = tickets.open(opening());
    take();
    tickets.helperAnswered(id, 1, { outcome: "ask" });
    expect(take()).toEqual(["offer t1 A", "offer t1 B"]);
    expect(views.map((view) => view.askedAt)).toEqual([1_000_000_000, 1_000_000_000]);
    expect(tickets.get(id)).toMatchObject({ state: "offered", offers: ["A", "B"], shownTo: ["A", "B"] });
  });

  it("says once that people are asked, before the first dialog and also when nobody is attached", () => {
    const said: string[] = [];
    const made = recording({
      ports: {
        asked: (ticket) => void said.push(`asked ${ticket.approvalId} ${ticket.askedAt}`),
        offer: (ticket, clientId) => void said.push(`offer ${ticket.approvalId} ${clientId}`),
      },
    });
    made.offered({ session: "s2" });
    made.tickets.controllerAttached("s1", "A", "editor");
    made.offered();
    made.tickets.controllerAttached("s1", "B", "console");
    expect(said).toEqual(["asked t1 1000000000", "asked t2 1000000000", "offer t2 A", "offer t2 B"]);
  });

  it("first valid answer wins and the other client's dialog closes", () => {
    const { tickets, offered, take, decisions } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    tickets.clientAnswered(id, "B", deny);
    tickets.clientAnswered(id, "A", allow);
    expect(take()).toEqual([
      "record t1 selected by client",
      "answer t1 deny",
      "withdraw t1 A",
      "resolved t1 selected by client",
    ]);
    expect(decisions[0]).toEqual({
      outcome: { result: "selected", optionId: "deny" },
      by: { kind: "client", name: "console" },
    });
  });

  it("an option id is passed on byte for byte, however odd it is", () => {
    for (const optionId of ["", " ", "Allow Once", "a/b", "7", "\u00e9", "\u202e"]) {
      const { tickets, offered, take } = recording();
      tickets.controllerAttached("s1", "A", "editor");
      const id = offered({ options: [{ optionId, kind: "allow_persistent" }, ...threeOptions] });
      tickets.clientAnswered(id, "A", { kind: "selected", optionId });
      expect(take()[1]).toBe(`answer t1 ${optionId}`);
    }
  });

  it("three tickets answered in reverse order each get their own answer", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const ids = [offered(), offered(), offered()];
    for (const id of ids.toReversed()) tickets.clientAnswered(id, "A", allow);
    expect(take().filter((line) => line.startsWith("answer"))).toEqual([
      "answer t3 allow",
      "answer t2 allow",
      "answer t1 allow",
    ]);
  });

  it("one session's open ticket delays no other session", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s2", "B", "editor");
    offered();
    const other = offered({ session: "s2", sessionId: "outward-2" });
    tickets.clientAnswered(other, "B", allow);
    expect(take()).toContain("answer t2 allow");
    expect(tickets.openCount("s1")).toBe(1);
  });

  it("two agents with the same session id and the same tool call are two tickets", () => {
    const { tickets, offered } = recording();
    const first = offered({ session: "one/x", sessionId: "x", agent: "one", process: "p1" });
    offered({ session: "two/x", sessionId: "x", agent: "two", process: "p2" });
    tickets.processExited("p2");
    expect(tickets.tickets().map((ticket) => ticket.approvalId)).toEqual([first]);
  });
});

describe("answers that are none", () => {
  it("an unknown option id decides nothing and the client is asked again", () => {
    const { tickets, offered, take, logged } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    for (const optionId of ["other", "Allow", "allow "])
      tickets.clientAnswered(id, "A", { kind: "selected", optionId });
    expect(take()).toEqual(["offer t1 A", "offer t1 A", "offer t1 A"]);
    expect(tickets.get(id)?.state).toBe("offered");
    expect(logged.filter(({ event }) => event === "client.fault")).toHaveLength(3);
  });

  it("the fourth faulty answer of a connection counts as its closed dialog", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    for (let n = 0; n < 4; n += 1) tickets.clientAnswered(id, "A", slip);
    expect(take()).toEqual(["offer t1 A", "offer t1 A", "offer t1 A"]);
    expect(tickets.get(id)?.offers).toEqual(["B"]);
    tickets.clientAnswered(id, "A", allow);
    expect(tickets.get(id)?.state).toBe("offered");
    for (let n = 0; n < 4; n += 1) tickets.clientAnswered(id, "B", slip);
    expect(take().slice(3)).toEqual(["record t1 refused by client", "answer t1 deny", "resolved t1 refused by client"]);
  });

  it("a client without an open dialog answers nothing", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s2", "X", "stranger");
    const id = offered();
    tickets.clientAnswered(id, "X", allow);
    tickets.clientAnswered(id, "nobody", allow);
    expect(take()).toEqual([]);
    expect(tickets.get(id)?.state).toBe("offered");
  });

  it("a late answer is not pending", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    tickets.turnCancelled("s1");
    take();
    tickets.clientAnswered(id, "A", allow);
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    expect(tickets.answerById(id, { clientId: "B", name: "cli" }, allow, {})).toEqual({ status: "not_pending" });
    expect(tickets.answerById("unknown", { clientId: "B", name: "cli" }, allow, {})).toEqual({
      status: "not_pending",
    });
    expect(take()).toEqual([]);
  });
});

describe("closing dialogs", () => {
  it("the last closed dialog refuses with a reject option", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    tickets.clientAnswered(id, "A", closed);
    expect(take()).toEqual([]);
    tickets.clientAnswered(id, "B", closed);
    expect(take()).toEqual(["record t1 refused by client", "answer t1 deny", "resolved t1 refused by client"]);
  });

  it("a closed dialog is not shown to the same attachment again", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    tickets.clientAnswered(id, "A", closed);
    tickets.controllerAttached("s1", "A", "editor");
    expect(take()).toEqual([]);
    expect(tickets.get(id)?.offers).toEqual(["B"]);
  });

  it("a ticket whose only open dialog leaves with its client still ends, though another client closed its own", () => {
    const { tickets, clock, offered, take } = recording({ policy: { noClientSeconds: 10 } });
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    tickets.clientAnswered(id, "A", closed);
    tickets.controllerDetached("s1", "B");
    expect(take()).toEqual(["withdraw t1 B"]);
    clock.pass(10_000);
    expect(take()).toEqual(["record t1 expired by no_client", "answer t1 deny", "resolved t1 expired by no_client"]);
    expect(tickets.get(id)).toBeUndefined();
  });

  it("without a reject option a refusal is cancelled and never an allow", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered({ options: threeOptions.slice(0, 2) });
    tickets.clientAnswered(id, "A", closed);
    expect(take()[1]).toBe("answer t1 cancelled");
  });
});

describe("attaching and leaving", () => {
  it("a re-attached client gets the same request once", () => {
    const { tickets, offered, take, views } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    tickets.controllerDetached("s1", "A");
    tickets.controllerAttached("s1", "A2", "editor");
    tickets.controllerAttached("s1", "A2", "editor");
    expect(take()).toEqual(["withdraw t1 A", "offer t1 A2"]);
    expect(views.map((view) => [view.approvalId, view.askedAt])).toEqual([
      [id, 1_000_000_000],
      [id, 1_000_000_000],
    ]);
    tickets.clientAnswered(id, "A", allow);
    expect(take()).toEqual([]);
    tickets.clientAnswered(id, "A2", allow);
    expect(take()[1]).toBe("answer t1 allow");
  });

  it("a late joiner sees two open tickets, the one that was asked first before the other", () => {
    const { tickets, opening, clock, take } = recording();
    const first = tickets.open(opening());
    const second = tickets.open(opening());
    tickets.helperAnswered(second, 1, { outcome: "ask" });
    clock.pass(10);
    tickets.helperAnswered(first, 1, { outcome: "ask" });
    take();
    tickets.controllerAttached("s1", "A", "editor");
    expect(take()).toEqual(["offer t2 A", "offer t1 A"]);
  });

  it("a ticket that the Helper has not passed on is not offered at an attach, but when it does", () => {
    const { tickets, opening, take } = recording();
    const id = tickets.open(opening());
    take();
    tickets.controllerAttached("s1", "A", "editor");
    expect(take()).toEqual([]);
    expect(tickets.answerById(id, { clientId: "A", name: "editor" }, allow, {})).toEqual({ status: "not_pending" });
    tickets.helperAnswered(id, 1, { outcome: "ask" });
    expect(take()).toEqual(["offer t1 A"]);
  });

  it("counts the faults of a connection over a new attachment", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.controllerAttached("s1", "B", "console");
    const id = offered();
    for (let n = 0; n < 4; n += 1) tickets.clientAnswered(id, "A", slip);
    tickets.controllerDetached("s1", "A");
    tickets.controllerAttached("s1", "A", "editor");
    take();
    tickets.clientAnswered(id, "A", slip);
    expect(take()).toEqual([]);
  });
});

describe("answers by approval id", () => {
  const cli = { clientId: "C", name: "cli" };

  it("an answer by id settles the ticket and closes every dialog", () => {
    const { tickets, offered, take, decisions } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    const check = { sessionId: "outward-1", toolCallId: "call-1" };
    expect(tickets.answerById(id, cli, allow, check)).toEqual({ status: "accepted" });
    expect(take()).toEqual([
      "record t1 selected by client",
      "answer t1 allow",
      "withdraw t1 A",
      "resolved t1 selected by client",
    ]);
    expect(decisions[0]?.by).toEqual({ kind: "client", name: "cli" });
  });

  it("an answer that does not fit is an error that says what to do, and the ticket stays open", () => {
    const { tickets, offered, take } = recording();
    const id = offered();
    const wrong = [
      tickets.answerById(id, cli, { kind: "selected", optionId: "other" }, {}),
      tickets.answerById(id, cli, allow, { sessionId: "outward-2" }),
      tickets.answerById(id, cli, allow, { toolCallId: "call-2" }),
      tickets.answerById(id, cli, slip, {}),
    ];
    for (const receipt of wrong) expect(receipt).toHaveProperty("error", expect.stringMatching(/\. .+\.$/u));
    expect(take()).toEqual([]);
    expect(tickets.get(id)?.state).toBe("offered");
  });

  it("a no without an option is a refusal, not a closed dialog", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    expect(tickets.answerById(id, cli, closed, {})).toEqual({ status: "accepted" });
    expect(take().slice(0, 2)).toEqual(["record t1 refused by client", "answer t1 deny"]);
  });
});

describe("the Helper", () => {
  it.each([
    ["an option that was not offered", { outcome: "selected", optionId: "other" }],
    ["an allow that is not the only allow_once", { outcome: "selected", optionId: "always" }],
  ] as const)("a Helper that answers %s fails closed", (_, verdict) => {
    const { tickets, opening, take, logged } = recording();
    const id = tickets.open(opening());
    take();
    tickets.helperAnswered(id, 1, verdict);
    expect(take()).toEqual(["record t1 unavailable by helper", "answer t1 deny", "resolved t1 unavailable by helper"]);
    expect(logged.map(({ event }) => event)).toContain("helper.fault");
  });

  it("a Helper that throws, hangs or dies for good fails closed", () => {
    const { tickets, opening, take } = recording();
    const id = tickets.open(opening());
    take();
    tickets.helperFailed(id, 1, "deadline");
    expect(take()).toEqual(["record t1 unavailable by helper", "answer t1 deny", "resolved t1 unavailable by helper"]);
  });

  it("a Helper that cancels ends the ticket with cancelled", () => {
    const { tickets, opening, take } = recording();
    const id = tickets.open(opening());
    take();
    tickets.helperAnswered(id, 1, { outcome: "cancelled" });
    expect(take().slice(0, 2)).toEqual(["record t1 cancelled by helper", "answer t1 cancelled"]);
  });

  it("a restarted Helper is asked once more, and the answer of the one before is dropped", () => {
    const { tickets, opening, offered, take } = recording();
    offered();
    const id = tickets.open(opening());
    take();
    tickets.helperRestarted("s1");
    expect(take()).toEqual(["unask t2 1", "ask t2 2"]);
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    tickets.helperFailed(id, 1, "died");
    expect(take()).toEqual([]);
    tickets.helperAnswered(id, 2, { outcome: "selected", optionId: "allow" });
    expect(take()[1]).toBe("answer t2 allow");
  });

  it("a swapped Helper loses no ticket: each is asked again with its id, and dialogs stay", () => {
    const { tickets, opening, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const shown = offered();
    const waiting = tickets.open(opening());
    take();
    tickets.reaskHelper("s1");
    expect(take()).toEqual(["ask t1 2", "unask t2 1", "ask t2 2"]);
    tickets.helperAnswered(shown, 2, { outcome: "ask" });
    tickets.helperAnswered(waiting, 2, { outcome: "ask" });
    expect(take()).toEqual(["offer t2 A"]);
    expect(tickets.tickets("s1").map((ticket) => ticket.offers)).toEqual([["A"], ["A"]]);
  });

  it("a question that nobody needs any more is cancelled when the ticket settles", () => {
    const { tickets, opening, take } = recording();
    tickets.open(opening());
    take();
    tickets.turnCancelled("s1");
    expect(take()).toEqual([
      "record t1 cancelled by cancel",
      "answer t1 cancelled",
      "unask t1 1",
      "resolved t1 cancelled by cancel",
    ]);
  });

  it("a question that cannot be put fails closed", () => {
    const { tickets, opening, lines } = recording({
      ports: {
        askHelper: () => {
          throw new Error("no Helper");
        },
      },
    });
    tickets.open(opening());
    expect(lines.slice(1, 3)).toEqual(["record t1 unavailable by helper", "answer t1 deny"]);
  });
});

describe("presets", () => {
  it("a preset that refuses everything settles what is open", () => {
    const { tickets, opening, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    offered();
    tickets.open(opening());
    take();
    tickets.presetRefusesAll("s1");
    expect(take()).toEqual([
      "record t1 refused by preset",
      "answer t1 deny",
      "withdraw t1 A",
      "resolved t1 refused by preset",
      "record t2 refused by preset",
      "answer t2 deny",
      "unask t2 1",
      "resolved t2 refused by preset",
    ]);
  });

  it("after a narrowing a refusal of the Helper settles by preset and anything else leaves the ticket to people", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const ids = [offered(), offered(), offered(), offered()];
    tickets.narrow("s1");
    expect(take()).toEqual(["ask t1 2", "ask t2 2", "ask t3 2", "ask t4 2"]);
    tickets.helperAnswered(ids[0] ?? "", 2, { outcome: "selected", optionId: "deny" });
    tickets.helperAnswered(ids[1] ?? "", 2, { outcome: "selected", optionId: "allow" });
    tickets.helperAnswered(ids[2] ?? "", 2, { outcome: "ask" });
    tickets.helperFailed(ids[3] ?? "", 2, "deadline");
    expect(take()).toEqual([
      "record t1 refused by preset",
      "answer t1 deny",
      "withdraw t1 A",
      "resolved t1 refused by preset",
    ]);
    for (const id of ids.slice(1)) tickets.clientAnswered(id, "A", allow);
    expect(take().filter((line) => line.startsWith("answer"))).toEqual([
      "answer t2 allow",
      "answer t3 allow",
      "answer t4 allow",
    ]);
  });

  it("a person's allow before the Helper judged by the narrower preset is a refusal by preset", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const [first, second, third] = [offered(), offered(), offered()];
    tickets.narrow("s1");
    take();
    tickets.clientAnswered(first, "A", { kind: "selected", optionId: "always" });
    expect(tickets.answerById(second, { clientId: "C", name: "cli" }, allow, {})).toEqual({ status: "not_pending" });
    tickets.clientAnswered(third, "A", deny);
    expect(take().filter((line) => /^(record|answer)/u.test(line))).toEqual([
      "record t1 refused by preset",
      "answer t1 deny",
      "record t2 refused by preset",
      "answer t2 deny",
      "record t3 selected by client",
      "answer t3 deny",
    ]);
  });

  it("an answer of the wider preset that is under way when the preset becomes narrower does not count", () => {
    const { tickets, opening, take } = recording();
    const id = tickets.open(opening());
    take();
    tickets.narrow("s1");
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    expect(take()).toEqual(["unask t1 1", "ask t1 2"]);
  });

  it("an allow under a preset that refuses everything is a refusal, whoever gave it", () => {
    const { tickets, opening, offered, take } = recording({ ports: { refusesAll: () => true } });
    tickets.controllerAttached("s1", "A", "editor");
    tickets.clientAnswered(offered(), "A", allow);
    const id = tickets.open(opening());
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    expect(take().filter((line) => line.startsWith("answer"))).toEqual(["answer t1 deny", "answer t2 deny"]);
  });
});

describe("what else ends a ticket", () => {
  it("a cancel during the Helper's decision wins", () => {
    const { tickets, opening, take } = recording();
    const id = tickets.open(opening());
    tickets.turnCancelled("s1");
    take();
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    expect(take()).toEqual([]);
  });

  it("a request that arrives while cancelling is cancelled unseen", () => {
    const { tickets, opening, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    tickets.open(opening({ turnCancelling: true }));
    expect(take()).toEqual([
      "opening t1",
      "record t1 cancelled by cancel",
      "answer t1 cancelled",
      "resolved t1 cancelled by cancel",
    ]);
  });

  it.each([
    ["an unknown session", { knownSession: false }, "deny"],
    ["missing options", { options: undefined }, "cancelled"],
    ["empty options", { options: [] }, "cancelled"],
  ] as const)("%s is refused at once, with a record", (_, changes, told) => {
    const { tickets, opening, take } = recording();
    tickets.open(opening(changes));
    expect(take()).toEqual([
      "opening t1",
      "record t1 refused by master",
      `answer t1 ${told}`,
      "resolved t1 refused by master",
    ]);
  });

  it("the agent's own cancel, the session's end and the daemon's stop cancel", () => {
    const { tickets, offered, take } = recording();
    const [own] = [offered(), offered(), offered({ session: "s2" })];
    tickets.agentCancelled(own);
    tickets.sessionClosed("s1");
    tickets.stopping();
    expect(take().filter((line) => /^(record|answer)/u.test(line))).toEqual([
      "record t1 cancelled by cancel",
      "answer t1 cancelled",
      "record t2 cancelled by cancel",
      "answer t2 cancelled",
      "record t3 cancelled by master",
      "answer t3 cancelled",
    ]);
  });

  it("the answer of its own prompt supersedes it, that of another turn does not", () => {
    const { tickets, offered, take } = recording();
    offered({ turn: 1 });
    offered({ turn: 2 });
    offered({ turn: undefined });
    tickets.turnEnded("s1", 1);
    expect(take().slice(0, 2)).toEqual(["record t1 superseded by superseded", "answer t1 cancelled"]);
    expect(tickets.tickets("s1").map((ticket) => ticket.turn)).toEqual([2, undefined]);
  });

  it("an agent's exit settles only its own instance's tickets and answers nobody", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    offered({ process: "p1" });
    offered({ process: "p2" });
    tickets.processExited("p1");
    expect(take()).toEqual([
      "record t1 cancelled by agent_exit",
      "withdraw t1 A",
      "resolved t1 cancelled by agent_exit",
    ]);
    expect(tickets.openCount("s1")).toBe(1);
  });

  it("answer, expiry and cancel at once settle once", () => {
    const { tickets, clock, offered, take } = recording({ policy: { timeoutSeconds: 5 } });
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    clock.pass(4_999);
    tickets.clientAnswered(id, "A", allow);
    clock.pass(1);
    tickets.turnCancelled("s1");
    expect(take().filter((line) => /^(record|answer|resolved)/u.test(line))).toEqual([
      "record t1 selected by client",
      "answer t1 allow",
      "resolved t1 selected by client",
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("after the stop a new request is cancelled at once and no timer is left", () => {
    const { tickets, opening, offered, take, clock } = recording({ policy: { timeoutSeconds: 5 } });
    offered();
    tickets[Symbol.dispose]();
    take();
    tickets.open(opening());
    expect(take()).toContain("answer t2 cancelled");
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("time", () => {
  it("timeoutSeconds count from the first offer and end in a refusal by expiry", () => {
    const { tickets, opening, clock, take } = recording({ policy: { timeoutSeconds: 20 } });
    tickets.controllerAttached("s1", "A", "editor");
    const id = tickets.open(opening());
    clock.pass(60_000);
    tickets.helperAnswered(id, 1, { outcome: "ask" });
    expect(tickets.get(id)?.expiresAt).toBe(clock.now() + 20_000);
    clock.pass(19_999);
    take();
    clock.pass(1);
    expect(take()).toEqual([
      "record t1 expired by expiry",
      "answer t1 deny",
      "withdraw t1 A",
      "resolved t1 expired by expiry",
    ]);
  });

  it("without a limit a watched ticket waits for ever and needs no timer", () => {
    const { tickets, clock, offered } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const id = offered();
    expect(clock.pendingTimers).toBe(0);
    expect(tickets.get(id)?.expiresAt).toBeUndefined();
  });

  it("noClientSeconds run from the first offer while nobody is attached, and stop at an attach", () => {
    const { tickets, clock, offered, take } = recording({ policy: { noClientSeconds: 10 } });
    const id = offered();
    clock.pass(9_000);
    tickets.controllerAttached("s1", "A", "editor");
    clock.pass(60_000);
    expect(tickets.get(id)?.state).toBe("offered");
    tickets.controllerDetached("s1", "A");
    clock.pass(9_999);
    take();
    clock.pass(1);
    expect(take()).toEqual(["record t1 expired by no_client", "answer t1 deny", "resolved t1 expired by no_client"]);
  });

  it("each agent may have waits of its own, read when they begin", () => {
    const waits = new Map([["hasty", 1]]);
    const { tickets, clock, offered } = recording({
      policy: (agent) => ({ timeoutSeconds: waits.get(agent) ?? 0, noClientSeconds: 0 }),
    });
    const [hasty, patient] = [offered({ agent: "hasty" }), offered({ agent: "patient" })];
    clock.pass(1_000);
    expect(tickets.get(hasty)).toBeUndefined();
    expect(tickets.get(patient)?.expiresAt).toBeUndefined();
    waits.set("patient", 2);
    expect(tickets.get(offered({ agent: "patient" }))?.expiresAt).toBe(clock.now() + 2_000);
  });

  it("after a sleep the ticket is still there for a minute", () => {
    const { tickets, clock, offered } = recording({ policy: { noClientSeconds: 10 } });
    const id = offered();
    clock.sleep(15_000);
    clock.pass(59_000);
    expect(tickets.get(id)?.state).toBe("offered");
    clock.pass(1_000);
    expect(tickets.get(id)).toBeUndefined();
  });
});

describe("records", () => {
  it("six ways to end give six records, each before the agent is answered", () => {
    const order: string[] = [];
    const { tickets, clock, opening, offered } = recording({
      policy: { timeoutSeconds: 5 },
      ports: {
        recordDecision: (ticket, { outcome, by }) =>
          order.push(`record ${ticket.approvalId} ${outcome.result} by ${by.kind}`) > 0,
        answerAgent: (ticket) => void order.push(`answer ${ticket.approvalId}`),
      },
    });
    tickets.controllerAttached("s1", "A", "editor");
    tickets.helperAnswered(tickets.open(opening()), 1, { outcome: "selected", optionId: "allow" });
    tickets.clientAnswered(offered(), "A", allow);
    tickets.clientAnswered(offered(), "A", deny);
    offered();
    clock.pass(5_000);
    offered();
    tickets.turnCancelled("s1");
    offered();
    tickets.processExited("p1");
    expect(order).toEqual([
      "record t1 selected by helper",
      "answer t1",
      "record t2 selected by client",
      "answer t2",
      "record t3 selected by client",
      "answer t3",
      "record t4 expired by expiry",
      "answer t4",
      "record t5 cancelled by cancel",
      "answer t5",
      "record t6 cancelled by agent_exit",
    ]);
  });

  const unwritable: Partial<TicketPorts>[] = [
    { recordDecision: () => false },
    {
      recordDecision: () => {
        throw new Error("disk full");
      },
    },
  ];
  it.each(unwritable)("an allow that cannot be recorded becomes a refusal by the master", (ports) => {
    const { tickets, opening, offered, take, decisions } = recording({ ports });
    tickets.controllerAttached("s1", "A", "editor");
    tickets.clientAnswered(offered(), "A", allow);
    const id = tickets.open(opening());
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "allow" });
    const receipt = tickets.answerById(offered(), { clientId: "C", name: "cli" }, allow, {});
    expect(take().filter((line) => line.startsWith("answer"))).toEqual(["answer t3 deny"]);
    expect(decisions.map(({ outcome, by }) => [outcome.result, by.kind])).toEqual([
      ["refused", "master"],
      ["refused", "master"],
      ["refused", "master"],
    ]);
    expect(receipt).toEqual({ status: "not_pending" });
  });

  it("a refusal that cannot be recorded goes out all the same", () => {
    const { tickets, offered, take } = recording({ ports: { recordDecision: () => false } });
    tickets.controllerAttached("s1", "A", "editor");
    tickets.clientAnswered(offered(), "A", deny);
    expect(take()).toEqual(["answer t1 deny", "resolved t1 selected by client"]);
  });

  it("the record names the decider that the master gives", () => {
    const { tickets, opening, decisions } = recording({ ports: { deciderName: (kind) => `the ${kind}` } });
    const id = tickets.open(opening());
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "deny" });
    expect(decisions[0]?.by).toEqual({ kind: "helper", name: "the helper" });
  });

  it("log lines carry ids and kinds", () => {
    const { tickets, opening, logged } = recording();
    const id = tickets.open(opening());
    tickets.helperAnswered(id, 1, { outcome: "selected", optionId: "deny" });
    expect(logged).toEqual([
      {
        event: "approval.requested",
        fields: { approvalId: "t1", agent: "demo", sessionId: "outward-1", toolCallId: "call-1", options: 3 },
      },
      { event: "approval.responded", fields: { approvalId: "t1", result: "selected", by: "helper" } },
    ]);
  });
});

describe("the guard", () => {
  it("guards a tool call while a ticket names it, and until the last one settles", () => {
    const { tickets, offered } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    const [first, second] = [offered(), offered()];
    expect(tickets.guarded("s1", "call-1")).toBe(true);
    tickets.clientAnswered(first, "A", allow);
    expect(tickets.guarded("s1", "call-1")).toBe(true);
    tickets.clientAnswered(second, "A", allow);
    expect(tickets.guarded("s1", "call-1")).toBe(false);
  });

  it("guards neither other ids nor other sessions nor the empty id", () => {
    const { tickets, offered } = recording();
    offered({ toolCallId: "" });
    offered();
    expect(tickets.guarded("s1", "")).toBe(false);
    expect(tickets.guarded("s1", "call-2")).toBe(false);
    expect(tickets.guarded("s2", "call-1")).toBe(false);
  });

  it("keeps a session below apart, whose calls have ids of their own", () => {
    const { tickets, offered } = recording();
    const below = offered({ child: "below" });
    expect(tickets.guarded("s1", "call-1")).toBe(false);
    expect(tickets.guarded("s1", "call-1", "below")).toBe(true);
    const own = offered();
    tickets.terminalStatus("s1", "call-1");
    expect(tickets.get(own)).toBeUndefined();
    expect(tickets.get(below)?.child).toBe("below");
    tickets.terminalStatus("s1", "call-1", "below");
    expect(tickets.openCount("s1")).toBe(0);
  });

  it("a terminal update supersedes the question, for a named call only", () => {
    const { tickets, offered, take } = recording();
    tickets.controllerAttached("s1", "A", "editor");
    offered();
    const unnamed = offered({ toolCallId: "" });
    tickets.terminalStatus("s1", "call-1");
    tickets.terminalStatus("s1", "");
    expect(take()).toEqual([
      "record t1 superseded by superseded",
      "answer t1 deny",
      "withdraw t1 A",
      "resolved t1 superseded by superseded",
    ]);
    expect(tickets.tickets().map((ticket) => ticket.approvalId)).toEqual([unnamed]);
  });
});

describe("ports that call back", () => {
  it("an agent that exits while it is answered ends its other tickets without an answer", () => {
    const made = recording({
      ports: {
        answerAgent: (ticket) => {
          made.lines.push(`answer ${ticket.approvalId}`);
          made.tickets.processExited("p1");
        },
      },
    });
    made.tickets.controllerAttached("s1", "A", "editor");
    const first = made.offered();
    made.offered();
    made.tickets.clientAnswered(first, "A", allow);
    expect(made.take()).toEqual([
      "record t1 selected by client",
      "answer t1",
      "record t2 cancelled by agent_exit",
      "withdraw t2 A",
      "resolved t2 cancelled by agent_exit",
      "resolved t1 selected by client",
    ]);
  });

  it("an agent that exits while its decision is being recorded gets no answer", () => {
    const made = recording({
      ports: {
        recordDecision: () => {
          made.tickets.processExited("p1");
          return true;
        },
      },
    });
    made.tickets.controllerAttached("s1", "A", "editor");
    made.tickets.clientAnswered(made.offered(), "A", allow);
    made.tickets.open(made.opening({ turnCancelling: true }));
    expect(made.lines.filter((line) => line.startsWith("answer"))).toEqual([]);
  });

  it("an agent that exits while its request is being noted gets no answer, also where it would be refused at once", () => {
    const made = recording({ ports: { recordOpening: () => made.tickets.processExited("p1") } });
    made.tickets.open(made.opening());
    made.tickets.open(made.opening({ knownSession: false }));
    expect(made.lines.filter((line) => line.startsWith("answer"))).toEqual([]);
    expect(made.decisions).toHaveLength(2);
    expect(made.tickets.tickets()).toEqual([]);
  });

  it("a Helper that answers within the question is heard", () => {
    const made = recording({
      ports: {
        askHelper: (ticket, ask) =>
          made.tickets.helperAnswered(ticket.approvalId, ask, { outcome: "selected", optionId: "allow" }),
      },
    });
    made.tickets.open(made.opening());
    expect(made.lines).toEqual([
      "opening t1",
      "record t1 selected by helper",
      "answer t1 allow",
      "resolved t1 selected by helper",
    ]);
  });

  it("a client that is lost while it is offered the ticket holds up no other client and leaves no dialog", () => {
    const made = recording({
      ports: {
        offer: (ticket, clientId) => {
          made.lines.push(`offer ${ticket.approvalId} ${clientId}`);
          if (clientId === "A") made.tickets.controllerDetached("s1", "B");
        },
      },
    });
    for (const client of ["A", "B", "C"]) made.tickets.controllerAttached("s1", client, client);
    const id = made.tickets.open(made.opening());
    made.take();
    made.tickets.helperAnswered(id, 1, { outcome: "ask" });
    expect(made.take()).toEqual(["offer t1 A", "offer t1 C"]);
    expect(made.tickets.get(id)?.offers).toEqual(["A", "C"]);
  });

  it("a port that throws stops nothing", () => {
    const made = recording({
      ports: { recordOpening: fail, offer: fail, withdraw: fail, resolved: fail, answerAgent: fail, deciderName: fail },
    });
    made.tickets.controllerAttached("s1", "A", "editor");
    made.tickets.controllerAttached("s1", "B", "console");
    made.tickets.clientAnswered(made.offered(), "A", allow);
    expect(made.tickets.tickets()).toEqual([]);
    expect(JSON.stringify(made.logged)).not.toContain("secret");
  });
});
