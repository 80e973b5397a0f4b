// Browser notifications for new permissions and proposals: off until a person asks for them, shown only while nobody looks at the page.
import { signal } from "@preact/signals";
import { visibleLine } from "../model/visible-text.ts";

const stored = "acp-console.notify";
const longestBody = 200;

/** Something that waits for a person. What agents wrote in it is not trusted. */
export interface Asked {
  readonly key: string;
  readonly sessionId: string;
  readonly title: string;
  readonly body: string;
}

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
    this.keepOnly(new Set());
  }

  asked({ key, sessionId, title, body }: Asked): void {
    if (this.state.value !== "on" || document.hasFocus()) return;
    const notification = new Notification(visibleLine(title), {
      body: visibleLine(body.slice(0, longestBody)),
      tag: key,
    });
    notification.addEventListener("click", () => {
      focus();
      this.#open(sessionId);
      notification.close();
    });
    this.#shown.set(key, notification);
  }

  /** What is over needs nobody any more. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const [key, notification] of this.#shown) {
      if (keys.has(key)) continue;
      notification.close();
      this.#shown.delete(key);
    }
  }
}

function initial(): Notifying {
  if (!("Notification" in globalThis)) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(stored) === "on" ? "on" : "off";
}
