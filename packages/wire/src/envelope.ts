// What the router may know of a frame: its kind and where the members of a fixed table lie. It holds positions, no values.
import type { Span } from "./spans.ts";
import { absentSpan } from "./spans.ts";

export type FrameKind = "request" | "notification" | "response" | "invalid";
export type FrameProblem = "not_json" | "batch" | "not_object" | "duplicate_key" | "escaped_key" | "bad_envelope";

const NO_BYTES = Buffer.alloc(0);
/** The lists are reused; what one huge frame made them grow to is given back. */
const KEPT_ELEMENTS = 256;

/**
 * Filled by `peek`, reused from frame to frame; its spans refer to the bytes peeked last. With kind `invalid`, `problem` says
 * why, and only `id` (where it is readable and legal) and the presence of `method` mean anything: they tell what to answer.
 */
export class Envelope {
  kind: FrameKind = "invalid";
  problem: FrameProblem | undefined = undefined;
  bytes: Buffer = NO_BYTES;
  start = 0;
  end = 0;

  readonly jsonrpc: Span = absentSpan();
  readonly id: Span = absentSpan();
  readonly method: Span = absentSpan();
  readonly params: Span = absentSpan();
  readonly result: Span = absentSpan();
  readonly error: Span = absentSpan();

  readonly sessionId: Span = absentSpan();
  readonly requestId: Span = absentSpan();
  readonly protocolVersion: Span = absentSpan();
  readonly cwd: Span = absentSpan();
  readonly prompt: Span = absentSpan();
  readonly modeId: Span = absentSpan();
  readonly configId: Span = absentSpan();
  readonly terminalId: Span = absentSpan();
  readonly elicitationId: Span = absentSpan();
  readonly elicitationMode: Span = absentSpan();
  readonly paramsMeta: Span = absentSpan();
  readonly options: Span = absentSpan();
  /** Each element of `params.prompt`; the first `promptElementCount` are valid. */
  readonly promptElements: Span[] = [];
  promptElementCount = 0;
  /** `optionId` and `kind` of each element of `params.options`; the first `optionCount` are valid. */
  readonly optionIds: Span[] = [];
  readonly optionKinds: Span[] = [];
  optionCount = 0;

  readonly update: Span = absentSpan();
  readonly sessionUpdate: Span = absentSpan();
  readonly updateToolCallId: Span = absentSpan();
  readonly updateStatus: Span = absentSpan();
  readonly currentModeId: Span = absentSpan();
  readonly updateConfigOptions: Span = absentSpan();
  readonly updateSessionId: Span = absentSpan();
  readonly updateSenderSessionId: Span = absentSpan();
  readonly updateRecipientSessionId: Span = absentSpan();

  readonly toolCall: Span = absentSpan();
  readonly toolCallId: Span = absentSpan();
  readonly toolCallMeta: Span = absentSpan();

  readonly resultSessionId: Span = absentSpan();
  readonly resultModes: Span = absentSpan();
  readonly resultModels: Span = absentSpan();
  readonly resultConfigOptions: Span = absentSpan();
  readonly resultTerminalId: Span = absentSpan();
  readonly resultSessions: Span = absentSpan();

  readonly outcome: Span = absentSpan();
  readonly outcomeKind: Span = absentSpan();
  readonly outcomeOptionId: Span = absentSpan();

  /** Every span above in a fixed order, for the walk. */
  readonly spans: readonly Span[];

  /** All that is said here was said of the frame before it too, in the same bytes; only `params` and `update` hold another text. */
  repeats = false;
  /** The text of the string by which it differed from that one and which is nothing that is said here; -1: of none that is known. */
  variesFrom = -1;
  variesTo = -1;
  /** Frames in a row that were not what that string let expect. */
  surprises = 0;

  /** Which of them are not absent, so that a frame with few members is quickly forgotten. */
  private readonly filled: Int8Array;
  private filledCount = 0;

  constructor() {
    this.filled = new Int8Array(SPAN_NAMES.length);
    this.spans = SPAN_NAMES.map((name) => this[name]);
  }

  /** Places a span that was absent. */
  place(index: number, start: number, end: number): void {
    const span = this.spans[index]!;
    span.start = start;
    span.end = end;
    this.filled[this.filledCount] = index;
    this.filledCount += 1;
  }

  /** The frame has passed: its bytes are not to be held until the next one comes. */
  release(): void {
    this.bytes = NO_BYTES;
  }

  /** The frame is now [start, end), the same as it was but for the varying text, which is at [from, to). */
  moveTo(start: number, end: number, from: number, to: number): void {
    const before = from - this.variesFrom;
    const behind = to - this.variesTo;
    for (let index = 0; index < this.filledCount; index += 1) {
      const span = this.spans[this.filled[index]!]!;
      span.start += span.start < this.variesFrom ? before : behind;
      span.end += span.end < this.variesFrom ? before : behind;
    }
    this.start = start;
    this.end = end;
    this.variesFrom = from;
    this.variesTo = to;
    this.repeats = true;
  }

  /** Remembers the text of a string value of this frame, if it is in the params and in no other member of the table but `update`. */
  varies(from: number, to: number): void {
    const { params, update } = this;
    if (params.start === -1 || from <= params.start || to >= params.end) return;
    for (let index = 0; index < this.filledCount; index += 1) {
      const span = this.spans[this.filled[index]!]!;
      if (span.start < from && to < span.end && span !== params && span !== update) return;
    }
    this.variesFrom = from;
    this.variesTo = to;
  }

  /** Nothing is known of this frame yet. */
  reset(bytes: Buffer, start: number, end: number): void {
    this.kind = "invalid";
    this.problem = undefined;
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    for (let index = 0; index < this.filledCount; index += 1) this.spans[this.filled[index]!]!.start = -1;
    this.filledCount = 0;
    this.repeats = false;
    this.variesFrom = -1;
    this.promptElementCount = 0;
    this.optionCount = 0;
    if (this.promptElements.length > KEPT_ELEMENTS) this.promptElements.length = KEPT_ELEMENTS;
    if (this.optionIds.length > KEPT_ELEMENTS) this.optionIds.length = this.optionKinds.length = KEPT_ELEMENTS;
  }
}

const SPAN_NAMES = [
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
  "sessionId",
  "requestId",
  "protocolVersion",
  "cwd",
  "prompt",
  "modeId",
  "configId",
  "terminalId",
  "elicitationId",
  "elicitationMode",
  "paramsMeta",
  "options",
  "update",
  "sessionUpdate",
  "updateToolCallId",
  "updateStatus",
  "currentModeId",
  "updateConfigOptions",
  "updateSessionId",
  "updateSenderSessionId",
  "updateRecipientSessionId",
  "toolCall",
  "toolCallId",
  "toolCallMeta",
  "resultSessionId",
  "resultModes",
  "resultModels",
  "resultConfigOptions",
  "resultTerminalId",
  "resultSessions",
  "outcome",
  "outcomeKind",
  "outcomeOptionId",
] as const satisfies readonly (keyof Envelope)[];

export type SpanName = (typeof SPAN_NAMES)[number];

export function spanIndex(name: SpanName): number {
  return SPAN_NAMES.indexOf(name);
}
