// The user interface's end of a review endpoint. It loads no library, so that a console or a command can carry it.
import { connect } from "node:net";
import { LineBuffer } from "@acp-master/proposal-channel/line-buffer";
import {
  type DecisionEnd,
  type DecisionRequest,
  type ReviewEvent,
  type ReviewRequest,
  maxReviewBytes,
  reviewVersion,
} from "./review-messages.ts";

export interface ReviewClientOptions {
  /** The `review` of a session row. */
  readonly path: string;
  /** Who decides, as others are told. At most 64 characters. */
  readonly name: string;
  /** The executor's name of the place in which the cards are shown, if they are in one. */
  readonly place?: string;
  /** Every event but `decided`, in order; the first is `welcome`. */
  readonly onEvent: (event: Exclude<ReviewEvent, { type: "decided" }>) => void;
  /** Exactly once, when nothing more comes; with a reason for people unless `close` was called. */
  readonly onClose: (reason: string | undefined) => void;
}

export interface ReviewClient {
  /** A person can see this card now. The first such word commits it. */
  shown(proposalId: string): void;
  /** `lost` also when the connection goes before an answer: look at the next welcome. */
  decide(request: DecisionRequest): Promise<DecisionEnd>;
  close(): void;
}

/** Connects once. A path that is not there, or no review endpoint, ends in `onClose` with a reason for people. */
export function openReview(options: ReviewClientOptions): ReviewClient {
  const socket = connect(options.path);
  const lines = new LineBuffer(maxReviewBytes);
  const deciding = new Map<number, (end: DecisionEnd) => void>();
  let lastId = 0;
  let isClosed = false;
  const over = (reason: string | undefined): void => {
    if (isClosed) return;
    isClosed = true;
    socket.destroy();
    for (const settle of deciding.values()) settle("lost");
    deciding.clear();
    options.onClose(reason);
  };
  const say = (request: ReviewRequest): void => {
    if (!isClosed) socket.write(`${JSON.stringify(request)}\n`);
  };
  const hear = (line: Buffer): void => {
    const event = readEvent(line);
    if (event === undefined) return over("The review endpoint sent a line that is none of its protocol.");
    if (event.type === "refused") return over(`The review endpoint refused: ${event.reason}.`);
    if (event.type !== "decided") return options.onEvent(event);
    deciding.get(event.id)?.(event.end);
    deciding.delete(event.id);
  };
  socket.on("data", (chunk: Buffer) => {
    for (const each of lines.push(chunk)) {
      if (isClosed) return;
      if (each.event === "line") hear(each.line);
      else over("The review endpoint sent a line that is too long.");
    }
  });
  socket.on("error", (error) => {
    over(`The review endpoint cannot be reached (${"code" in error ? String(error.code) : error.name}).`);
  });
  socket.on("close", () => over("The Helper closed the review endpoint."));
  const { name, place } = options;
  say({ type: "hello", version: reviewVersion, name, ...(place === undefined ? {} : { place }) });
  return {
    shown: (proposalId) => say({ type: "shown", proposalId }),
    decide: async (request) => {
      if (isClosed) return "lost";
      const id = (lastId += 1);
      const end = new Promise<DecisionEnd>((resolve) => deciding.set(id, resolve));
      say({ type: "decide", id, ...request });
      return await end;
    },
    close: () => over(undefined),
  };
}

const eventTypes = new Set(["welcome", "card", "over", "notice", "turn", "decided", "refused"]);

/** The endpoint is this user's own Helper, so only the kind of a line is checked. */
function readEvent(line: Buffer): ReviewEvent | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is ReviewEvent {
  return typeof value === "object" && value !== null && "type" in value && eventTypes.has(String(value.type));
}

export { reviewVersion } from "./review-messages.ts";
export type {
  Card,
  CardAction,
  CardChoice,
  DecisionEnd,
  DecisionRequest,
  Notice,
  ReviewEvent,
  ShownProposal,
} from "./review-messages.ts";
export type { Mode } from "./executor.ts";
