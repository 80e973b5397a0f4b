// The test agent on the official SDK, on stdin and stdout, with every capability announced.
import { agent, ndJsonStream, RequestError, type AgentContext } from "@agentclientprotocol/sdk";
import type { Loose } from "../harness/lines.ts";
import { Fault, type Peer } from "./agent-peer.ts";
import { recordedStdio, sessionPrefix } from "./agent-process.ts";
import { TestAgent } from "./test-agent.ts";

const requests = [
  "authenticate",
  "logout",
  "session/new",
  "session/load",
  "session/resume",
  "session/list",
  "session/close",
  "session/delete",
  "session/prompt",
  "session/set_mode",
  "session/set_config_option",
] as const;

const tested = new TestAgent(sessionPrefix);

const peerOf = (client: AgentContext): Peer => ({
  request: (method, params, signal) =>
    client.request<Loose>(method, params, signal ? { cancellationSignal: signal } : {}),
  notify: (method, params) => client.notify<Loose>(method, params),
});

/** Faults become the SDK's own error answers. */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof Fault ? new RequestError(cause.code, cause.message, cause.facts) : cause;
  }
}

const app = agent({ name: "full-agent" });
app.onRequest("initialize", () => ({
  protocolVersion: 1,
  agentInfo: { name: "full-agent", title: "Full agent", version: "1.2.3" },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: {
      list: {},
      resume: { _meta: { a: 1 } },
      close: {},
      delete: {},
      fork: {},
      additionalDirectories: {},
    },
    auth: { logout: {} },
    _meta: { "vendor/extra": [1, 2] },
  },
  authMethods: [
    { id: "browser", name: "Browser", description: "Opens a page" },
    { id: "shell", name: "Shell", type: "terminal", args: ["login"], env: { A: "b" } },
  ],
  _meta: { "vendor/agent": { a: null } },
}));
for (const method of requests) {
  app.onRequest<Loose, Loose>(
    method,
    (params) => params,
    ({ params, client, requestId, signal }) =>
      inWords(tested.answer(method, params, { peer: peerOf(client), requestId, signal })),
  );
}
app.onRequest("*", ({ method, params, client, requestId, signal }) =>
  inWords(tested.answer(method, params, { peer: peerOf(client), requestId, signal })),
);
app.onNotification("*", ({ method, params, client }) => tested.notified(method, params, peerOf(client)));
app.onNotification("session/cancel", ({ params, client }) => tested.notified("session/cancel", params, peerOf(client)));

const { output, input } = recordedStdio();
await app.connect(ndJsonStream(output, input)).closed;
process.exit(0);
