// The tmux command that opens a window or a split. Each says which pane it made.
import type { OpenAction, OpenAndSendAction } from "@acp-master/proposal-channel";
import { type TmuxCommand, withoutFormats } from "./tmux.ts";
import type { PaneRow } from "./view.ts";

export type Opening = OpenAction | OpenAndSendAction;

/** A pane that can be typed into. */
export type OpenPane = Pick<PaneRow, "pane" | "tty">;

const report = ["-P", "-F", "#{pane_id} #{pane_tty}"];

export function readOpened([line = ""]: readonly string[]): OpenPane | undefined {
  const [, pane, tty] = /^(%\d+) (\S+)$/.exec(line) ?? [];
  return pane === undefined || tty === undefined ? undefined : { pane, tty };
}

/** A window next to that of `beside`, or at the end of `session`. */
export function openTab(
  { title }: Opening,
  place: { readonly beside: PaneRow } | { readonly session: string },
): TmuxCommand {
  const where = "beside" in place ? ["-a", "-t", place.beside.window] : ["-t", `${place.session}:`];
  return ["new-window", ...where, ...(title === undefined ? [] : ["-n", withoutFormats(title)]), ...report];
}

export function openPanel({ direction }: Opening, beside: PaneRow): TmuxCommand {
  return ["split-window", "-t", beside.pane, ...splitFlags(direction, beside), ...report];
}

/** A split has no name of its own before it is there. */
export function namePanel({ title, target }: Opening, pane: string): TmuxCommand[] {
  return target === "panel" && title !== undefined ? [["select-pane", "-t", pane, "-T", withoutFormats(title)]] : [];
}

/** Cells are about twice as high as wide: without a direction the longer side is cut. */
function splitFlags(direction: Opening["direction"], { width, height }: PaneRow): string[] {
  switch (direction) {
    case "right":
      return ["-h"];
    case "left":
      return ["-h", "-b"];
    case "down":
      return ["-v"];
    case "up":
      return ["-v", "-b"];
    case "auto":
    case "automatic":
    case undefined:
      return [width >= height * 2 ? "-h" : "-v"];
  }
  return direction satisfies never;
}
