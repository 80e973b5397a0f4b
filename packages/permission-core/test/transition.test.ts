// The pure rules: what the owner's tests cannot see from outside.
import { describe, expect, it } from "vitest";
import { ending } from "../src/decision.ts";
import { openDialogs } from "../src/dialogs.ts";
import type { TicketEvent, TicketState } from "../src/ticket-state.ts";
import { open, transition, withoutRecord } from "../src/transition.ts";
import { threeOptions } from "./recording-ports.ts";

function after(...events: TicketEvent[]): TicketState {
  return events.reduce<TicketState>(
    (state, event) => transition(state, event).state,
    open(threeOptions, undefined).state,
  );
}

const helper = { event: "helper_answered", controllers: ["A"], refusesAll: false } as const;
const toPeople: TicketEvent = { ...helper, ask: 1, verdict: { outcome: "ask" } };

describe("transition", () => {
  it("changes neither the state nor the event it is given", () => {
    const state = Object.freeze(after(toPeople));
    const event: TicketEvent = Object.freeze({ event: "client_attached", clientId: "B" });
    transition(state, event);
    expect(openDialogs(state)).toEqual(["A"]);
  });

  it("numbers questions and offers, and never uses a number twice", () => {
    const swapped = transition(after({ event: "helper_swapped" }), { event: "narrowed" });
    expect(swapped.effects).toEqual([{ effect: "ask_helper", ask: 3 }]);
    const slip: TicketEvent = {
      event: "client_answered",
      clientId: "A",
      name: "A",
      answer: { kind: "fault", fault: "shape" },
      refusesAll: false,
    };
    const faulty = transition(after(toPeople), slip);
    expect(faulty.effects[0]).toEqual({ effect: "offer", clientId: "A", offer: 2 });
  });

  it("a settled ticket ignores everything", () => {
    const settled = after({ event: "ended", cause: "turn_cancelled" });
    const events: TicketEvent[] = [
      toPeople,
      { event: "narrowed" },
      { event: "helper_swapped" },
      { event: "client_attached", clientId: "A" },
      { event: "ended", cause: "agent_exited" },
    ];
    for (const event of events) expect(transition(settled, event)).toEqual({ state: settled, effects: [] });
  });

  it("a swap in mid-narrowing leaves the narrowing to be judged", () => {
    const state = after(toPeople, { event: "narrowed" }, { event: "helper_swapped" });
    const answered = transition(state, { ...helper, ask: 3, verdict: { outcome: "selected", optionId: "deny" } });
    expect(answered.state).toMatchObject({ state: "settled", decision: { by: { kind: "preset" } } });
  });
});

describe("withoutRecord", () => {
  it("leaves a refusal as it is", () => {
    const verdict = ending("time_over", threeOptions);
    expect(withoutRecord(verdict, threeOptions)).toBe(verdict);
  });

  it("turns whatever is not known to be a reject into a refusal by the master", () => {
    const options = [...threeOptions, { optionId: "odd", kind: "surprise" }];
    const verdict = {
      decision: { outcome: { result: "selected", optionId: "odd" }, by: { kind: "client", name: "A" } },
      answer: { outcome: "selected", optionId: "odd" },
    } as const;
    expect(withoutRecord(verdict, options)).toEqual({
      decision: { outcome: { result: "refused" }, by: { kind: "master", name: "master" } },
      answer: { outcome: "selected", optionId: "deny" },
    });
  });
});
