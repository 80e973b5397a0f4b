// What `run` prints: as text for people or as lines of JSON for programs. On stdout only the agent's answer, or only JSON.
import { exitCodes } from "../display/errors.ts";
import { permissionText } from "../display/permission-text.ts";
import { Transcript } from "../display/transcript.ts";
import { escapeJsonText, visibleJson, visibleLine } from "../display/untrusted-text.ts";
import type { TerminalAnswer } from "./ask-on-terminal.ts";

interface PermissionParams {
  readonly toolCall: { readonly toolCallId: string };
  readonly options: readonly unknown[];
}

export interface RunResult {
  readonly sessionId: string;
  readonly stopReason: string;
  /** Permissions that were refused because there was nobody to ask. */
  readonly refusals: number;
  readonly exitCode: number;
}

export class RunReport {
  readonly #json: boolean;
  readonly #transcript: Transcript;

  constructor(json: boolean) {
    this.#json = json;
    this.#transcript = new Transcript({
      text: (text) => process.stdout.write(text),
      notes: (text) => process.stderr.write(text),
      // A terminal would obey what it is shown; a file or a pipe gets the answer as it is.
      exact: !process.stdout.isTTY,
      prompts: false,
      surface: process.stderr,
    });
  }

  session(sessionId: string): void {
    if (this.#json) this.#line({ type: "session", sessionId });
    else this.#transcript.note(`session ${sessionId}`);
  }

  /** `json` is the update's own text: numbers and unknown members stay as they are. */
  update(json: string): void {
    if (this.#json) process.stdout.write(`{"type":"update","update":${escapeJsonText(json)}}\n`);
    else this.#transcript.update(JSON.parse(json));
  }

  question(params: PermissionParams): void {
    if (this.#json) this.#line({ type: "permission", params });
    else if (!process.stdin.isTTY || !process.stderr.isTTY) {
      this.#transcript.end();
      process.stderr.write(`The agent asks:\n${permissionText(params, process.stderr)}`);
    } else this.#transcript.end();
  }

  answer(params: PermissionParams, answer: TerminalAnswer, unasked: boolean): void {
    const { toolCallId } = params.toolCall;
    if (this.#json) this.#line({ type: "answer", toolCallId, outcome: answer, ...(unasked ? { unasked } : {}) });
    if (!unasked) return;
    const chosen = answer.outcome === "selected" ? ` (${visibleLine(answer.optionId)})` : "";
    process.stderr.write(
      `Refused${chosen}: there is no terminal to ask on. Run it on a terminal, or allow more with --preset.\n`,
    );
  }

  result(result: RunResult): void {
    this.#transcript.end();
    if (this.#json) this.#line({ type: "result", ...result });
    if (result.stopReason !== "end_turn" && result.exitCode !== exitCodes.interrupted) {
      process.stderr.write(`acp-master: the turn ended early: ${visibleLine(result.stopReason)}.\n`);
    }
  }

  end(): void {
    this.#transcript.end();
  }

  #line(record: object): void {
    process.stdout.write(`${visibleJson(record)}\n`);
  }
}
