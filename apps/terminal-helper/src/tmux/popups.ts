// Puts a card over the tmux client that the person used last. The popup runs this program's own review of that one card;
// it goes with the card or with the Helper, since its program then ends by itself.
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { Tmux } from "./tmux.ts";
import { type ClientRow, clientInUse, viewOf } from "./view.ts";

/** The exit code of the program in the popup, whatever became of the card: 0 is what tmux says when it showed nothing. */
export const popupRan = 10;

/** A card that nobody has seen after ten seconds is given up. */
const tries = 10;
const pauseMs = 1_000;

/** A client of fewer columns has none to spare. */
const narrow = 100;

export class Popups implements Disposable {
  readonly #tmux: Tmux;
  readonly #program: string;
  readonly #open = new Set<ChildProcess>();
  readonly #stopping = new AbortController();

  /** `program`: the entry file that takes `card REVIEW PROPOSAL`. */
  constructor(tmux: Tmux, program: string) {
    this.#tmux = tmux;
    this.#program = program;
  }

  /** Resolves when the popup is closed, or when there is none to be had. */
  async show(proposalId: string, review: string): Promise<void> {
    const { signal } = this.#stopping;
    for (let done = 0; done < tries && !signal.aborted; done++) {
      const view = await viewOf(this.#tmux, signal);
      const client = view === undefined ? undefined : clientInUse(view);
      if (client === undefined) return; // whoever runs `acp-master review` sees it
      if ((await this.#popup(client, [this.#program, "card", review, proposalId])) !== 0) return;
      // The client shows another popup or a menu: it may be gone in a moment.
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#stopping.abort();
    for (const child of this.#open) child.kill();
  }

  async #popup({ name, width }: ClientRow, args: readonly string[]): Promise<number> {
    const shape = ["-E", "-w", width < narrow ? "100%" : "80%", "-h", "80%", "-T", " acp-master "];
    const child = this.#tmux.start(["display-popup", "-c", name, ...shape, process.execPath, ...args]);
    this.#open.add(child);
    const code = await new Promise<number>((resolve) => {
      child.once("error", () => resolve(1)).once("exit", (exit) => resolve(exit ?? 1));
    });
    this.#open.delete(child);
    return code;
  }
}
