// The test client on the official SDK, and on the package under its old name.
import { client, ndJsonStream, RequestError } from "@agentclientprotocol/sdk";
import * as old from "acp-legacy";
import type { Loose } from "../harness/lines.ts";
import type { ByteStreams } from "./agent-process.ts";
import { Fault } from "./agent-peer.ts";
import type { AgentPeer, TestClient } from "./test-client.ts";

const requests = [
  "session/request_permission",
  "fs/read_text_file",
  "fs/write_text_file",
  "terminal/create",
  "terminal/output",
  "terminal/wait_for_exit",
  "terminal/kill",
  "terminal/release",
  "elicitation/create",
] as const;

type Words = new (code: number, message: string, data?: unknown) => Error;

/** Faults become the SDK's own error answers. */
async function inWords(work: Promise<Loose>, words: Words): Promise<Loose> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof Fault ? new words(cause.code, cause.message, cause.facts) : cause;
  }
}

export function connectNew({ output, input }: ByteStreams, tested: TestClient): AgentPeer {
  const app = client({ name: "test-client" });
  for (const method of requests) {
    app.onRequest<Loose, Loose>(
      method,
      (params) => params,
      ({ params, signal }) => inWords(tested.answer(method, params, signal), RequestError),
    );
  }
  app.onRequest("*", ({ method, params, signal }) => inWords(tested.answer(method, params, signal), RequestError));
  app.onNotification("session/update", ({ params }) => tested.notified("session/update", params));
  app.onNotification("*", ({ method, params }) => tested.notified(method, params));
  const { agent } = app.connect(ndJsonStream(output, input));
  return {
    request: (method, params, signal) =>
      agent.request<Loose>(method, params, signal ? { cancellationSignal: signal } : {}),
    notify: (method, params) => agent.notify<Loose>(method, params),
  };
}

export function connectOld({ output, input }: ByteStreams, tested: TestClient): AgentPeer {
  const { signal } = new AbortController();
  const answer = (method: string) => (params: Loose) =>
    inWords(tested.answer(method, params, signal), old.RequestError);
  const connection = new old.ClientSideConnection(
    () => ({
      requestPermission: answer("session/request_permission"),
      sessionUpdate: async (params) => tested.notified("session/update", params),
      readTextFile: answer("fs/read_text_file"),
      writeTextFile: answer("fs/write_text_file"),
      createTerminal: answer("terminal/create"),
      terminalOutput: answer("terminal/output"),
      waitForTerminalExit: answer("terminal/wait_for_exit"),
      killTerminal: answer("terminal/kill"),
      releaseTerminal: answer("terminal/release"),
      extMethod: (method, params) => answer(`_${method}`)(params),
      extNotification: async (method, params) => tested.notified(`_${method}`, params),
    }),
    old.ndJsonStream(output, input),
  );
  return {
    request: (method, params) => oldRequest(connection, method, params),
    notify: (method, params: Loose) =>
      method === "session/cancel" ? connection.cancel(params) : connection.extNotification(method.slice(1), params),
  };
}

/** The old package has a method for each request; this is the way to them by name. */
function oldRequest(connection: old.ClientSideConnection, method: string, params: Loose): Promise<Loose> {
  switch (method) {
    case "initialize":
      return connection.initialize(params);
    case "authenticate":
      return connection.authenticate(params);
    case "session/new":
      return connection.newSession(params);
    case "session/load":
      return connection.loadSession(params);
    case "session/set_mode":
      return connection.setSessionMode(params);
    case "session/prompt":
      return connection.prompt(params);
    default:
      return connection.extMethod(method.slice(1), params);
  }
}
