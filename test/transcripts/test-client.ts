// How the test client answers what agents ask: as the request's own `_meta.answer` says, or by the path or command in it.
// Knows no SDK. What was said to it can be waited for.
import { Deferred, within } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { Fault } from "./agent-peer.ts";

/** The agent, as the client asks it. Aborting the signal sends `$/cancel_request`, where the SDK can. */
export interface AgentPeer {
  request(method: string, params: object, signal?: AbortSignal): Promise<Loose>;
  notify(method: string, params: object): Promise<void>;
}

const extra = { id: 3, "acp-vendor": ["\u2713"] };
const selected = (optionId: string): object => ({
  outcome: { outcome: "selected", optionId, _meta: extra },
  _meta: extra,
});
const cancelled = { outcome: { outcome: "cancelled" } };

export class TestClient {
  agent!: AgentPeer;
  readonly #happened = new Map<string, Deferred<void>>();

  /** A text that was said, a permission that was answered, or what the script says has happened. */
  happened(what: string): Deferred<void> {
    const known = this.#happened.get(what);
    if (known) return known;
    const made = new Deferred<void>();
    this.#happened.set(what, made);
    return made;
  }

  async waitFor(what: string): Promise<void> {
    await within(this.happened(what).promise, `the client sees ${JSON.stringify(what)}`);
  }

  notified(method: string, params: Loose): void {
    const text = params.update?.content?.text;
    if (typeof text === "string" && text.length < 100) this.happened(text).resolve();
    if (method !== "session/update") this.happened(`${method} ${JSON.stringify(params)}`).resolve();
  }

  async answer(method: string, params: Loose, signal: AbortSignal): Promise<Loose> {
    switch (method) {
      case "session/request_permission": {
        const answer = await this.#permission(params, signal);
        this.happened(`answered ${params.toolCall.toolCallId}`).resolve();
        return answer;
      }
      case "elicitation/create":
        return this.#elicitation(params._meta?.answer);
      case "fs/read_text_file":
        if (params.path !== "/there") throw new Fault(-32002, "Resource not found", { uri: `file://${params.path}` });
        return { content: "third\r\nfourth \ud83d\ude00\u2028", _meta: extra };
      case "fs/write_text_file":
        if (params.path !== "/there") throw new Fault(-32603, "read only", { code: "EROFS", nested: [{ id: 1 }] });
        return { _meta: extra };
      case "terminal/create":
        if (params.command === "refuse") throw new Fault(-32000, "no terminal for you");
        return { terminalId: "term-1", _meta: extra };
      case "terminal/output":
        this.#known(params.terminalId);
        return { output: "made\n\u001b[0m", truncated: true, exitStatus: { exitCode: null, signal: "SIGTERM" } };
      case "terminal/wait_for_exit":
        this.#known(params.terminalId);
        return { exitCode: 0, signal: null };
      case "terminal/kill":
      case "terminal/release":
        this.#known(params.terminalId);
        return {};
      case "_test/ask":
        return { asked: params, _meta: extra };
      default:
        throw new Fault(-32601, `"Method not found": ${method}`, { method });
    }
  }

  async #permission(params: Loose, signal: AbortSignal): Promise<Loose> {
    const answer: string = params._meta.answer;
    const { toolCallId } = params.toolCall;
    switch (answer) {
      case "cancelled":
        return cancelled;
      case "error":
        throw new Fault(-32603, "the dialog broke", { why: null });
      case "wait":
        await this.agent.notify("_test/signal", { name: `shown ${toolCallId}` });
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        return cancelled;
      case "after-cancel":
        this.happened(`shown ${toolCallId}`).resolve();
        await this.waitFor("the script cancelled");
        return cancelled;
      case "after:second":
        await this.waitFor("answered second");
        return selected("no");
      case "after:go":
        await this.agent.notify("_test/signal", { name: `shown ${toolCallId}` });
        await this.waitFor("go");
        return selected("once");
      default:
        return selected(answer);
    }
  }

  #known(terminalId: string): void {
    if (terminalId !== "term-1") throw new Fault(-32002, "no such terminal", { terminalId });
  }

  #elicitation(answer: string): object {
    if (answer === "error") throw new Fault(-32603, "the form broke");
    if (answer === "accept")
      return { action: "accept", content: { name: "n\u00e9", count: 3, sure: true }, _meta: extra };
    return { action: answer };
  }
}
