// What the daemon has at the moment: its sessions and its open approvals, as told by lists and events of one generation.
import { asObject, asText } from "../json.ts";
import type { ApprovalRow, JsonObject, Outcome, ServerMessage, SessionRow } from "../protocol.ts";
import { approvalRow, sessionRow } from "./rows.ts";

export interface RosterPorts {
  /** Everybody is to know. */
  tell(message: ServerMessage): void;
  /** The open approvals of one session, as the daemon lists them. */
  approvalsOf(sessionId: string): Promise<readonly unknown[]>;
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
  /** Sessions whose approvals are being listed; true: something came meanwhile, so once more. */
  #listing = new Map<string, boolean>();

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

  /** A new generation's lists. */
  load(sessions: readonly unknown[], approvals: readonly unknown[]): void {
    this.#sessions = new Map();
    this.#reviews = new Map();
    for (const each of sessions) this.#keep(each);
    this.#approvals = new Map(approvals.map((each) => approvalRow(each)).map((row) => [row.approvalId, row]));
    this.#resolved = new Set();
    this.#listing = new Map();
  }

  /** The generation is over: its approvals went with it. The rows are kept, as what was last known. */
  end(): void {
    this.#approvals.clear();
    this.#reviews.clear();
    this.#listing = new Map();
  }

  /** `_acp-master/event` of the generation that was loaded. */
  event(event: JsonObject): void {
    const sessionId = asText(event["sessionId"]);
    switch (event["type"]) {
      case "session_changed":
        return this.#ports.tell({ type: "session", session: this.#keep(event["session"]) });
      case "session_removed":
        this.#sessions.delete(sessionId);
        if (this.#reviews.delete(sessionId)) this.#ports.reviewsChanged();
        return this.#ports.tell({ type: "session_removed", sessionId });
      case "approval_requested":
        void this.#list(sessionId);
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
  async #list(sessionId: string): Promise<void> {
    const listing = this.#listing;
    if (listing.has(sessionId)) return void listing.set(sessionId, true);
    do {
      listing.set(sessionId, false);
      let rows: readonly unknown[] = [];
      try {
        rows = await this.#ports.approvalsOf(sessionId);
      } catch {
        return void listing.delete(sessionId); // the daemon is gone, and with it what it would have said
      }
      if (listing !== this.#listing) return;
      for (const row of rows) this.#open(approvalRow(row));
    } while (listing.get(sessionId) === true);
    listing.delete(sessionId);
  }

  #open(approval: ApprovalRow): void {
    const { approvalId } = approval;
    if (this.#approvals.has(approvalId) || this.#resolved.has(approvalId)) return;
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
