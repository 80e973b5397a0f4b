// One session of the demo agent: what it remembers, which turn runs. It sends nothing.
import type { SessionConfigOption, SessionModeState, SessionUpdate } from "@agentclientprotocol/sdk";

/** What goes to disk. */
export interface StoredSession {
  readonly sessionId: string;
  readonly cwd: string;
  title?: string;
  updatedAt: string;
  modeId: string;
  style: string;
  history: SessionUpdate[];
}

/** A history beyond this many updates loses its oldest ones. */
const maxHistory = 1_000;

const modes = [
  { id: "careful", name: "Careful", description: "Asks before it writes or runs" },
  { id: "bold", name: "Bold", description: "Asks before it runs, writes without asking" },
];

const styles = [
  { value: "friendly", name: "Friendly", description: "Echoes, and says what else it can do" },
  { value: "brief", name: "Brief", description: "Only echoes" },
];

export class Session {
  readonly stored: StoredSession;
  /** Kinds of action that a person allowed for the rest of the session. */
  readonly allowedAlways = new Set<string>();
  /** Set while a turn runs. */
  turn: AbortController | undefined;
  #calls = 0;

  constructor(stored: StoredSession) {
    this.stored = stored;
  }

  static create(sessionId: string, cwd: string): Session {
    const updatedAt = new Date().toISOString();
    return new Session({ sessionId, cwd, updatedAt, modeId: "careful", style: "friendly", history: [] });
  }

  remember(update: SessionUpdate): void {
    const { history } = this.stored;
    history.push(update);
    if (history.length > maxHistory) history.splice(0, history.length - maxHistory);
  }

  nextToolCallId(): string {
    this.#calls += 1;
    return `call-${Date.now().toString(36)}-${this.#calls}`;
  }

  get modes(): SessionModeState {
    return { currentModeId: this.stored.modeId, availableModes: modes };
  }

  /** False when there is no such mode. */
  setMode(modeId: string): boolean {
    if (!modes.some((mode) => mode.id === modeId)) return false;
    this.stored.modeId = modeId;
    return true;
  }

  get configOptions(): SessionConfigOption[] {
    return [{ type: "select", id: "style", name: "Style", currentValue: this.stored.style, options: styles }];
  }

  /** False when there is no such option or value. */
  setConfigOption(configId: string, value: unknown): boolean {
    const style = configId === "style" ? styles.find((one) => one.value === value) : undefined;
    if (style === undefined) return false;
    this.stored.style = style.value;
    return true;
  }

  cancel(): void {
    this.turn?.abort();
  }
}
