// The host client: serves an agent's file and terminal requests on this host, inside the session's folders, when the
// clients that could are gone. A process of its own, on the official SDK; its master speaks to it over stdio.
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream, RequestError } from "@agentclientprotocol/sdk";
import { WorkspaceFileError, WorkspaceFiles } from "../client/workspace-files.ts";
import { asList, asRecord, asText } from "../protocol/json-value.ts";
import { largestCount, Terminals } from "./terminals.ts";

/** Ours only: which folders a session may touch, and when it is over. */
const ROOTS = "_acp-master/roots";
const SESSION_END = "_acp-master/session_end";
const maxMessageBytes = 64 * 1024 * 1024;

const folders = new Map<string, Promise<WorkspaceFiles>>();
const terminals = new Terminals();

const app = client({ name: "acp-master host" })
  .onNotification(ROOTS, asRecord, ({ params }) => {
    const [folder = "", ...more] = asList(params["roots"]).filter((root) => typeof root === "string");
    const files = WorkspaceFiles.open(folder, ...more);
    files.catch(() => {}); // said to whoever asks for a file
    folders.set(asText(params["sessionId"]), files);
  })
  .onNotification(SESSION_END, asRecord, ({ params }) => {
    const sessionId = asText(params["sessionId"]);
    folders.delete(sessionId);
    terminals.endSession(sessionId);
  })
  .onRequest("fs/read_text_file", async ({ params }) => {
    const { sessionId, path, line, limit } = params;
    const content = await served(() =>
      filesOf(sessionId).then((files) => files.read(path, { line: line ?? null, limit: limit ?? null })),
    );
    return { content };
  })
  .onRequest("fs/write_text_file", async ({ params }) => {
    const { sessionId, path, content } = params;
    await served(() => filesOf(sessionId).then((files) => files.write(path, content)));
    return {};
  })
  .onRequest("terminal/create", async ({ params }) => {
    const { sessionId, command, args, cwd, env, outputByteLimit } = params;
    const folder = await served(() => filesOf(sessionId).then((files) => files.folder(cwd ?? undefined)));
    // It may have ended while the folder was looked for: nobody would end the command.
    await filesOf(sessionId);
    const terminalId = terminals.create(sessionId, {
      command,
      args: args ?? [],
      cwd: folder,
      env: env ?? [],
      outputByteLimit: outputByteLimit ?? undefined,
    });
    if (terminalId === undefined) {
      throw new RequestError(-32603, `This session has ${largestCount} terminals already; release some first.`);
    }
    return { terminalId };
  })
  .onRequest("terminal/output", ({ params }) => terminal(params).output())
  .onRequest("terminal/wait_for_exit", ({ params }) => terminal(params).ended)
  .onRequest("terminal/kill", ({ params }) => {
    terminal(params).kill();
    return {};
  })
  .onRequest("terminal/release", ({ params }) => {
    terminal(params);
    terminals.release(params.terminalId);
    return {};
  });

function filesOf(sessionId: string): Promise<WorkspaceFiles> {
  return folders.get(sessionId) ?? Promise.reject(new RequestError(-32002, "The session is not known here."));
}

function terminal({ sessionId, terminalId }: { sessionId: string; terminalId: string }) {
  const found = terminals.get(sessionId, terminalId);
  if (!found) throw new RequestError(-32002, "There is no such terminal in this session.");
  return found;
}

async function served<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof WorkspaceFileError)) throw error;
    throw new RequestError(error.problem === "not_found" ? -32002 : -32603, error.message);
  }
}

const connection = app.connect(
  ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin), { maxMessageBytes }),
);
process.on("exit", () => terminals.endAll());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
await connection.closed;
process.exit(0);
