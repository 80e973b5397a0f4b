// The turns of a session: one prompt runs, others wait in line, a cancel reaches only what it was meant for. Every prompt is
// answered exactly once.

import { type Edit, type Envelope, splice } from "@acp-master/wire";
import { fault, INVALID_PARAMS, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { inwardEdits } from "./forward.ts";
import { saveSession } from "./keep-sessions.ts";
import { idText, isArraySpan, reopened, underId } from "./kept-frame.ts";
import { notificationFrame } from "./message.ts";
import { replayOver, restore } from "./restore.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { failureOf, sessionLost } from "./session-lost.ts";
import type { Turn } from "./turn-queue.ts";

/** So old may be what is kept of a session in use. */
const SAVE_MS = 60_000;

const ECHO_HEAD = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":');
const ECHO_CONTENT = Buffer.from(',"update":{"sessionUpdate":"user_message_chunk","content":');
const ECHO_TAIL = Buffer.from("}}}\n");

const NOTHING = Buffer.alloc(0);
const CANCELLED = Buffer.from('{"stopReason":"cancelled"}');

export function prompt(router: Router, client: ClientConnection, envelope: Envelope): void {
  const id = idText(envelope);
  const reached = router.reach(client, envelope);
  if (!reached.ok) return client.refuse(id, reached.error);
  const { session } = reached;
  if (router.stopping) return client.refuse(id, stoppingError());
  if (!isArraySpan(envelope.bytes, envelope.prompt)) {
    return client.refuse(id, { code: INVALID_PARAMS, message: '"prompt" must be a list of content blocks.' });
  }
  const { bytes, start, end } = envelope;
  const turn = session.turns.add(client, id, bytes.subarray(start, end + 1), router.config.limits.promptQueue);
  if (!turn) {
    const message = `As many prompts as may already wait in this session (${session.turns.queued.length}); send this one again when one of them is done.`;
    return client.refuse(id, fault("busy", message));
  }
  client.onCancel(id, () => cancelRequest(router, session, turn));
  startNext(router, session, { turn, prompt: envelope });
  // What waits must not change with the chunk that it came in, nor hold it.
  if (turn.state !== "handed_on") turn.frame = Buffer.from(turn.frame);
}

/** session/cancel: the running turn and this client's own waiting prompts, nobody else's. */
export function cancel(router: Router, client: ClientConnection, envelope: Envelope): void {
  const reached = router.reach(client, envelope);
  if (!reached.ok) return; // a notification has no answer to put an error in
  const { session } = reached;
  const frame = splice(envelope.bytes, envelope.start, envelope.end, inwardEdits(session, envelope));
  cancelTurn(router, session, (turn) => turn.client === client, frame);
}

/** `waiting` says which prompts that still wait are cancelled too; `frame` is the client's own, where it was a client. */
export function cancelTurn(
  router: Router,
  session: Session,
  waiting: (turn: Turn) => boolean,
  frame: Buffer = cancelFrame(session),
): void {
  for (const turn of session.turns.remove(waiting)) answerTurn(session, turn, CANCELLED);
  const { current } = session.turns;
  if (!current || current.cancelling) return;
  current.cancelling = true;
  router.permissions.tickets.turnCancelled(session.key);
  router.permissions.helpers.sessionChanged(session.key, "cancelled");
  if (current.state === "preparing") {
    answerTurn(session, current, CANCELLED);
    ended(router, session, current, "cancelled");
    return;
  }
  session.route?.write(frame);
  router.giveUp.watch(session, current);
  router.changed(session);
}

const cancelFrame = (session: Session): Buffer =>
  notificationFrame(
    "session/cancel",
    Buffer.concat([Buffer.from('{"sessionId":'), session.agentIdBytes, Buffer.from("}")]),
  );

/** `$/cancel_request` for a prompt. The agent, once it has the prompt, decides what that means. */
function cancelRequest(router: Router, session: Session, turn: Turn): void {
  if (turn.state === "handed_on") {
    if (turn.call !== undefined) session.route?.cancelCall(turn.call);
    return;
  }
  const [waiting] = session.turns.remove((queued) => queued === turn);
  if (waiting) answerTurn(session, waiting, CANCELLED);
  else if (session.turns.current === turn) cancelTurn(router, session, () => false);
}

interface Arrived {
  readonly turn: Turn;
  /** Lent for this call. */
  readonly prompt: Envelope;
}

function startNext(router: Router, session: Session, arrived?: Arrived): void {
  const turn = session.turns.advance();
  if (!turn) return;
  router.changed(session);
  if (session.route && !session.restoring && !session.replaying) prepare(router, session, turn, arrived);
  else void revive(router, session, turn);
}

/** Its process is gone, or its restore has only just been answered: the prompt waits in its place. */
async function revive(router: Router, session: Session, turn: Turn): Promise<void> {
  const error = await restore(router, session, turn.client);
  if (!error) await replayOver(session);
  if (session.turns.current !== turn || turn.state !== "preparing") return;
  if (!error) return prepare(router, session, turn);
  refuseTurn(session, turn, error);
  ended(router, session, turn, "failed");
}

/** What the Helper has to say to the prompt, then the agent. */
function prepare(router: Router, session: Session, turn: Turn, arrived?: Arrived): void {
  let prompt = arrived?.turn === turn ? arrived.prompt : undefined;
  router.permissions.helpers.turnStart(session.key, String(turn.id), (append) => {
    if (session.turns.current !== turn || turn.state !== "preparing") return;
    handOn(router, session, { turn, prompt: prompt ?? reopened(turn.frame) }, append);
  });
  prompt = undefined;
}

function handOn(router: Router, session: Session, { turn, prompt }: Arrived, append: Buffer | undefined): void {
  const link = session.route;
  if (!link || link.state === "ended") {
    refuseTurn(session, turn, sessionLost(session));
    return ended(router, session, turn, "refused");
  }
  turn.state = "handed_on";
  session.hadTurn = true;
  if (!session.keptTurn) {
    // Before the agent can know of it: a session without a turn may be replaced by another.
    session.keptTurn = true;
    saveSession(router, session);
  }
  turn.frame = NOTHING;
  const frame = withBlocks(prompt, append);
  const edits: Edit[] = session.renamed ? [{ ...frame.sessionId, bytes: session.agentIdBytes }] : [];
  // Let go of with the echo: the agent's answer may take long.
  let unechoed: Envelope | undefined = prompt;
  const echo = (): void => {
    if (unechoed) echoToOthers(router, session, { turn, prompt: unechoed });
    unechoed = undefined;
  };
  turn.call = link.forward(frame, edits, {
    session,
    origin: { client: turn.client, id: turn.requestId },
    answered: (answer) => turnAnswered(router, link, { session, turn }, answer),
    failed: (error) => {
      // It may fail within this call: what was asked still comes before what came of it.
      echo();
      refuseTurn(session, turn, error);
      ended(router, session, turn, "failed");
    },
  });
  // The agent has begun; now its other clients are told of what it was asked.
  echo();
}

function turnAnswered(
  router: Router,
  link: AgentLink,
  { session, turn }: { session: Session; turn: Turn },
  answer: Envelope,
): void {
  // Open questions of this turn go first: what they held back belongs before the turn's end.
  router.permissions.tickets.turnEnded(session.key, turn.id);
  if (!turn.answered) {
    turn.answered = true;
    const frame = underId(answer, turn.requestId);
    turn.client.relayAnswer(turn.requestId, frame, session.attachments.get(turn.client), session.log.end);
    // Whoever asked goes on while the turn is put away here.
    turn.client.flush();
  }
  if (answer.result.start >= 0) router.pool.worked(link.agent);
  ended(router, session, turn, answer.result.start >= 0 ? "answered" : "failed");
}

/** The turn is over: the next prompt may go. */
function ended(router: Router, session: Session, turn: Turn, stopReason: string): void {
  // Given up earlier: what is open here is another turn's.
  if (session.turns.current !== turn) return;
  session.turns.end(turn);
  session.tools.turnEnded();
  session.log.turnBoundary();
  if (Date.now() - session.savedAt > SAVE_MS) saveSession(router, session);
  router.giveUp.unwatch(session);
  router.permissions.helpers.turnEnd(session.key, String(turn.id), stopReason);
  startNext(router, session);
  router.changed(session);
  router.running.ended();
}

/** The process is gone, as `cause` says: what waits for it is answered. The prompt that it had was answered with its end. */
export function failTurn(router: Router, session: Session, cause?: RpcError): void {
  const error = sessionLost(session, cause && failureOf(cause));
  for (const turn of session.turns.remove(() => true)) refuseTurn(session, turn, error);
  const { current } = session.turns;
  if (!current) return;
  refuseTurn(session, current, error);
  ended(router, session, current, "failed");
}

/** The session is closed: the agent owes no answer to its prompts any more. */
export function endTurns(router: Router, session: Session): void {
  for (const turn of session.turns.remove(() => true)) answerTurn(session, turn, CANCELLED);
  const { current } = session.turns;
  if (!current) return;
  answerTurn(session, current, CANCELLED);
  ended(router, session, current, "cancelled");
}

/** The agent does not end the turn that was cancelled: its client gets its answer from here. */
export function answerCancelled(session: Session, turn: Turn): void {
  answerTurn(session, turn, CANCELLED);
}

function answerTurn(session: Session, turn: Turn, result: Buffer): void {
  if (turn.answered) return;
  turn.answered = true;
  turn.client.respond(turn.requestId, result, session.attachments.get(turn.client), session.log.end);
}

function refuseTurn(session: Session, turn: Turn, error: RpcError): void {
  if (turn.answered) return;
  turn.answered = true;
  turn.client.refuse(turn.requestId, error, session.attachments.get(turn.client), session.log.end);
}

/** The others see what was asked; whoever asked it knows, and sees it only when it wants to. */
function echoToOthers(router: Router, session: Session, { turn, prompt }: { turn: Turn; prompt: Envelope }): void {
  router.updates.flush();
  const { bytes, promptElements, promptElementCount } = prompt;
  const attachment = turn.client.identity.echo ? undefined : session.attachments.get(turn.client);
  // An agent that answers at once finds a daemon that has nothing else to do.
  const mayWait = attachment !== undefined && session.attachments.size === 1;
  for (let i = 0; i < promptElementCount; i++) {
    const block = promptElements[i]!;
    const content = bytes.subarray(block.start, block.end);
    const frame = Buffer.concat([ECHO_HEAD, session.agentIdBytes, ECHO_CONTENT, content, ECHO_TAIL]);
    attachment?.skip(session.log.end, session.log.end + frame.length);
    session.append(frame, mayWait);
  }
}

/** The Helper's blocks at the end of the prompt, unread. */
function withBlocks(frame: Envelope, append: Buffer | undefined): Envelope {
  if (!append) return frame;
  const inner = append.subarray(append.indexOf(0x5b) + 1, append.lastIndexOf(0x5d));
  if (isBlank(inner)) return frame;
  const last = frame.prompt.end - 1;
  const bytes = frame.promptElementCount > 0 ? Buffer.concat([Buffer.from(","), inner]) : inner;
  return reopened(splice(frame.bytes, frame.start, frame.end, [{ start: last, end: last, bytes }]));
}

export const stoppingError = (): RpcError =>
  fault("stopping", "acp-master is stopping and takes no more prompts; try again after it has started anew.");

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09);
