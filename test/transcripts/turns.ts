// What a prompt makes the test agent do: one command per prompt, named by its first text. Whatever the client answered is
// said in the session, so that the transcripts show that it arrived.
import type { Loose } from "../harness/lines.ts";
import { type Call, Fault } from "./agent-peer.ts";
import { awkward } from "./respelling.ts";
import type { TestAgent, TestSession } from "./test-agent.ts";
import { everyUpdate } from "./updates.ts";

interface Place {
  readonly agent: TestAgent;
  readonly session: TestSession;
  readonly call: Call;
  /** session/cancel has come. */
  readonly cancelled: Promise<void>;
}

const options = [
  { optionId: "once", name: "Allow", kind: "allow_once", _meta: { grants: "this" } },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

/** Error answers of every kind; null stands for an exception that is no error answer. */
const faults: Readonly<Record<string, Fault | null>> = {
  auth: new Fault(-32000, "Authentication required", { authMethods: [{ id: "browser" }] }),
  missing: new Fault(-32002, "Resource not found: file:///x", { uri: "file:///x" }),
  internal: new Fault(-32603, "Internal error: \u201cquoted\u201d \u{1f600}", { details: ["a", { b: null }] }),
  bare: new Fault(-32603, ""),
  own: new Fault(4711, "a code of its own", 0),
  text: new Fault(-1, "text as data", "only text"),
  nothing: new Fault(-32099, "null as data", null),
  exception: null,
};

export async function runTurn(place: Place, prompt: Loose): Promise<object> {
  const [command, ...words]: string[] = prompt[0].text.split(" ");
  const run = command === undefined ? undefined : commands[command];
  if (!run) throw new Fault(-32602, `no command ${command}`);
  const stopReason = await run(new Turn(place), words);
  return { stopReason: stopReason ?? "end_turn", _meta: { turn: prompt[0].text } };
}

class Turn {
  readonly agent: TestAgent;
  readonly session: TestSession;
  readonly call: Call;
  readonly cancelled: Promise<void>;

  constructor(place: Place) {
    this.agent = place.agent;
    this.session = place.session;
    this.call = place.call;
    this.cancelled = place.cancelled;
  }

  async tell(update: object): Promise<void> {
    this.session.history.push(update);
    await this.call.peer.notify("session/update", { sessionId: this.session.sessionId, update });
  }

  async say(text: string): Promise<void> {
    await this.tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async ask(method: string, params: object, signal?: AbortSignal): Promise<Loose> {
    return await this.call.peer.request(method, { sessionId: this.session.sessionId, ...params }, signal);
  }

  /** Asks and says what came of it. */
  async report(method: string, params: object, signal?: AbortSignal): Promise<Loose> {
    let answer: Loose;
    try {
      answer = await this.ask(method, params, signal);
      await this.say(`${method} gave ${JSON.stringify(answer)}`);
    } catch (cause) {
      const { code, message, data }: Loose = cause;
      await this.say(`${method} failed with ${JSON.stringify({ code, message, data })}`);
    }
    return answer;
  }

  permission(toolCallId: string, answer: string): [string, object] {
    const toolCall = {
      toolCallId,
      title: `May I ${answer}?`,
      kind: "edit",
      status: "pending",
      rawInput: { a: [1, "2"] },
    };
    return ["session/request_permission", { toolCall, options, _meta: { answer, awkward } }];
  }
}

type Command = (turn: Turn, words: readonly string[]) => Promise<string | void>;

const commands: Readonly<Record<string, Command>> = {
  async say(turn) {
    await turn.say("hello \u00e9\u{1f600}\u2028\u0000\\u0041 \ud800 end");
  },
  async big(turn) {
    await turn.say("0123456789\u20ac".repeat(30_000));
  },
  async updates(turn) {
    const { agent, session } = turn;
    session.modeId = "bold";
    session.options["thinking aloud"] = true;
    for (const update of everyUpdate(agent.optionsOf(session))) await turn.tell(update);
  },
  async backwards(turn) {
    await turn.tell({ sessionUpdate: "tool_call", toolCallId: "back", title: "goes back", status: "completed" });
    await turn.tell({ sessionUpdate: "tool_call_update", toolCallId: "back", status: "in_progress", title: "late" });
  },
  async permission(turn, [answer = ""]) {
    const toolCallId = `call-${answer}`;
    await turn.tell({ sessionUpdate: "tool_call", toolCallId, title: "asks", status: "pending" });
    await turn.report(...turn.permission(toolCallId, answer));
    await turn.tell({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
  },
  /** Two questions at once; the client answers the second one first. */
  async permissions(turn) {
    await Promise.all([
      turn.report(...turn.permission("first", "after:second")),
      turn.report(...turn.permission("second", "once")),
    ]);
  },
  /** While the question is open the agent says more about the same call, and something else. */
  async guarded(turn) {
    const asked = turn.report(...turn.permission("guarded", "after:go"));
    await turn.agent.signal("shown guarded").promise;
    await turn.tell({ sessionUpdate: "tool_call_update", toolCallId: "guarded", title: "more about it" });
    await turn.say("go");
    await asked;
  },
  /** The agent takes its question back. */
  async withdrawn(turn) {
    const abort = new AbortController();
    const asked = turn.report(...turn.permission("withdrawn", "wait"), abort.signal);
    await turn.agent.signal("shown withdrawn").promise;
    abort.abort();
    await asked;
  },
  async files(turn) {
    await turn.report("fs/read_text_file", { path: "/there", line: 3, limit: 2, _meta: awkward });
    await turn.report("fs/read_text_file", { path: "/missing" });
    await turn.report("fs/write_text_file", { path: "/there", content: "line\r\nline\u2029\ttab" });
    await turn.report("fs/write_text_file", { path: "/readonly", content: "" });
  },
  async terminal(turn) {
    const env = [{ name: "A", value: "b" }];
    const params = { command: "make", args: ["-j", "2"], env, cwd: "/", outputByteLimit: 1000 };
    const made = await turn.report("terminal/create", params);
    const terminalId = made.terminalId;
    for (const method of ["output", "wait_for_exit", "kill", "release"]) {
      await turn.report(`terminal/${method}`, { terminalId });
    }
    await turn.report("terminal/create", { command: "refuse" });
    for (const method of ["output", "wait_for_exit", "kill", "release"]) {
      await turn.report(`terminal/${method}`, { terminalId: "gone" });
    }
  },
  async elicit(turn, [mode, answer = ""]) {
    const elicitationId = `e-${answer}`;
    const properties = {
      name: { type: "string", title: "Name", minLength: 1 },
      count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
      sure: { type: "boolean" },
      colour: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
    };
    const form = { requestedSchema: { type: "object", properties, required: ["name"] }, toolCallId: "t-1" };
    const url = { elicitationId, url: "https://example.invalid/form" };
    await turn.report("elicitation/create", {
      mode,
      message: "Please",
      ...(mode === "url" ? url : form),
      _meta: { answer },
    });
    if (mode === "url") await turn.call.peer.notify("elicitation/complete", { elicitationId });
  },
  async extension(turn) {
    const { peer } = turn.call;
    await turn.report("_test/ask", { what: { id: 1, method: "x", params: { sessionId: "other" } } });
    await peer.notify("_test/note", { sessionId: turn.session.sessionId, note: 1 });
    await peer.notify("_test/note", { note: 2, id: 5 });
    await turn.say(JSON.stringify(await peer.request("_test/ask", { without: "a session" })));
    await turn.report("_test/unknown", {});
  },
  async wait(turn, [what = ""]) {
    await turn.say(`waiting for ${what}`);
    if (what === "request-cancel") {
      await new Promise<void>((resolve) => turn.call.signal.addEventListener("abort", () => resolve(), { once: true }));
      throw new Fault(-32800, "Request cancelled", { why: "asked to" });
    }
    await turn.cancelled;
    await turn.say("one more word");
    return "cancelled";
  },
  /** Cancelled while a question is open. */
  async undecided(turn) {
    const asked = turn.report(...turn.permission("undecided", "after-cancel"));
    await turn.cancelled;
    await asked;
    return "cancelled";
  },
  async fail(_turn, [kind = ""]) {
    const fault = faults[kind];
    if (fault) throw fault;
    throw new TypeError("an exception");
  },
  async stop(_turn, [reason]) {
    return reason;
  },
  /** Something after the answer. */
  async later(turn) {
    setImmediate(() => void turn.say("afterwards").catch(() => {})); // the client may be gone
  },
  /** Goes on when a turn of another session says so. */
  async hold(turn) {
    await turn.say("held");
    await turn.agent.signal("release").promise;
    await turn.say("released");
  },
  async release(turn) {
    await turn.say("releases");
    turn.agent.signal("release").resolve();
  },
};
