// The fail-closed frame around an author's decision: whatever it does, only a valid choice comes out.
import { checkHelperChoice, permissionOutcome } from "@acp-master/permission-core";
import type { HelperDefinition } from "./define-helper.ts";
import type { HelperSession } from "./helper-session.ts";
import { ask, type PermissionRequest, type Verdict } from "./verdict.ts";

export const defaultDeadlineMs = 30_000;

/** Why there is no verdict. Its message holds nothing of the request, nor of what the author threw. */
export class HelperFault extends Error {
  readonly kind: "deadline" | "cancelled" | "wrong_shape" | "bad_choice" | "threw";
  constructor(kind: HelperFault["kind"], cause?: unknown) {
    super(`The Helper has no answer (${kind}).`, { cause });
    this.kind = kind;
  }
}

export async function decide(
  definition: HelperDefinition,
  request: PermissionRequest,
  session: HelperSession,
  signal: AbortSignal,
): Promise<Verdict> {
  const answer: unknown = await within(definition.deadlineMs ?? defaultDeadlineMs, signal, (inner) =>
    definition.permission(request, session, inner),
  );
  const read = permissionOutcome.safeParse(answer);
  if (!read.success) throw new HelperFault("wrong_shape");
  if (read.data.outcome !== "selected") return { outcome: read.data.outcome };
  const { optionId } = read.data;
  const choice = checkHelperChoice(request.options, optionId);
  if (!choice.ok) throw new HelperFault("bad_choice");
  // Nobody may allow what nobody can see.
  if (choice.grants && !session.read(request).argsKnown) return ask();
  return { outcome: "selected", optionId };
}

/** Runs `work` with a signal that aborts at the deadline or when the caller gives up; then waits for it no longer. */
export async function within<T>(
  deadlineMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  const timer = setTimeout(() => controller.abort(new HelperFault("deadline")), deadlineMs);
  const onAbort = () => controller.abort(new HelperFault("cancelled"));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    const answer = (async () => work(controller.signal))();
    return await Promise.race([answer, stopped]);
  } catch (error) {
    throw error instanceof HelperFault ? error : new HelperFault("threw", error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
