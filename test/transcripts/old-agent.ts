// The test agent on the package under its old name, as far as that one goes, on stdin and stdout.
import { AgentSideConnection, ndJsonStream, RequestError, type TerminalHandle } from "acp-legacy";
import type { Loose } from "../harness/lines.ts";
import { type Call, Fault, type Peer } from "./agent-peer.ts";
import { recordedStdio, sessionPrefix } from "./agent-process.ts";
import { TestAgent } from "./test-agent.ts";

const tested = new TestAgent(sessionPrefix);
const terminals = new Map<string, TerminalHandle>();
const { output, input } = recordedStdio();

/** The old package has a method for each request; this is the way back to their names. */
async function request(connection: AgentSideConnection, method: string, params: Loose): Promise<Loose> {
  const terminal = terminals.get(params.terminalId);
  switch (method) {
    case "session/request_permission":
      return await connection.requestPermission(params);
    case "fs/read_text_file":
      return await connection.readTextFile(params);
    case "fs/write_text_file":
      return await connection.writeTextFile(params);
    case "terminal/create": {
      const made = await connection.createTerminal(params);
      terminals.set(made.id, made);
      return { terminalId: made.id };
    }
    case "terminal/output":
      return await terminal?.currentOutput();
    case "terminal/wait_for_exit":
      return await terminal?.waitForExit();
    case "terminal/kill":
      return await terminal?.kill();
    case "terminal/release":
      return await terminal?.release();
    default:
      return await connection.extMethod(method.slice(1), params);
  }
}

const peerOf = (connection: AgentSideConnection): Peer => ({
  request: (method, params) => request(connection, method, params),
  notify: (method, params: Loose) =>
    method === "session/update"
      ? connection.sessionUpdate(params)
      : connection.extNotification(method.slice(1), params),
});

async function inWords(work: Promise<Loose>): Promise<Loose> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof Fault ? new RequestError(cause.code, cause.message, cause.facts) : cause;
  }
}

void new AgentSideConnection(
  (connection) => {
    const call: Call = { peer: peerOf(connection), signal: new AbortController().signal };
    const answer = (method: string) => (params: Loose) => inWords(tested.answer(method, params, call));
    return {
      initialize: async () => ({
        protocolVersion: 1,
        agentCapabilities: { loadSession: true, promptCapabilities: { image: true } },
        authMethods: [{ id: "browser", name: "Browser", description: null }],
        _meta: { "vendor/agent": 1 },
      }),
      authenticate: answer("authenticate"),
      newSession: answer("session/new"),
      loadSession: answer("session/load"),
      setSessionMode: answer("session/set_mode"),
      setSessionModel: answer("session/set_model"),
      prompt: answer("session/prompt"),
      cancel: (params) => tested.notified("session/cancel", params, call.peer),
      extMethod: (method, params) => answer(`_${method}`)(params),
      extNotification: (method, params) => tested.notified(`_${method}`, params, call.peer),
    };
  },
  ndJsonStream(output, input),
);
