// Carries out confirmed actions in tmux. Everything is typed into the pane that was bound when the turn started, or into one
// that the order itself opens; where that is not possible nothing is done.
import { access, constants, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  terminalActions,
  type OpenAction,
  type OpenAndSendAction,
  type SendAction,
} from "@acp-master/proposal-channel";
import type { Executor, Order } from "@acp-master/helper-sdk";
import { agentPanes, runningProcesses } from "./agent-panes.ts";
import { choosePane } from "./choose-pane.ts";
import { hasLongLine, takesLongLines } from "./long-lines.ts";
import { namePanel, openPanel, openTab, type Opening, type OpenPane, readOpened } from "./opening.ts";
import { readTarget, targetName } from "./target.ts";
import type { Tmux } from "./tmux.ts";
import { typing } from "./typing.ts";
import { type PaneRow, sessionInUse, type View, viewOf } from "./view.ts";

export type TerminalAction = SendAction | OpenAction | OpenAndSendAction;

/** How long a shell in a new pane may take until it reads its terminal. */
const shellStartMs = 5_000;

interface Typed {
  readonly pane: OpenPane;
  readonly input: string;
  readonly mode: Order["mode"];
}

export class TmuxExecutor implements Executor<TerminalAction> {
  readonly name = "tmux";
  readonly actionTypes = terminalActions;
  readonly #tmux: Tmux;

  constructor(tmux: Tmux) {
    this.#tmux = tmux;
  }

  async bind(_turn: unknown, signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#look(signal);
    const pane = found === undefined ? undefined : choosePane(found.view, found.taken);
    if (found === undefined || pane === undefined) return undefined;
    return targetName({ pane: pane.pane, serverPid: found.view.serverPid });
  }

  async isThere(target: string | undefined, signal: AbortSignal): Promise<boolean> {
    if (target === undefined) return (await viewOf(this.#tmux, signal)) !== undefined;
    return (await this.#pane(target, signal)) !== undefined;
  }

  /** What runs in the pane and where, so that a command fits its shell. Nothing of what stands in it. */
  async context(target: string, signal: AbortSignal): Promise<string | undefined> {
    const pane = readTarget(target)?.pane;
    if (pane === undefined) return undefined;
    const asked = ["#{pane_current_command}", "#{pane_current_path}"];
    const ran = await this.#tmux.run(
      asked.map((format) => ["display-message", "-p", "-t", pane, format]),
      { signal },
    );
    const [program, folder] = ran.ok ? ran.lines : [];
    if (program === undefined || folder === undefined) return undefined;
    return `The terminal that send types into runs ${JSON.stringify(program)} in ${JSON.stringify(folder)}.`;
  }

  /** Actions in order; the first that cannot be done ends it. True when at least one was. */
  async dispatch(order: Order<TerminalAction>, signal: AbortSignal): Promise<boolean> {
    let isAnyDone = false;
    for (const action of order.actions) {
      if (!(await this.#perform(action, order, signal))) break;
      isAnyDone = true;
    }
    return isAnyDone;
  }

  async #perform(action: TerminalAction, order: Order<TerminalAction>, signal: AbortSignal): Promise<boolean> {
    if (action.type === "send") {
      const pane = await this.#pane(order.target, signal);
      return pane !== undefined && (await this.#type({ pane, input: action.input, mode: order.mode }, 0, signal));
    }
    const pane = await this.#open(action, order, signal);
    if (pane === undefined) return false;
    if (action.type === "open") return true;
    return await this.#type({ pane, input: action.input, mode: order.mode }, shellStartMs, signal);
  }

  async #open(action: Opening, order: Order<TerminalAction>, signal: AbortSignal): Promise<OpenPane | undefined> {
    const cwd = action.cwd ?? order.cwd;
    if (!(await isFolder(cwd))) return undefined;
    const command = await this.#openingCommand(action, order.target, signal);
    if (command === undefined) return undefined;
    const ran = await this.#tmux.run([command], { signal, cwd });
    const opened = ran.ok ? readOpened(ran.lines) : undefined;
    if (opened === undefined) return undefined;
    const named = namePanel(action, opened.pane);
    if (named.length > 0) await this.#tmux.run(named, { signal });
    return opened;
  }

  async #openingCommand(action: Opening, target: string | undefined, signal: AbortSignal) {
    const pane = await this.#pane(target, signal);
    if (action.target === "panel") return pane === undefined ? undefined : openPanel(action, pane);
    if (pane !== undefined) return openTab(action, { beside: pane });
    const view = await viewOf(this.#tmux, signal);
    const session = view === undefined ? undefined : sessionInUse(view);
    return session === undefined ? undefined : openTab(action, { session });
  }

  async #type({ pane, input, mode }: Typed, patienceMs: number, signal: AbortSignal): Promise<boolean> {
    if (hasLongLine(input) && !(await takesLongLines(pane.tty, patienceMs, signal))) return false;
    return (await this.#tmux.run(typing(pane.pane, input, mode), { signal })).ok;
  }

  /** The bound pane, if it is still there, takes input by itself, and nobody has begun to talk to agents in it. */
  async #pane(name: string | undefined, signal: AbortSignal): Promise<PaneRow | undefined> {
    const target = name === undefined ? undefined : readTarget(name);
    const found = target === undefined ? undefined : await this.#look(signal);
    if (target === undefined || found?.view.serverPid !== target.serverPid) return undefined;
    const { view, taken } = found;
    return view.panes.find(({ pane, takesInput }) => pane === target.pane && takesInput && !taken.has(pane));
  }

  /** What there is, and in which panes agents are talked to. Without either nothing is known. */
  async #look(signal: AbortSignal): Promise<{ view: View; taken: ReadonlySet<string> } | undefined> {
    const [view, processes] = await Promise.all([viewOf(this.#tmux, signal), runningProcesses(signal)]);
    if (view === undefined || processes === undefined) return undefined;
    return { view, taken: agentPanes(view.panes, processes) };
  }
}

/** tmux would silently start somewhere else. */
async function isFolder(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false; // not there, or not ours to enter
  }
}
