// Browser notifications for new permissions: off until a person asks for them, shown only while nobody looks at the page.
import { signal } from "@preact/signals";
import type { ApprovalRow } from "../../../src/protocol.ts";
import { asRecord, asText } from "../model/json-value.ts";
import { visibleLine } from "../model/visible-text.ts";

const stored = "acp-console.notify";
const longestTitle = 200;

export type Notifying = "off" | "on" | "blocked" | "unsupported";

export class Notifier {
  readonly state = signal<Notifying>(initial());
  readonly #shown = new Map<string, Notification>();
  readonly #open: (sessionId: string) => void;

  constructor(open: (sessionId: string) => void) {
    this.#open = open;
  }

  /** Asks the browser, which asks the person. */
  async turnOn(): Promise<void> {
    if (this.state.value === "unsupported") return;
    const permission = await Notification.requestPermission();
    this.state.value = permission === "granted" ? "on" : permission === "denied" ? "blocked" : "off";
    if (permission === "granted") localStorage.setItem(stored, "on");
  }

  turnOff(): void {
    localStorage.removeItem(stored);
    this.state.value = "off";
    this.keepOnly([]);
  }

  asked({ approvalId, sessionId, agent, params }: ApprovalRow): void {
    if (this.state.value !== "on" || document.hasFocus()) return;
    const title = asText(asRecord(params.toolCall).title).slice(0, longestTitle);
    const notification = new Notification(`${visibleLine(agent)} asks for permission`, {
      body: visibleLine(title),
      tag: approvalId,
    });
    notification.addEventListener("click", () => {
      focus();
      this.#open(sessionId);
      notification.close();
    });
    this.#shown.set(approvalId, notification);
  }

  /** What is over needs nobody any more. */
  keepOnly(approvals: readonly ApprovalRow[]): void {
    for (const [approvalId, notification] of this.#shown) {
      if (approvals.some((row) => row.approvalId === approvalId)) continue;
      notification.close();
      this.#shown.delete(approvalId);
    }
  }
}

function initial(): Notifying {
  if (!("Notification" in globalThis)) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(stored) === "on" ? "on" : "off";
}
