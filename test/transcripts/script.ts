// What the client does, step by step: every method of the protocol, well and badly. It is the same with and without a master
// between, and it never looks at which of the two it is; an SDK's age decides which steps there are.
import { within } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { trace } from "./respelling.ts";
import type { AgentPeer, TestClient } from "./test-client.ts";

export type Age = "new" | "old";

export interface Stage {
  readonly agent: AgentPeer;
  readonly client: TestClient;
  readonly clientAge: Age;
  readonly agentAge: Age;
  /** An existing folder. */
  readonly cwd: string;
  /** With which the agent's session ids begin. */
  readonly prefix: string;
}

const oldCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const newCapabilities = {
  ...oldCapabilities,
  auth: { terminal: true },
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  _meta: { vendor: { a: 1 } },
};

export async function runScript(stage: Stage): Promise<void> {
  const run = new Script(stage);
  await run.signIn();
  await run.openSessions();
  await run.turns();
  await run.permissions();
  await run.clientServices();
  await run.cancels();
  await run.extensions();
  await run.settings();
  await run.olderSessions();
  await run.ends();
}

class Script {
  readonly #stage: Stage;
  readonly #bothNew: boolean;
  readonly #first: string;
  readonly #second: string;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#bothNew = stage.clientAge === "new" && stage.agentAge === "new";
    this.#first = `${stage.prefix}-1`;
    this.#second = `${stage.prefix}-2`;
  }

  async signIn(): Promise<void> {
    const { clientAge, agentAge, cwd } = this.#stage;
    const clientCapabilities = clientAge === "new" ? newCapabilities : oldCapabilities;
    const clientInfo = { name: "test-client", version: "0.0.1" };
    await this.#must("initialize", { protocolVersion: 1, clientCapabilities, clientInfo, _meta: trace });
    await this.#fails("session/new", { cwd, mcpServers: [] });
    await this.#fails("authenticate", { methodId: "none" });
    if (this.#bothNew) {
      await this.#fails("authenticate", { methodId: "browser", _meta: { answer: "decline" } });
      await this.#fails("authenticate", { methodId: "browser", _meta: { answer: "error" } });
    }
    const browser = { methodId: "browser", _meta: this.#bothNew ? { answer: "accept", ...trace } : trace };
    await this.#must("authenticate", browser);
    if (clientAge === "old") return;
    await this.#either("logout", { _meta: trace });
    await this.#either("logout", {});
    if (agentAge === "new") await this.#fails("session/new", { cwd, mcpServers: [] });
    await this.#must("authenticate", browser);
  }

  async openSessions(): Promise<void> {
    const { cwd } = this.#stage;
    await this.#fails("session/new", { cwd: "relative", mcpServers: [] });
    await this.#fails("session/new", { cwd: `${cwd}/nowhere`, mcpServers: [] });
    await this.#fails("session/new", { cwd, mcpServers: [], _meta: { fail: true } });
    const stdio = { name: "m", command: "/bin/m", args: ["a b"], env: [{ name: "N", value: "v" }] };
    const http = { type: "http", name: "h", url: "https://example.invalid", headers: [] };
    const params = { cwd, mcpServers: [stdio, http], additionalDirectories: [cwd], _meta: trace };
    const { sessionId } = await this.#must("session/new", params);
    if (sessionId !== this.#first) throw new Error(`the first session is ${sessionId}`);
    await this.#must("session/new", { cwd, mcpServers: [] });
  }

  async turns(): Promise<void> {
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };
    const link = { type: "resource_link", uri: "file:///a", name: "a", _meta: trace };
    await this.#prompt("say", [image, link]);
    await this.#prompt("updates");
    await this.#prompt("backwards");
    await this.#prompt("big");
    for (const reason of ["max_tokens", "max_turn_requests", "refusal", "end_turn"])
      await this.#prompt(`stop ${reason}`);
    for (const kind of ["auth", "missing", "internal", "bare", "own", "text", "nothing", "exception"]) {
      await this.#fails("session/prompt", this.#promptOf(`fail ${kind}`));
    }
    await this.#fails("session/prompt", { sessionId: this.#first, prompt: "no list" });
    await this.#fails("session/prompt", { sessionId: "nobody's", prompt: [{ type: "text", text: "say" }] });
    await this.#prompt("later");
    await this.#stage.client.waitFor("afterwards");
    const held = this.#prompt("hold");
    await this.#stage.client.waitFor("held");
    await this.#prompt("release", [], this.#second);
    await held;
  }

  async permissions(): Promise<void> {
    for (const answer of ["once", "always", "no", "never", "cancelled", "error", "unknown"]) {
      await this.#prompt(`permission ${answer}`);
    }
    await this.#prompt("permissions");
    await this.#prompt("guarded");
    if (this.#bothNew) await this.#prompt("withdrawn");
  }

  async clientServices(): Promise<void> {
    const { client, clientAge, agentAge } = this.#stage;
    await this.#prompt("files");
    await this.#prompt("terminal");
    if (agentAge === "old") return;
    if (clientAge === "old") return await this.#prompt("elicit form accept");
    for (const answer of ["accept", "decline", "cancel", "error"]) {
      await this.#prompt(`elicit form ${answer}`);
      await this.#prompt(`elicit url ${answer}`);
      await client.waitFor(`elicitation/complete ${JSON.stringify({ elicitationId: `e-${answer}` })}`);
    }
  }

  async cancels(): Promise<void> {
    const { agent, client } = this.#stage;
    const sessionId = this.#first;
    await agent.notify("session/cancel", { sessionId, _meta: { idle: true } });
    const waiting = this.#prompt("wait session-cancel");
    await client.waitFor("waiting for session-cancel");
    await agent.notify("session/cancel", { sessionId, _meta: trace });
    await waiting;

    const undecided = this.#prompt("undecided");
    await client.waitFor("shown undecided");
    await agent.notify("session/cancel", { sessionId });
    client.happened("the script cancelled").resolve();
    await undecided;

    if (!this.#bothNew) return;
    const abort = new AbortController();
    const taken = this.#fails("session/prompt", this.#promptOf("wait request-cancel"), abort.signal);
    await client.waitFor("waiting for request-cancel");
    abort.abort();
    await taken;
  }

  async extensions(): Promise<void> {
    const { agent, client } = this.#stage;
    const sessionId = this.#first;
    await this.#prompt("extension");
    await this.#must("_test/echo", { sessionId, deep: [{ id: 1 }, "\u2028"], _meta: trace });
    await this.#must("_test/echo", { method: "session/new" });
    for (const params of [
      { sessionId, poke: 1 },
      { poke: 2, requestId: 1 },
    ]) {
      await agent.notify("_test/poke", params);
      await client.waitFor(`_test/poked ${JSON.stringify(params)}`);
    }
    await this.#fails("_test/none", { sessionId });
    await this.#fails("_test/none", {});
    if (this.#stage.clientAge === "new") await this.#fails("test/unheard-of", { sessionId });
  }

  async settings(): Promise<void> {
    const sessionId = this.#first;
    await this.#must("session/set_mode", { sessionId, modeId: "bold", _meta: trace });
    await this.#fails("session/set_mode", { sessionId, modeId: "none" });
    if (this.#stage.clientAge === "old") return;
    await this.#either("session/set_model", { sessionId, modelId: "large" });
    await this.#either("session/set_config_option", { sessionId, configId: "model", value: "large", _meta: trace });
    const flag = { configId: "thinking aloud", type: "boolean", value: true };
    await this.#either("session/set_config_option", { sessionId, ...flag });
    await this.#fails("session/set_config_option", { sessionId, configId: "none", value: "x" });
  }

  async olderSessions(): Promise<void> {
    const { cwd, prefix, clientAge } = this.#stage;
    const place = { cwd, mcpServers: [] };
    await this.#must("session/load", { sessionId: `${prefix}-stored`, ...place, _meta: trace });
    await this.#prompt("say", [], `${prefix}-stored`);
    await this.#must("session/load", { sessionId: this.#first, ...place });
    await this.#prompt("say");
    await this.#fails("session/load", { sessionId: "nobody's", ...place });
    if (clientAge === "old") return;
    await this.#either("session/resume", { sessionId: `${prefix}-kept`, ...place, _meta: trace });
    await this.#either("session/resume", { sessionId: this.#first, cwd });
    await this.#fails("session/resume", { sessionId: "nobody's", cwd });
    await this.#list({ _meta: trace });
    await this.#list({ cwd });
    await this.#either("session/list", { cursor: "page-x" });
    await this.#either("session/fork", { sessionId: this.#first, ...place, _meta: trace });
    await this.#fails("session/fork", { sessionId: "nobody's", ...place });
    if (this.#bothNew) await this.#prompt("say", [], `${this.#first}-fork`);
  }

  async ends(): Promise<void> {
    const { clientAge, client, prefix, cwd } = this.#stage;
    if (clientAge === "old") return;
    if (this.#bothNew) {
      const running = this.#prompt("wait session-close");
      await client.waitFor("waiting for session-close");
      await this.#either("session/close", { sessionId: this.#first, _meta: trace });
      await running;
    }
    await this.#must("session/new", { cwd, mcpServers: [] });
    await this.#either("session/close", { sessionId: `${prefix}-3` });
    await this.#either("session/close", { sessionId: this.#second });
    await this.#either("session/close", { sessionId: this.#second });
    if (this.#bothNew) await this.#fails("session/prompt", this.#promptOf("say", this.#second));
    await this.#either("session/delete", { sessionId: `${prefix}-stored`, _meta: trace });
    await this.#either("session/delete", { sessionId: `${prefix}-spare` });
    await this.#either("session/delete", { sessionId: "nobody's" });
  }

  async #list(filter: object): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#either("session/list", { ...filter, ...(cursor === undefined ? {} : { cursor }) });
      cursor = page?.nextCursor;
    } while (cursor !== undefined);
  }

  #promptOf(command: string, sessionId = this.#first, more: readonly object[] = []): object {
    return { sessionId, prompt: [{ type: "text", text: command }, ...more], _meta: trace };
  }

  async #prompt(command: string, more: readonly object[] = [], sessionId = this.#first): Promise<void> {
    await this.#must("session/prompt", this.#promptOf(command, sessionId, more));
  }

  async #must(method: string, params: object): Promise<Loose> {
    const what = `${method} ${JSON.stringify(params).slice(0, 200)}`;
    try {
      return await within(this.#stage.agent.request(method, params), what);
    } catch (cause) {
      throw new Error(`${what}: ${String(cause)}`, { cause });
    }
  }

  async #fails(method: string, params: object, signal?: AbortSignal): Promise<void> {
    const answer = this.#stage.agent.request(method, params, signal);
    const succeeded = await within(
      answer.then(
        () => true,
        () => false,
      ),
      `${method} fails`,
    );
    if (succeeded) throw new Error(`${method} succeeded with ${JSON.stringify(params)}`);
  }

  /** Whether it succeeds is for the transcripts to compare. */
  async #either(method: string, params: object): Promise<Loose> {
    const answer = this.#stage.agent.request(method, params);
    return await within(
      answer.catch(() => undefined),
      `${method} is answered`,
    );
  }
}
