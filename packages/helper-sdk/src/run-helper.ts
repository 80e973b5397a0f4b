// Speaks the Helper protocol for a definition. A message it cannot act on is answered with an error, never with a guess;
// what an author throws is written to standard error and not sent.
import type { Readable, Writable } from "node:stream";
import {
  helperMethods,
  initializeParams,
  masterMethods,
  permissionResolvedParams,
  presetParams,
  PROTOCOL_VERSION,
  requestPermissionParams,
  sessionChangedParams,
  sessionEndParams,
  sessionStartParams,
  toolCallParams,
  turnEndParams,
  turnStartParams,
  type Hook,
  type RequestPermissionParams,
  type ToolCallParams,
} from "@acp-master/permission-core";
import {
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  type CancellationToken,
  type MessageConnection,
} from "vscode-jsonrpc/node";
import type * as z from "zod";
import { decide, defaultDeadlineMs, HelperFault, within } from "./decide.ts";
import type { HelperDefinition, ToolCallVerdict } from "./define-helper.ts";
import { HelperSession, type SessionVoice } from "./helper-session.ts";
import { takeStandardOutput } from "./standard-output.ts";

export interface HelperStreams {
  readonly input: Readable;
  readonly output: Writable;
}

const hookDeadlineMs = 2_000;

/**
 * Runs a Helper until its input ends. Without streams it is the whole program: it takes standard input and output and
 * exits the process at the end.
 *
 *     await runHelper(defineHelper({ name: "careful", permission: () => ask() }));
 */
export async function runHelper(definition: HelperDefinition, streams?: HelperStreams): Promise<void> {
  const used = streams ?? { input: process.stdin, output: takeStandardOutput() };
  await new RunningHelper(definition, used).ended;
  if (streams === undefined) process.exit();
}

class RunningHelper {
  readonly ended: Promise<void>;
  readonly #definition: HelperDefinition;
  readonly #connection: MessageConnection;
  readonly #sessions = new Map<string, HelperSession>();

  constructor(definition: HelperDefinition, { input, output }: HelperStreams) {
    this.#definition = definition;
    this.#connection = createMessageConnection(input, output);
    this.#connection.onError(([error]) => complain("a message could not be read or written", error.name));
    this.#serveRequests();
    this.#serveNotifications();
    this.ended = new Promise((resolve) => {
      const end = () => void this.#end().then(resolve);
      input.once("end", end);
      input.once("close", end);
      output.once("error", end);
    });
    this.#connection.listen();
  }

  #serveRequests(): void {
    const definition = this.#definition;
    this.#answer(helperMethods.initialize, inShape(initializeParams), async (master) => {
      await definition.initialize?.(master);
      const helper = { name: definition.name, version: definition.version ?? "0" };
      return { protocolVersion: PROTOCOL_VERSION, helper, hooks: this.#hooks() };
    });
    this.#answer(helperMethods.sessionStart, inShape(sessionStartParams), async (start, signal) => {
      const session = new HelperSession(start, this.#voice(start.sessionId));
      const opened = await within(defaultDeadlineMs, signal, (inner) => definition.sessionStart?.(session, inner));
      this.#sessions.set(start.sessionId, session);
      const { presets } = definition;
      return { ...(presets === undefined ? {} : { presets }), ...opened };
    });
    this.#answer(helperMethods.requestPermission, asRequest, async (params, signal) => {
      return { outcome: await decide(definition, params, this.#session(params.sessionId), signal) };
    });
    this.#answer(helperMethods.turnStart, inShape(turnStartParams), async ({ sessionId, turnId }, signal) => {
      const session = this.#session(sessionId);
      const append = await within(hookDeadlineMs, signal, (inner) =>
        definition.turnStart?.({ turnId }, session, inner),
      );
      return append === undefined ? {} : { append };
    });
    this.#answer(helperMethods.toolCall, asToolCall, async (params, signal) => {
      const session = this.#session(params.sessionId);
      const pass: ToolCallVerdict = { verdict: "pass", final: true };
      return within(hookDeadlineMs, signal, (inner) => definition.toolCall?.(params, session, inner) ?? pass);
    });
    this.#answer(helperMethods.sessionEnd, inShape(sessionEndParams), async ({ sessionId }) => {
      await this.#endSession(this.#session(sessionId), "ended");
      return {};
    });
    this.#connection.onRequest(helperMethods.shutdown, () => ({}));
  }

  #serveNotifications(): void {
    const definition = this.#definition;
    this.#hear(helperMethods.toolSeen, asToolCall, (params, session) => {
      if (definition.announced === true) session.see(params.update);
      return definition.toolSeen?.(params, session);
    });
    this.#hear(helperMethods.turnEnd, inShape(turnEndParams), (turn, session) => {
      session.endTurn();
      return definition.turnEnd?.(turn, session);
    });
    this.#hear(helperMethods.preset, inShape(presetParams), ({ preset }, session) => session.setPreset(preset));
    this.#hear(helperMethods.sessionChanged, inShape(sessionChangedParams), ({ change }, session) =>
      definition.sessionChanged?.(change, session),
    );
    this.#hear(helperMethods.permissionResolved, inShape(permissionResolvedParams), (notice, session) =>
      definition.permissionResolved?.(notice, session),
    );
  }

  #hooks(): Hook[] {
    const definition = this.#definition;
    const hooks: Hook[] = [];
    if (definition.turnStart !== undefined) hooks.push("turn");
    if (definition.toolSeen !== undefined || definition.announced === true) hooks.push("tool_seen");
    if (definition.toolCall !== undefined) hooks.push("tool_call");
    return hooks;
  }

  #answer<P>(
    method: string,
    read: (params: unknown) => P | undefined,
    act: (params: P, signal: AbortSignal) => object | Promise<object>,
  ): void {
    this.#connection.onRequest(method, async (given: unknown, token: CancellationToken) => {
      const params = read(given);
      if (params === undefined)
        return new ResponseError(ErrorCodes.InvalidParams, `The params of ${method} have a wrong shape.`);
      const controller = new AbortController();
      const listening = token.onCancellationRequested(() => controller.abort());
      if (token.isCancellationRequested) controller.abort();
      try {
        return await act(params, controller.signal);
      } catch (error) {
        return asResponseError(method, error);
      } finally {
        listening.dispose();
      }
    });
  }

  #hear<P extends { readonly sessionId: string }>(
    method: string,
    read: (params: unknown) => P | undefined,
    act: (params: P, session: HelperSession) => void | Promise<void>,
  ): void {
    this.#connection.onNotification(method, async (given: unknown) => {
      const params = read(given);
      const session = params === undefined ? undefined : this.#sessions.get(params.sessionId);
      if (params === undefined || session === undefined) return;
      try {
        await act(params, session);
      } catch (error) {
        complain(`${method} failed`, error);
      }
    });
  }

  #session(sessionId: string): HelperSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new ResponseError(ErrorCodes.InvalidParams, "This session was not started here.");
    return session;
  }

  #voice(sessionId: string): SessionVoice {
    const tell = (method: string, params: object) => {
      this.#connection.sendNotification(method, params).catch(() => {
        // the master is gone, and with it whoever would have listened
      });
    };
    return {
      log: (level, message, fields) =>
        tell(masterMethods.log, { sessionId, level, message, ...(fields && { fields }) }),
      busy: (busy) => tell(masterMethods.busy, { sessionId, busy }),
      unavailable: (reason) => tell(masterMethods.unavailable, { sessionId, reason }),
      impaired: (reason) => tell(masterMethods.impaired, { sessionId, reason }),
    };
  }

  async #endSession(session: HelperSession, why: "ended" | "shutdown"): Promise<void> {
    this.#sessions.delete(session.sessionId);
    try {
      await this.#definition.sessionEnd?.(session, why);
    } catch (error) {
      complain("sessionEnd failed", error);
    }
  }

  async #end(): Promise<void> {
    const never = new AbortController().signal;
    const sessions = [...this.#sessions.values()];
    try {
      await within(1_500, never, async () => {
        await Promise.all(sessions.map((session) => this.#endSession(session, "shutdown")));
        await this.#definition.shutdown?.();
      });
    } catch (error) {
      complain("shutdown failed", error);
    }
    this.#connection.dispose();
  }
}

function asResponseError(method: string, error: unknown): ResponseError {
  if (error instanceof ResponseError) return new ResponseError(error.code, error.message);
  const fault = error instanceof HelperFault ? error : new HelperFault("threw", error);
  if (fault.kind === "threw") complain(`${method} failed`, fault.cause);
  const code = fault.kind === "cancelled" ? -32800 : ErrorCodes.InternalError;
  return new ResponseError(code, fault.message);
}

/** For the Helper's author, on standard error, which the master does not keep. */
function complain(what: string, error: unknown): void {
  process.stderr.write(`helper: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}

/** A reader of params by their schema. */
function inShape<S extends z.ZodType>(schema: S): (params: unknown) => z.infer<S> | undefined {
  return (params) => {
    const read = schema.safeParse(params);
    return read.success ? read.data : undefined;
  };
}

/** The schemas check what deciding needs; the rest is the agent's and is read with care where it is used. */
function asRequest(params: unknown): RequestPermissionParams | undefined {
  return isRequest(params) ? params : undefined;
}

function isRequest(params: unknown): params is RequestPermissionParams {
  return requestPermissionParams.safeParse(params).success;
}

function asToolCall(params: unknown): ToolCallParams | undefined {
  return isToolCall(params) ? params : undefined;
}

function isToolCall(params: unknown): params is ToolCallParams {
  return toolCallParams.safeParse(params).success;
}
