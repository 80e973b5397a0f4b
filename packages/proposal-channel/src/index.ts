// What proposal-channel offers. The upper part is enough for the command that proposes and loads no library.
export { decodeBase64url } from "./invocation.ts";
export { connectToHelper } from "./connect.ts";
export type { Attempts, Connected } from "./connect.ts";
export { platformPlace } from "./endpoint.ts";
export type { Endpoint, EndpointPlace, Unsafe } from "./endpoint.ts";
export { exchange } from "./exchange.ts";
export type { ExchangeFailure, Exchanged } from "./exchange.ts";
export { channelLabel, instanceOf, isChannel, newChannel, newInstance, parseChannel } from "./channel.ts";
export type { Channel, HelperInstance, ParsedChannel, RandomHex } from "./channel.ts";
export { maxConnections, maxFrameBytes, maxPayloadBytes, personMs } from "./limits.ts";
export { listenPrivately } from "./private-listener.ts";
export { encodeRequest } from "./request.ts";
export { encodeFinal, encodeValidation } from "./responses.ts";
export type { Final, Refusal, RefusalStatus, Validation, ValidationStatus } from "./responses.ts";
export { decodeUtf8, isJsonObject, jsonProblem } from "./strict-json.ts";
export type { JsonForm, JsonProblem } from "./strict-json.ts";

export { payloadOf, placeholder, recognise, render, template } from "./invocation.ts";
export type { Command, Invocation, Recognition, Shell, Spelling, Unrecognised } from "./invocation.ts";
export { looksLikeProposal } from "./looks-like.ts";
export { judgePermission, judgeRow } from "./judge.ts";
export type { Arming, AskedCall, Judgement, ProposingAgent, RefusalClass, RowVerdict } from "./judge.ts";
export { shortText, terminalActions } from "./action-type.ts";
export type {
  Action,
  ActionReach,
  ActionType,
  Offered,
  OpenAction,
  OpenAndSendAction,
  SendAction,
} from "./action-type.ts";
export { readPayload } from "./payload.ts";
export type { Choice, Proposal, ReadPayload } from "./payload.ts";
export { autofixPolicy, decideProposal, terminalAgentPolicy } from "./decision.ts";
export type { Abilities, Decision, OriginPolicy, PolicyResult, Situation, Staged } from "./decision.ts";
export type { Armed } from "./begin.ts";
export { payloadDigest } from "./begin.ts";
export type { Binding, FinalStatus, ProposalRef } from "./book.ts";
export { systemClock } from "./clock.ts";
export type { Clock } from "./clock.ts";
export type { OpenProposal, ReviewSurface } from "./review-surface.ts";
export { ProposalServer } from "./proposal-server.ts";
export type { OpenedServer, Responder, ServerOptions } from "./proposal-server.ts";
export { Proposals } from "./proposals.ts";
export type { Confirmed, ProposalsOptions, SessionChange } from "./proposals.ts";
