// One session: who it is, where it runs now, who looks on, what they saw. It outlives its clients and its process.

import { appendElement, type Edit, type Envelope, readString, type Span, spanEquals, splice } from "@acp-master/wire";
import type { Preset } from "@acp-master/permission-core";
import type { SnapshotKind } from "../journal/index-lines.ts";
import type { Journal } from "../journal/journal.ts";
import type { AgentLink } from "./agent-link.ts";
import { Attachment, type AttachedSession } from "./attachment.ts";
import type { ClientConnection } from "./client-connection.ts";
import { reopened } from "./kept-frame.ts";
import { JudgedCalls } from "./judged-calls.ts";
import { Lane, type Verdict } from "./lane.ts";
import { lasting } from "./lasting.ts";
import type { RpcError } from "../protocol/reasons.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { SessionTerminals } from "./session-terminals.ts";
import { ToolCalls, type ToolCallName, toolCallName } from "./tool-calls.ts";
import { TurnQueue } from "./turn-queue.ts";
import { updateKind } from "./update-kind.ts";

export interface SessionPlace {
  readonly agent: string;
  /** The agent's own id. */
  readonly agentId: string;
  /** The id that clients see. */
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
}

/** With what it begins: anew, or as it was kept. */
export interface SessionStart {
  readonly log: Journal;
  readonly preset: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly hadTurn: boolean;
}

/** What the session needs of the outside. */
export interface SessionOwner {
  /** A frame that waited in the lane goes on. */
  continued(session: Session, frame: Buffer, verdict: Verdict | undefined): void;
  /** The lane has reached its bound, or has room again. */
  laneFull(session: Session, full: boolean): void;
}

/** A longer id of an agent's is none: lists hold hundreds, and each session's record is one small file. */
export const MAX_ID_LENGTH = 4096;

const CONFIG_OPTIONS = '"configOptions"';

/** Sessions below one, at a time. */
const MAX_CHILDREN = 1024;

export const sessionKey = (agent: string, agentId: string): string => `${agent}\0${agentId}`;

export class Session implements AttachedSession {
  readonly key: string;
  readonly agent: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly agentIdBytes: Buffer;
  readonly sessionIdBytes: Buffer;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly createdAt: number;
  updatedAt: number;
  /** When a client last left it; 0: in this run none has. */
  leftAt = 0;

  /** Where it runs now. */
  route: AgentLink | undefined;
  /** Requests and updates came before the result that makes it a session. */
  provisional = false;
  /** `removed`: nothing of it is left, it is in no list. */
  state: "open" | "parked" | "lost" | "closed" | "removed" = "open";
  /** As whoever opened it gave them; a restore hands them on. */
  mcpServers: readonly unknown[] = [];
  /** A restore that is under way. */
  restoring: Promise<RpcError | undefined> | undefined;
  /** While the agent loads it: who else asked for it, told once how that ended. */
  opening: ((error: RpcError | undefined) => void)[] | undefined;
  hadTurn: boolean;
  /** That it had one is kept on disk. */
  keptTurn: boolean;
  /** When it was last saved. */
  savedAt = 0;

  readonly attachments = new Map<ClientConnection, Attachment>();
  /** What clients saw, on disk. */
  readonly log: Journal;
  readonly turns = new TurnQueue();
  readonly tools = new ToolCalls();
  readonly lane: Lane;
  readonly judged = new JudgedCalls();
  readonly terminals = new SessionTerminals();

  /** Result of the last new, load or resume, without its sessionId: an object as the agent wrote it. */
  opened: Buffer = EMPTY_OBJECT;
  /** That result was no object: null, usually. */
  openedAsNull = false;
  /** What was set since: the mode, and all options as the agent last gave them (raw JSON). */
  currentModeId: string | undefined;
  currentModelId: string | undefined;
  configOptions: Buffer | undefined;
  /** The agent replays a history that is known here: those frames are dropped and counted. */
  replaying: { dropped: number; lastAt: number } | undefined;
  /** What the Helper declared; undefined while it has not said so. */
  presets: readonly Preset[] | undefined;
  /** It had its time to say so. */
  presetsAwaited = false;
  preset: string;
  hasOptionalKinds = false;
  hasChildren = false;
  /** Frames of the log before it may be of former runs; how far those go is looked at when the first client attaches. */
  formerUntil = Number.POSITIVE_INFINITY;
  readonly #children = new Set<string>();
  /** What clients see in place of the agent's ids, where that differs. */
  readonly #names = new Map<string, Buffer>();
  /** Whether the approvals option is shown in every list of options; undefined until the session's first answer. */
  showsApprovals: boolean | undefined;

  constructor(place: SessionPlace, start: SessionStart, owner: SessionOwner) {
    this.log = start.log;
    this.preset = start.preset;
    this.createdAt = start.createdAt;
    this.updatedAt = start.updatedAt;
    this.hadTurn = start.hadTurn;
    this.keptTurn = start.hadTurn;
    this.key = sessionKey(place.agent, place.agentId);
    this.agent = place.agent;
    this.agentId = place.agentId;
    this.sessionId = place.sessionId;
    this.agentIdBytes = lasting(json(place.agentId));
    this.sessionIdBytes = place.sessionId === place.agentId ? this.agentIdBytes : lasting(json(place.sessionId));
    if (this.renamed) this.#names.set(this.agentId, this.sessionIdBytes);
    this.cwd = place.cwd;
    this.roots = [place.cwd, ...place.additionalDirectories];
    this.lane = new Lane(
      (frame, verdict) => owner.continued(this, frame, verdict),
      (full) => owner.laneFull(this, full),
    );
  }

  /** Closed or removed. Whoever has waited for something looks here first. */
  get hasEnded(): boolean {
    return this.state === "closed" || this.state === "removed";
  }

  get renamed(): boolean {
    return this.agentId !== this.sessionId;
  }

  /** Whether clients see any of these frames otherwise than the agent wrote it. */
  rewritesOutward(frames: Buffer): boolean {
    // The key cannot be spelled otherwise: an escaped one makes its frame invalid.
    return this.#names.size > 0 || (this.showsApprovals === true && frames.includes(CONFIG_OPTIONS));
  }

  /** The frame as clients see it; undefined: as it is. */
  outward(frame: Buffer): Buffer | undefined {
    const envelope = reopened(frame);
    if (envelope.kind === "invalid") return undefined;
    const edits: Edit[] = [];
    const kind = updateKind(frame, envelope.sessionUpdate);
    const { sessionId, updateSessionId, updateSenderSessionId, updateRecipientSessionId } = envelope;
    const inUpdate =
      kind.needs === "subagents" ? [updateSessionId, updateSenderSessionId, updateRecipientSessionId] : [];
    for (const span of [sessionId, ...inUpdate]) {
      const bytes = this.outwardName(frame, span);
      if (bytes) edits.push({ ...span, bytes });
    }
    if (this.showsApprovals && envelope.updateConfigOptions.start >= 0 && kind.name === "config_option_update") {
      edits.push(appendElement(frame, envelope.updateConfigOptions, json(this.approvalsOption())));
    }
    if (edits.length === 0) return undefined;
    return splice(
      frame,
      0,
      frame.length - 1,
      edits.toSorted((a, b) => a.start - b.start),
    );
  }

  /** The preset as one more option of the session. */
  approvalsOption(): Record<string, unknown> {
    const known = this.presetInForce !== undefined;
    const options = (this.presets ?? []).map(({ value, name, description }) => ({
      value,
      name,
      ...(description === undefined ? {} : { description }),
    }));
    return {
      id: "acp-master.approvals",
      name: "Approvals",
      description: "Who decides when the agent asks for permission",
      type: "select",
      currentValue: known ? this.preset : "custom",
      options: known ? options : [...options, { value: "custom", name: "Custom" }],
    };
  }

  get presetInForce(): Preset | undefined {
    return this.presets?.find((preset) => preset.value === this.preset);
  }

  /** Whole frames that every client is to see; returns where they begin. `mayWait` as in the log. */
  append(frames: Buffer, mayWait = false): number {
    const position = this.log.end;
    this.log.append(frames, mayWait);
    this.updatedAt = Date.now();
    for (const [client, attachment] of this.attachments) client.outbox.appended(attachment, frames, position);
    return position;
  }

  /** A frame of which late joiners get the latest. */
  appendSnapshot(kind: string, frame: Buffer): void {
    this.log.noteSnapshot(kind, this.append(frame), frame.length);
  }

  /** The latest frame of a snapshot kind, as the agent wrote it. */
  snapshot(kind: SnapshotKind): Buffer | undefined {
    return this.log.snapshot(kind);
  }

  attach(client: ClientConnection, from: number): Attachment {
    this.formerUntil = Math.min(this.formerUntil, this.log.end);
    const attachment = new Attachment(this, client.identity, from);
    this.attachments.set(client, attachment);
    client.outbox.attachments.add(attachment);
    return attachment;
  }

  detach(client: ClientConnection): void {
    const attachment = this.attachments.get(client);
    if (!attachment) return;
    this.attachments.delete(client);
    this.leftAt = Date.now();
    client.outbox.attachments.delete(attachment);
  }

  /** Attached controllers, in the order in which they came. */
  controllers(): ClientConnection[] {
    return [...this.attachments.keys()].filter((client) => client.isController);
  }

  /** The first attached controller that can take requests of this method. */
  primary(method: string, mode?: string): ClientConnection | undefined {
    return this.controllers().find((client) => client.identity.capabilities.serves(method, mode));
  }

  /** The id in `span` as clients see it, as JSON; undefined: it stands as it is. */
  outwardName(bytes: Buffer, span: Span): Buffer | undefined {
    if (this.#names.size === 0) return undefined;
    const agentId = readString(bytes, span);
    return agentId === undefined ? undefined : this.#names.get(agentId);
  }

  /** What clients see in place of this id of the agent's. */
  outwardId(agentId: string): string {
    const bytes = this.#names.get(agentId);
    return bytes === undefined ? agentId : (readString(bytes, { start: 0, end: bytes.length }) ?? agentId);
  }

  /**
   * A session that the agent made under this one, by the agent's id and the one that clients see. When there are too many,
   * gives the agent's id of the oldest, which is one of this session's no more.
   */
  addChild(agentId: string, sessionId: string): string | undefined {
    this.hasChildren = true;
    this.#children.delete(agentId);
    this.#children.add(agentId);
    if (agentId !== sessionId) this.#names.set(agentId, json(sessionId));
    const [oldest] = this.#children;
    if (this.#children.size <= MAX_CHILDREN || oldest === undefined) return undefined;
    this.#children.delete(oldest);
    this.#names.delete(oldest);
    return oldest;
  }

  isOfChild(envelope: Envelope): boolean {
    return this.childOf(envelope) !== undefined;
  }

  /** The agent's id of the session below this one that the frame is of; undefined: of this one. */
  childOf({ bytes, sessionId }: Envelope): string | undefined {
    if (spanEquals(bytes, sessionId, this.agentIdBytes)) return undefined;
    const agentId = readString(bytes, sessionId);
    return agentId === this.agentId ? undefined : agentId;
  }

  /** The tool call that an update is of. */
  toolCallOf(envelope: Envelope): ToolCallName {
    return toolCallName(readString(envelope.bytes, envelope.updateToolCallId) ?? "", this.childOf(envelope));
  }

  /** How far the slowest client is behind, in bytes. */
  get lag(): number {
    let lag = 0;
    for (const attachment of this.attachments.values()) if (!attachment.gated) lag = Math.max(lag, attachment.lag);
    return lag;
  }

  trimLog(): void {
    this.log.trim(this.log.end - this.lag);
  }
}
