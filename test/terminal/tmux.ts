// A tmux server of its own for one test, and a person in front of it: the server's client runs in a pane of a second server,
// whose screen is what the person sees (popups too) and whose keys are what the person presses.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { eventually } from "../harness/events.ts";
import { processGone } from "../harness/processes.ts";

export interface TmuxOptions {
  /** Their environment; carries the marker of the home that looks for leaks. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** What the first pane runs. */
  readonly command?: string;
}

/** A shell without any settings of this machine. */
export const plainShell = "exec env PS1='$ ' HISTFILE= bash --norc --noprofile";

const screenMs = 20_000;

export class TestTmux implements AsyncDisposable {
  /** The name of the server's socket. */
  readonly server = `acpm-${randomBytes(6).toString("hex")}`;
  readonly #outer = `${this.server}-person`;
  readonly #env: Record<string, string>;
  readonly #size: readonly string[];
  readonly #pids: number[] = [];

  private constructor({ env, columns = 120, rows = 40 }: TmuxOptions) {
    this.#env = { ...env, TERM: "xterm-256color" };
    this.#size = ["-x", String(columns), "-y", String(rows)];
  }

  static async start(options: TmuxOptions): Promise<TestTmux> {
    const tmux = new TestTmux(options);
    try {
      await tmux.#call(tmux.server, [
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        ...tmux.#size,
        "-s",
        "work",
        options.command ?? plainShell,
      ]);
      await tmux.run("set-option", "-g", "default-command", plainShell);
      await tmux.run("set-option", "-g", "status", "off");
      await tmux.run("set-option", "-g", "automatic-rename", "off");
      tmux.#pids.push(Number((await tmux.run("display-message", "-p", "#{pid}"))[0]));
    } catch (cause) {
      await tmux[Symbol.asyncDispose]();
      throw cause;
    }
    return tmux;
  }

  /** Output lines of a tmux command on the server. */
  async run(...args: readonly string[]): Promise<string[]> {
    return (await this.#call(this.server, args)).split("\n").slice(0, -1);
  }

  /** A person attaches. Resolves when the client is there. */
  async attach(): Promise<void> {
    const client = `exec env -u TMUX -u TMUX_PANE tmux -L ${this.server} attach-session -t work`;
    await this.#call(this.#outer, ["-f", "/dev/null", "new-session", "-d", ...this.#size, client]);
    await this.#call(this.#outer, ["set-option", "-g", "status", "off"]);
    await this.#call(this.#outer, ["set-option", "-g", "escape-time", "0"]);
    this.#pids.push(Number((await this.#call(this.#outer, ["display-message", "-p", "#{pid}"])).trim()));
    await eventually(async () => (await this.run("list-clients")).length === 1, "the client is attached");
  }

  /** Whatever lies over the panes is gone afterwards. */
  async closePopup(): Promise<void> {
    for (const client of await this.run("list-clients", "-F", "#{client_name}")) {
      await this.run("display-popup", "-C", "-c", client);
    }
  }

  /** Presses keys as the attached person: names of keys, or characters. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#call(this.#outer, ["send-keys", ...keys]);
  }

  /** What the attached person sees. */
  async screen(): Promise<string> {
    return await this.#call(this.#outer, ["capture-pane", "-p"]);
  }

  async sees(text: string): Promise<string> {
    return await this.#shows(
      () => this.screen(),
      `the person sees ${JSON.stringify(text)}`,
      (screen) => screen.includes(text),
    );
  }

  async seesNoMore(text: string): Promise<string> {
    return await this.#shows(
      () => this.screen(),
      `${JSON.stringify(text)} goes`,
      (screen) => !screen.includes(text),
    );
  }

  /** What a pane holds. */
  async content(pane: string): Promise<string> {
    return (await this.run("capture-pane", "-p", "-J", "-t", pane)).join("\n").trimEnd();
  }

  async holds(pane: string, text: string): Promise<string> {
    return await this.#shows(
      () => this.content(pane),
      `${pane} holds ${JSON.stringify(text)}`,
      (content) => content.includes(text),
    );
  }

  /** Opens a pane beside the active one, which it becomes. Gives its id once its shell has a prompt. */
  async split(command = plainShell): Promise<string> {
    const [pane = ""] = await this.run("split-window", "-h", "-P", "-F", "#{pane_id}", command);
    if (command === plainShell) await this.holds(pane, "$");
    return pane;
  }

  /** Everything that a proposal could change: which panes there are, and what each holds. */
  async everything(): Promise<string> {
    const panes = await this.run("list-panes", "-a", "-F", "#{window_id} #{window_name} #{pane_id}");
    const contents = await Promise.all(panes.map((pane) => this.content(pane.split(" ").at(-1) ?? "")));
    return panes.map((pane, index) => `${pane}\n${contents[index]}`).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#outer, this.server]) await this.#call(server, ["kill-server"]).catch(() => "");
    for (const pid of this.#pids) await processGone(pid);
    for (const server of [this.#outer, this.server]) {
      rmSync(`${process.env["TMUX_TMPDIR"] ?? "/tmp"}/tmux-${process.getuid?.()}/${server}`, { force: true });
    }
  }

  async #shows(look: () => Promise<string>, what: string, fits: (text: string) => boolean): Promise<string> {
    let last = "";
    try {
      return await eventually(async () => fits((last = await look())) && (last === "" ? " " : last), what, screenMs);
    } catch (cause) {
      throw new Error(`${String(cause)}. Seen:\n${last}`, { cause });
    }
  }

  async #call(server: string, args: readonly string[]): Promise<string> {
    return await new Promise((resolve, reject) => {
      execFile("tmux", ["-u", "-L", server, ...args], { env: this.#env, cwd: tmpdir() }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });
  }
}
