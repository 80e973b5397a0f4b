// The demo agent as an ACP agent: which requests it answers, and how. What a prompt does is in commands/.
import { isAbsolute } from "node:path";
import {
  agent,
  RequestError,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
} from "@agentclientprotocol/sdk";
import { availableCommands } from "./commands/index.ts";
import { runPrompt } from "./prompt.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

const pageSize = 50;

const notFound = (sessionId: string): RequestError =>
  new RequestError(-32002, `No session ${sessionId}. List the sessions, or make a new one.`, { sessionId });

function checkedCwd(cwd: string): string {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, "cwd must be an absolute path");
  return cwd;
}

function forkParams(params: unknown): { sessionId: string; cwd: string } {
  const given = typeof params === "object" && params !== null ? params : {};
  if ("sessionId" in given && "cwd" in given) {
    const { sessionId, cwd } = given;
    if (typeof sessionId === "string" && typeof cwd === "string") return { sessionId, cwd };
  }
  throw RequestError.invalidParams(undefined, "session/fork needs sessionId and cwd");
}

const settings = (session: Session) => ({ modes: session.modes, configOptions: session.configOptions });
// Commands are announced behind the answer: before it the client does not know the session.
const announceCommands = (session: Session, client: AgentContext): void => {
  const { sessionId } = session.stored;
  const update = { sessionUpdate: "available_commands_update" as const, availableCommands };
  setImmediate(() => void client.notify("session/update", { sessionId, update }).catch(() => {})); // the client went
};

/** An agent for one connection. */
export function createDemoAgent(sessions: SessionStore): AgentApp {
  let capabilities: ClientCapabilities = {};

  const live = (sessionId: string): Session => {
    const session = sessions.live(sessionId);
    if (session === undefined) throw notFound(sessionId);
    return session;
  };
  const stored = (sessionId: string): Session => {
    const session = sessions.open(sessionId);
    if (session === undefined) throw notFound(sessionId);
    return session;
  };
  return agent({ name: "acp-master-demo" })
    .onRequest("initialize", ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      const sessionCapabilities = { list: {}, resume: {}, close: {}, delete: {}, fork: {} };
      return {
        protocolVersion: 1,
        agentInfo: { name: "acp-master-demo", title: "Demo agent", version: "0.1.0" },
        agentCapabilities: { loadSession: true, promptCapabilities: { embeddedContext: true }, sessionCapabilities },
        authMethods: [],
      };
    })
    .onRequest("authenticate", () => ({}))
    .onRequest("session/new", ({ params, client }) => {
      const session = sessions.create(checkedCwd(params.cwd));
      // Saved before its first turn, so that a client may make it in one process and use it in another.
      sessions.save(session);
      announceCommands(session, client);
      return { sessionId: session.stored.sessionId, ...settings(session) };
    })
    .onRequest("session/load", async ({ params, client }) => {
      const session = stored(params.sessionId);
      const { sessionId, history } = session.stored;
      for (const update of history.slice()) await client.notify("session/update", { sessionId, update });
      announceCommands(session, client);
      return settings(session);
    })
    .onRequest("session/resume", ({ params, client }) => {
      const session = stored(params.sessionId);
      announceCommands(session, client);
      return settings(session);
    })
    .onRequest("session/fork", forkParams, ({ params, client }) => {
      const session = sessions.fork(stored(params.sessionId), checkedCwd(params.cwd));
      sessions.save(session);
      announceCommands(session, client);
      return { sessionId: session.stored.sessionId, ...settings(session) };
    })
    .onRequest("session/list", ({ params }) => {
      const all = sessions.list().filter((one) => !params.cwd || one.cwd === params.cwd);
      const from = Number(params.cursor ?? 0);
      if (!Number.isInteger(from) || from < 0) throw RequestError.invalidParams(undefined, "unknown cursor");
      const rest = from + pageSize < all.length ? { nextCursor: String(from + pageSize) } : {};
      return { sessions: all.slice(from, from + pageSize), ...rest };
    })
    .onRequest("session/close", ({ params }) => {
      sessions.close(live(params.sessionId));
      return {};
    })
    .onRequest("session/delete", ({ params }) => {
      sessions.delete(params.sessionId);
      return {};
    })
    .onRequest("session/set_mode", ({ params }) => {
      const session = live(params.sessionId);
      if (!session.setMode(params.modeId)) throw RequestError.invalidParams(undefined, "unknown mode");
      return {};
    })
    .onRequest("session/set_config_option", ({ params }) => {
      const session = live(params.sessionId);
      if (!session.setConfigOption(params.configId, params.value)) {
        throw RequestError.invalidParams(undefined, "unknown option or value");
      }
      return { configOptions: session.configOptions };
    })
    .onRequest("session/prompt", async ({ params, client, signal }) => {
      const session = live(params.sessionId);
      const stopReason = await runPrompt({ session, client, capabilities, signal, prompt: params.prompt });
      // A session that was closed or deleted meanwhile is not written again.
      if (sessions.live(params.sessionId) === session) sessions.save(session);
      return { stopReason };
    })
    .onNotification("session/cancel", ({ params }) => sessions.live(params.sessionId)?.cancel());
}
