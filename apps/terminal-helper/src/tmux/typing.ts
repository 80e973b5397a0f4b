// The tmux commands that put text into a pane exactly as it was shown.
import type { TmuxCommand } from "./tmux.ts";

/**
 * Leaves a mode of tmux's own first, where characters would be commands. `-l`: no word of the text is the name of a key.
 * A return is a key press of its own and never part of the text.
 */
export function typing(pane: string, text: string, mode: "run" | "insert"): TmuxCommand[] {
  return [
    ["copy-mode", "-q", "-t", pane],
    ["send-keys", "-t", pane, "-l", "--", text],
    ...(mode === "run" ? [["send-keys", "-t", pane, "Enter"]] : []),
  ];
}
