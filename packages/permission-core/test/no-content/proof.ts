// Compiles only while every field of the routing half is one of the names below. A new field has to be added here, by
// somebody who has looked at what it can hold.
import type { AgentAnswer, TicketOption } from "../../src/choice.ts";
import type { Decision } from "../../src/decision.ts";
import type { TicketEffect, TicketEvent, TicketState } from "../../src/ticket-state.ts";
import type { TicketOpening, TicketView } from "../../src/ticket.ts";

/** Every field name in a type; what could hold anything at all comes out as a name that is on no list. */
type Fields<Type> = unknown extends Type
  ? "(unknown)"
  : Type extends string | number | boolean | undefined
    ? never
    : Type extends readonly (infer Element)[]
      ? Fields<Element>
      : [keyof Type] extends [never]
        ? "(shapeless)"
        : string extends keyof Type
          ? "(index signature)"
          : number extends keyof Type
            ? "(bytes)"
            : { [Name in keyof Type & string]: Name | Fields<Type[Name]> }[keyof Type & string];

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

type RoutingHalf =
  AgentAnswer | TicketOption | Decision | TicketOpening | TicketView | TicketState | TicketEvent | TicketEffect;

type Names =
  // ids
  | "session"
  | "sessionId"
  | "agent"
  | "process"
  | "toolCallId"
  | "child"
  | "approvalId"
  | "optionId"
  | "clientId"
  | "paramsDigest"
  // kinds and names of deciders
  | "kind"
  | "state"
  | "event"
  | "effect"
  | "cause"
  | "outcome"
  | "result"
  | "purpose"
  | "fault"
  | "name"
  // numbers and times
  | "number"
  | "asks"
  | "offersMade"
  | "offer"
  | "faults"
  | "turn"
  | "openedAt"
  | "askedAt"
  | "expiresAt"
  // yes or no
  | "turnCancelling"
  | "knownSession"
  | "refusesAll"
  // what holds the above
  | "options"
  | "ask"
  | "dialogs"
  | "decision"
  | "by"
  | "verdict"
  | "answer"
  | "controllers"
  | "withdraw"
  | "shownTo"
  | "offers";

export const proof: Same<Fields<RoutingHalf>, Names> = true;

/** The same is asked of deliberately wrong types, so that the proof itself is known to see them. */
export const seen: readonly [
  Same<Fields<{ readonly optionId: string; readonly title: string }>, "optionId">,
  Same<Fields<{ readonly optionId: unknown }>, "optionId">,
  Same<Fields<{ readonly optionId: object }>, "optionId">,
  Same<Fields<{ readonly optionId: Readonly<Record<string, string>> }>, "optionId">,
  Same<Fields<{ readonly optionId: Uint8Array }>, "optionId">,
] = [false, false, false, false, false];
