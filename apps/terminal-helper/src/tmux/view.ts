// What one tmux server shows at a moment: who is attached and which panes there are.
import type { Tmux } from "./tmux.ts";

export interface ClientRow {
  readonly name: string;
  /** Seconds; the client that a person used last has the greatest. */
  readonly activity: number;
  readonly session: string;
  readonly width: number;
}

export interface PaneRow {
  /** `%3`: never used again while the server lives. */
  readonly pane: string;
  readonly window: string;
  readonly session: string;
  readonly sessionActivity: number;
  readonly pid: number;
  readonly tty: string;
  /** Its window is the one that its session shows. */
  readonly isInFront: boolean;
  readonly isActive: boolean;
  /** It was active in its window before the active one was. */
  readonly isLast: boolean;
  /** What is typed into it arrives in it and nowhere else. */
  readonly takesInput: boolean;
  readonly width: number;
  readonly height: number;
}

export interface View {
  readonly serverPid: number;
  /** Those in which a person can type. */
  readonly clients: readonly ClientRow[];
  readonly panes: readonly PaneRow[];
}

// Ids and numbers only: no field can hold the separator.
const clientFormat = [
  "c #{client_activity} #{session_id} #{client_width}",
  "#{client_readonly} #{client_control_mode} #{client_name}",
].join(" ");
const paneFormat = [
  "p #{pid} #{pane_id} #{window_id} #{session_id} #{session_activity} #{pane_pid} #{pane_tty}",
  "#{window_active} #{pane_active} #{pane_last}",
  "#{pane_dead} #{pane_input_off} #{pane_synchronized} #{pane_width} #{pane_height}",
].join(" ");

/** `undefined`: the server does not run, or does not answer. */
export async function viewOf(tmux: Tmux, signal?: AbortSignal): Promise<View | undefined> {
  const ran = await tmux.run(
    [
      ["list-clients", "-F", clientFormat],
      ["list-panes", "-a", "-F", paneFormat],
    ],
    signal === undefined ? {} : { signal },
  );
  return ran.ok ? readView(ran.lines) : undefined;
}

export function readView(lines: readonly string[]): View | undefined {
  const clients: ClientRow[] = [];
  const panes: PaneRow[] = [];
  let serverPid: number | undefined;
  for (const line of lines) {
    const [kind, ...fields] = line.split(" ");
    if (kind === "c") {
      const [activity, session = "", width, isReadOnly, isControl, ...name] = fields;
      if (isReadOnly !== "1" && isControl !== "1")
        clients.push({ name: name.join(" "), activity: Number(activity), session, width: Number(width) });
    } else if (kind === "p") {
      const [pid, pane = "", window = "", session = "", activity, panePid, tty = "", inFront, active, last, ...rest] =
        fields;
      const [isDead, isOff, isSynchronized, width, height] = rest;
      serverPid = Number(pid);
      panes.push({
        pane,
        window,
        session,
        sessionActivity: Number(activity),
        pid: Number(panePid),
        tty,
        isInFront: inFront === "1",
        isActive: active === "1",
        isLast: last === "1",
        takesInput: isDead !== "1" && isOff !== "1" && isSynchronized !== "1",
        width: Number(width),
        height: Number(height),
      });
    }
  }
  return serverPid === undefined ? undefined : { serverPid, clients, panes };
}

/** The client in which the person was last. */
export function clientInUse({ clients }: View): ClientRow | undefined {
  return clients.toSorted((a, b) => b.activity - a.activity)[0];
}

/** The session in front of the person: that of the client used last, and without a client the one used last. */
export function sessionInUse(view: View): string | undefined {
  const newest = view.panes.toSorted((a, b) => b.sessionActivity - a.sessionActivity)[0];
  return clientInUse(view)?.session ?? newest?.session;
}
