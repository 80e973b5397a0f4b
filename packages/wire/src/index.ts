// What the package offers: frames, envelopes and splices of bytes. Nothing here decodes a frame's content or knows a method.
export { Envelope } from "./envelope.ts";
export type { FrameKind, FrameProblem } from "./envelope.ts";
export { FrameReader } from "./frame-reader.ts";
export type { FrameReaderReceiver } from "./frame-reader.ts";
export { FrameSplitter } from "./frame-splitter.ts";
export type { FrameReceiver } from "./frame-splitter.ts";
export { FrameWriter } from "./frame-writer.ts";
export type { FrameWriterOptions } from "./frame-writer.ts";
export { hasOneReading } from "./one-reading.ts";
export { peek } from "./peek.ts";
export { readString, spanBytes, spanEquals } from "./spans.ts";
export type { Span } from "./spans.ts";
export { appendElement, insertMember, removeMember, setMember, splice } from "./splice.ts";
export type { Edit } from "./splice.ts";
export { stringEquals } from "./string-equals.ts";
export { frameOf, parseFrame } from "./whole-frame.ts";
export { WireError } from "./wire-error.ts";
export type { WireErrorCode } from "./wire-error.ts";
