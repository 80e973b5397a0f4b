// The words for states and kinds that the protocol spells for machines. A word that it does not know is shown as it came.

const callStates: Readonly<Record<string, string>> = {
  pending: "waiting to begin",
  in_progress: "running",
  completed: "done",
  failed: "failed",
};

const callMarks: Readonly<Record<string, string>> = { pending: "○", in_progress: "◔", completed: "✓", failed: "✗" };

export const callState = (status: string): string => callStates[status] ?? status;
export const callMark = (status: string): string => callMarks[status] ?? "·";

const kinds: Readonly<Record<string, string>> = {
  read: "read",
  edit: "change a file",
  delete: "delete",
  move: "move",
  search: "search",
  execute: "run a command",
  think: "think",
  fetch: "fetch from the network",
  switch_mode: "switch the mode",
};

export const kindWord = (kind: string): string =>
  kind === "" || kind === "other" ? "something else" : (kinds[kind] ?? kind);

/** How far an answer reaches, by the kind of its option; never by its label. */
export function scopeOf(kind: string): string {
  const scopes: Readonly<Record<string, string>> = {
    allow_once: "allows this once",
    allow_always: "allows this and later ones",
    reject_once: "refuses this once",
    reject_always: "refuses this and later ones",
  };
  return scopes[kind] ?? (kind === "" ? "the agent does not say what it means" : kind);
}

const outcomes: Readonly<Record<string, string>> = {
  selected: "was answered",
  refused: "was refused",
  cancelled: "was cancelled",
  expired: "ended because nobody answered in time",
  unavailable: "could not be decided",
  superseded: "is not needed any more",
};

export const outcomeWord = (result: string): string => outcomes[result] ?? result;

/** A preset's own name, else `accept-edits` as "Accept Edits"; what is spelled otherwise stays. */
export function presetName(value: string, name: string): string {
  if (name !== "" && name !== value) return name;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(value)) return value;
  return value
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** `2:05`, `1:02:05`; never below zero. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const two = (n: number): string => String(n).padStart(2, "0");
