// The way of an update from an agent to its clients: session → lane → guard and status → position in the log →
// attachments. Runs of frames that need nothing leave as one slice.

import {
  type Envelope,
  hasOneReading,
  readString,
  spanBytes,
  spanEquals,
  splice,
  stringEquals,
} from "@acp-master/wire";
import { isTerminal } from "@acp-master/permission-core";
import type { AgentLink } from "./agent-link.ts";
import { HeldBack } from "./held-back.ts";
import { copied, keep, reopened } from "./kept-frame.ts";
import type { Verdict } from "./lane.ts";
import { lasting } from "./lasting.ts";
import { json, notificationFrame } from "./message.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import type { ToolCallName } from "./tool-calls.ts";
import { type UpdateKind, updateKind } from "./update-kind.ts";

/** Further behind than this a client is let go. */
const MAX_LAG_BYTES = 2 * 1024 * 1024 * 1024;

const TOOL_CALL = Buffer.from("tool_call");

/** Consecutive frames of one chunk that all go the same way. */
interface Run {
  readonly session: Session;
  readonly bytes: Buffer;
  readonly start: number;
  end: number;
}

export class AgentUpdates {
  readonly #router: Router;
  #run: Run | undefined;
  /** The session of the last frame, by the raw bytes of its id: most frames come in long runs of one session. */
  #last: { link: AgentLink; session: Session } | undefined;
  /** Processes that wait because a lane of theirs is full. */
  readonly #fullLanes = new Map<AgentLink, Set<Session>>();
  readonly heldBack: HeldBack;

  constructor(router: Router) {
    this.#router = router;
    this.heldBack = new HeldBack((key, bytes) => router.permissions.helpers.canTake(key, bytes));
  }

  update(link: AgentLink, envelope: Envelope): void {
    // What was decided of the frame before holds for one that says the same.
    if (envelope.repeats && this.#run?.bytes === envelope.bytes && this.#run.end + 1 === envelope.start) {
      this.#run.end = envelope.end;
      return;
    }
    const session = this.#sessionOf(link, envelope);
    if (!session) {
      this.flush();
      this.#router.early.unknownUpdate(link, envelope);
      return;
    }
    const kind = updateKind(envelope.bytes, envelope.sessionUpdate);
    if (kind.class === "plain" && !session.lane.busy && !session.replaying) {
      this.#extend(link, session, envelope);
      return;
    }
    this.flush();
    if (session.replaying && kind.history) {
      session.replaying.dropped++;
      session.replaying.lastAt = Date.now();
      return;
    }
    if (kind.class === "tool") this.#toolUpdate(link, session, envelope);
    else if (session.lane.busy) session.lane.follow(copied(envelope));
    else this.#deliver(session, envelope, kind);
  }

  /** A frame that waited in the lane. Responses and requests go back to where they came from. */
  continued(link: AgentLink, session: Session, frame: Buffer, verdict: Verdict | undefined): void {
    if (verdict === undefined) {
      link.resume(frame);
      this.flush();
      return;
    }
    this.#judged(session, reopened(frame), verdict);
  }

  /** Ends the run: its frames get their position and leave. */
  flush(): void {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    run.session.append(run.bytes.subarray(run.start, run.end + 1));
    this.#keepWithinBounds(run.session);
  }

  /** A session's lane is full, or has room again: the whole process waits. */
  pace(link: AgentLink, session: Session, full: boolean): void {
    const lanes = this.#fullLanes.get(link) ?? new Set<Session>();
    if (full) lanes.add(session);
    else lanes.delete(session);
    if (lanes.size > 0) {
      this.#fullLanes.set(link, lanes);
      link.process.pause();
    } else {
      this.#fullLanes.delete(link);
      if (link.state !== "ended") link.process.resume();
    }
  }

  #extend(link: AgentLink, session: Session, envelope: Envelope): void {
    const { bytes, start, end } = envelope;
    const run = this.#run;
    if (run && run.session === session && run.bytes === bytes && run.end + 1 === start) {
      run.end = end;
      return;
    }
    this.flush();
    this.#run = { session, bytes, start, end };
  }

  #sessionOf(link: AgentLink, envelope: Envelope): Session | undefined {
    const last = this.#last;
    if (last && last.link === link && spanEquals(envelope.bytes, envelope.sessionId, last.session.agentIdBytes)) {
      if (link.sessions.get(last.session.agentId) === last.session) return last.session;
    }
    const agentId = readString(envelope.bytes, envelope.sessionId);
    if (agentId === undefined) return undefined;
    const session = link.sessions.get(agentId) ?? link.children.get(agentId);
    if (session && session.agentId === agentId) this.#last = { link, session };
    return session;
  }

  #toolUpdate(link: AgentLink, session: Session, envelope: Envelope): void {
    const { permissions } = this.#router;
    const hooks = permissions.helpers.hooks(session.key);
    if (!hooks.toolSeen && !hooks.toolCall) {
      if (session.lane.busy) session.lane.follow(copied(envelope));
      else this.#deliver(session, envelope, updateKind(envelope.bytes, envelope.sessionUpdate));
      return;
    }
    // A Helper must not judge one reading while clients see another.
    if (!hasOneReading(envelope.bytes, envelope.params)) {
      link.process.noise(envelope.bytes.subarray(envelope.start, envelope.end));
      return;
    }
    const call = session.toolCallOf(envelope);
    const key = call.child === undefined ? session.key : permissions.helperKey(session, call.child);
    const bytes = envelope.end - envelope.start;
    const known = this.#knownVerdict(session, call);
    if (known !== undefined && !session.lane.busy && this.heldBack.takes(key, bytes)) {
      if (hooks.toolSeen) permissions.helpers.toolSeen(key, helperParams(session, envelope));
      this.#judged(session, envelope, known);
      return;
    }
    const kept = keep(envelope);
    const answer = session.lane.await(kept.bytes);
    this.heldBack.hand(key, bytes, () => this.#ask(session, { key, call, frame: kept }, answer));
  }

  /** Undefined: the Helper is to be asked. */
  #knownVerdict(session: Session, call: ToolCallName): "pass" | "hide" | undefined {
    const { toolCall } = this.#router.permissions.helpers.hooks(session.key);
    return toolCall && call.toolCallId !== "" ? session.judged.verdict(call.key) : "pass";
  }

  /** Its turn with the Helper has come. */
  #ask(
    session: Session,
    { key, call, frame }: { key: string; call: ToolCallName; frame: Envelope },
    answer: (verdict: Verdict) => void,
  ): void {
    const { helpers } = this.#router.permissions;
    if (helpers.hooks(session.key).toolSeen) helpers.toolSeen(key, helperParams(session, frame));
    const known = this.#knownVerdict(session, call);
    if (known !== undefined) return answer(known);
    const isAsked = helpers.toolCall(key, helperParams(session, frame), (verdict, final) => {
      if (final || verdict === "hide") session.judged.remember(call.key, verdict === "hide" ? "hide" : "pass");
      answer(verdict);
    });
    if (!isAsked) answer("pass");
  }

  #judged(session: Session, envelope: Envelope, verdict: Verdict): void {
    const kind = updateKind(envelope.bytes, envelope.sessionUpdate);
    const call = session.toolCallOf(envelope);
    if (verdict === "pass") {
      this.#deliver(session, envelope, kind);
    } else if (verdict === "reduced" || session.judged.wasShown(call.key)) {
      this.#deliver(session, reopened(reducedFrame(envelope)), kind);
    } else {
      // Hidden for good, but a terminal status still ends a question about this call.
      const status = readString(envelope.bytes, envelope.updateStatus);
      this.#ended(session, call, status);
      if (isTerminal(status)) session.judged.forget(call.key);
    }
    this.#keepWithinBounds(session);
  }

  /** Guard and status, then the log. */
  #deliver(session: Session, envelope: Envelope, kind: UpdateKind): void {
    switch (kind.class) {
      case "tool":
        this.#deliverTool(session, envelope);
        return;
      case "snapshot":
        // What is told of a session below is not this one's state.
        if (session.hasChildren && session.isOfChild(envelope)) break;
        this.#noteState(session, envelope, kind.name);
        session.appendSnapshot(kind.name, copied(envelope));
        return;
      case "subagent":
        this.#noteChild(session, envelope);
        session.hasOptionalKinds = true;
        break;
      case "optional":
        session.hasOptionalKinds = true;
        break;
      case "plain":
        break;
    }
    session.append(envelope.bytes.subarray(envelope.start, envelope.end + 1));
  }

  #deliverTool(session: Session, envelope: Envelope): void {
    const call = session.toolCallOf(envelope);
    this.#ended(session, call, readString(envelope.bytes, envelope.updateStatus));
    const { tickets } = this.#router.permissions;
    if (tickets.guarded(session.key, call.toolCallId, call.child)) {
      const held = session.tools.hold(call.key, copied(envelope));
      if (held === "held") return;
      if (held !== "passes") {
        for (const frame of held) this.#released(session, frame);
        return;
      }
    }
    this.#appendTool(session, envelope, call);
  }

  /** What the guard held goes out, in order, ahead of anything newer for that tool call. */
  release(session: Session, call: ToolCallName): void {
    for (const frame of session.tools.release(call.key)) this.#released(session, frame);
  }

  #released(session: Session, frame: Buffer): void {
    const envelope = reopened(frame);
    this.#appendTool(session, envelope, session.toolCallOf(envelope));
  }

  #appendTool(session: Session, envelope: Envelope, call: ToolCallName): void {
    const { bytes, start, end } = envelope;
    const sessionUpdate = stringEquals(bytes, envelope.sessionUpdate, TOOL_CALL) ? "tool_call" : "tool_call_update";
    const status = readString(bytes, envelope.updateStatus);
    session.judged.shown(call.key);
    const corrected =
      call.toolCallId === "" ? undefined : session.tools.correctedStatus(call.key, { sessionUpdate, status });
    if (isTerminal(status)) session.judged.forget(call.key);
    if (corrected === undefined) session.append(bytes.subarray(start, end + 1));
    else session.append(splice(bytes, start, end, [{ ...envelope.updateStatus, bytes: json(corrected) }]));
  }

  #ended(session: Session, { toolCallId, child }: ToolCallName, status: string | undefined): void {
    if (isTerminal(status)) this.#router.permissions.tickets.terminalStatus(session.key, toolCallId, child);
  }

  #noteState(session: Session, envelope: Envelope, kind: string): void {
    if (kind === "current_mode_update") {
      const modeId = readString(envelope.bytes, envelope.currentModeId);
      if (modeId !== undefined) session.currentModeId = modeId;
    } else if (kind === "config_option_update" && envelope.updateConfigOptions.start >= 0) {
      session.configOptions = lasting(spanBytes(envelope.bytes, envelope.updateConfigOptions));
    }
  }

  #noteChild(session: Session, envelope: Envelope): void {
    const child = readString(envelope.bytes, envelope.updateSessionId);
    if (child === undefined || !session.route || session.route.sessions.has(child)) return;
    session.route.children.set(child, session);
    const oldest = session.addChild(child, this.#router.sessions.reserve(session.agent, child));
    const { permissions } = this.#router;
    if (oldest !== undefined) {
      session.route.children.delete(oldest);
      permissions.childEnded(session, oldest);
    }
    const hooks = permissions.helpers.hooks(session.key);
    if (hooks.toolSeen || hooks.toolCall) permissions.helperKey(session, child);
  }

  /** A client that is behind costs disk and no memory; one that is hopelessly behind is let go. */
  #keepWithinBounds(session: Session): void {
    session.trimLog();
    if (session.lag <= MAX_LAG_BYTES) return;
    for (const [client, attachment] of session.attachments) {
      if (attachment.lag > MAX_LAG_BYTES) client.drop("this client is more than 2 GiB behind");
    }
  }
}

/** What the Helper is shown: the agent's params under the id that clients see. */
function helperParams(session: Session, { bytes, params, sessionId }: Envelope): Buffer {
  const name = session.outwardName(bytes, sessionId);
  if (!name) return spanBytes(bytes, params);
  return Buffer.concat([
    bytes.subarray(params.start, sessionId.start),
    name,
    bytes.subarray(sessionId.end, params.end),
  ]);
}

/** Of a tool call that stays hidden only its id and status are shown. */
function reducedFrame(envelope: Envelope): Buffer {
  const { bytes } = envelope;
  const status = envelope.updateStatus.start < 0 ? undefined : spanBytes(bytes, envelope.updateStatus);
  const params = Buffer.concat([
    Buffer.from('{"sessionId":'),
    spanBytes(bytes, envelope.sessionId),
    Buffer.from(',"update":{"sessionUpdate":"tool_call_update","toolCallId":'),
    spanBytes(bytes, envelope.updateToolCallId),
    ...(status ? [Buffer.from(',"status":'), status] : []),
    Buffer.from("}}"),
  ]);
  return notificationFrame("session/update", params);
}
