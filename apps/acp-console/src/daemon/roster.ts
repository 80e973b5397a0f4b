// What the daemon has at the moment: its sessions and its open approvals, as told by lists and events of one generation.
import { asObject, asText } from "../json.ts";
import type { ApprovalRow, JsonObject, Outcome, ServerMessage, SessionRow } from "../protocol.ts";
import { approvalRow, sessionRow } from "./rows.ts";

export interface RosterPorts {
  /** Everybody is to know. */
  tell(message: ServerMessage): void;
  /** One open approval as the daemon lists it; undefined: it is open no more. */
  approval(approvalId: string): Promise<unknown>;
  /** Whoever shows this session is attached to it no more. */
  removed(sessionId: string): void;
  /** Where the review endpoint of a session listens has changed, or may have. */
  reviewsChanged(): void;
}

export class Roster {
  readonly #ports: RosterPorts;
  #sessions = new Map<string, SessionRow>();
  /** Paths of review endpoints, by session. */
  #reviews = new Map<string, string>();
  #approvals = new Map<string, ApprovalRow>();
  /** Resolved in this generation: a list that was on its way must not bring one back. */
  #resolved = new Set<string>();
  /** Who waits for a session's row. */
  #awaited = new Map<string, () => void>();
  /** Grows with each generation that begins or ends. */
  #epoch = 0;

  constructor(ports: RosterPorts) {
    this.#ports = ports;
  }

  get sessions(): readonly SessionRow[] {
    return [...this.#sessions.values()];
  }

  get approvals(): readonly ApprovalRow[] {
    return [...this.#approvals.values()].toSorted((a, b) =>
      a.askedAt < b.askedAt ? -1 : a.askedAt > b.askedAt ? 1 : 0,
    );
  }

  get reviewPaths(): ReadonlySet<string> {
    return new Set(this.#reviews.values());
  }

  session(sessionId: string): SessionRow | undefined {
    return this.#sessions.get(sessionId);
  }

  approval(approvalId: string): ApprovalRow | undefined {
    return this.#approvals.get(approvalId);
  }

  /** Resolves when the session's row has been told; or when that can be expected no more. */
  async listed(sessionId: string): Promise<void> {
    if (this.#sessions.has(sessionId)) return;
    await new Promise<void>((resolve) => this.#awaited.set(sessionId, resolve));
  }

  /** A new generation's lists. */
  load(sessions: readonly unknown[], approvals: readonly unknown[]): void {
    this.#sessions = new Map();
    this.#reviews = new Map();
    for (const each of sessions) this.#keep(each);
    this.#approvals = new Map(approvals.map((each) => approvalRow(each)).map((row) => [row.approvalId, row]));
    this.#resolved = new Set();
    this.#epoch++;
  }

  /** The generation is over: its approvals went with it. The rows are kept, as what was last known. */
  end(): void {
    this.#approvals.clear();
    this.#reviews.clear();
    for (const sessionId of this.#awaited.keys()) this.#told(sessionId);
    this.#epoch++;
  }

  /** `_acp-master/event` of the generation that was loaded. */
  event(event: JsonObject): void {
    const sessionId = asText(event["sessionId"]);
    switch (event["type"]) {
      case "session_changed": {
        const wasClosed = this.#isClosed(asText(asObject(event["session"])["sessionId"]));
        const session = this.#keep(event["session"]);
        // The daemon has let everybody go.
        if (session.state === "closed" && !wasClosed) this.#ports.removed(session.sessionId);
        this.#ports.tell({ type: "session", session });
        return this.#told(session.sessionId);
      }
      case "session_removed":
        this.#sessions.delete(sessionId);
        this.#told(sessionId);
        this.#ports.removed(sessionId);
        if (this.#reviews.delete(sessionId)) this.#ports.reviewsChanged();
        return this.#ports.tell({ type: "session_removed", sessionId });
      case "approval_requested":
        void this.#asked(asText(event["approvalId"]));
        return;
      case "approval_resolved":
        return this.#over(event);
      case "agent_exited": {
        const { agent, exitCode, signal } = event;
        return this.#ports.tell({
          type: "agent_exited",
          agent: asText(agent),
          exitCode: typeof exitCode === "number" ? exitCode : null,
          signal: typeof signal === "string" ? signal : null,
        });
      }
      default:
        return; // of a later version
    }
  }

  #isClosed(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.state === "closed";
  }

  #told(sessionId: string): void {
    this.#awaited.get(sessionId)?.();
    this.#awaited.delete(sessionId);
  }

  #keep(value: unknown): SessionRow {
    const row = sessionRow(value);
    this.#sessions.set(row.sessionId, row);
    const { review } = asObject(value);
    if (review !== this.#reviews.get(row.sessionId)) {
      if (typeof review === "string") this.#reviews.set(row.sessionId, review);
      else this.#reviews.delete(row.sessionId);
      this.#ports.reviewsChanged();
    }
    return row;
  }

  /** The event has no contents: they are in the list. */
  async #asked(approvalId: string): Promise<void> {
    const epoch = this.#epoch;
    // The daemon may go, and with it what it would have said.
    const listed = await this.#ports.approval(approvalId).catch(() => undefined);
    if (listed === undefined || epoch !== this.#epoch) return;
    if (this.#approvals.has(approvalId) || this.#resolved.has(approvalId)) return;
    const approval = approvalRow(listed);
    this.#approvals.set(approvalId, approval);
    this.#ports.tell({ type: "approval", approval });
  }

  #over(event: JsonObject): void {
    const approvalId = asText(event["approvalId"]);
    this.#approvals.delete(approvalId);
    // So long ago that no list is still on its way.
    if (this.#resolved.size >= 10_000) this.#resolved.clear();
    this.#resolved.add(approvalId);
    const by = asObject(event["by"]);
    this.#ports.tell({
      type: "approval_resolved",
      approvalId,
      sessionId: asText(event["sessionId"]),
      toolCallId: asText(event["toolCallId"]),
      outcome: outcomeOf(asObject(event["outcome"])),
      by: { kind: asText(by["kind"]), name: asText(by["name"]) },
    });
  }
}

const results: readonly Outcome["result"][] = ["selected", "refused", "cancelled", "expired", "superseded"];

function outcomeOf({ result, optionId }: JsonObject): Outcome {
  const known = results.find((each) => each === result) ?? "unavailable";
  return typeof optionId === "string" ? { result: known, optionId } : { result: known };
}
