// Connects to a Helper's proposal socket, again while it is not there yet. It sleeps only when another attempt follows.
import { type Socket, connect } from "node:net";
import { connectDelaysMs } from "./limits.ts";

export type Connected =
  | { readonly ok: true; readonly socket: Socket }
  | { readonly ok: false; readonly reason: "unavailable" | "failed" | "stopped"; readonly code: string };

export interface Attempts {
  /** One attempt; tests may bring their own. */
  readonly connect?: (path: string) => Promise<Socket>;
  /** Resolves after `ms`, or at once when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** "Not there" and "busy": what may be over at the next attempt. */
const passing = ["ENOENT", "ECONNREFUSED", "EAGAIN", "EBUSY"];

export async function connectToHelper(path: string, signal: AbortSignal, attempts: Attempts = {}): Promise<Connected> {
  const { connect: attempt = connectOnce, sleep = sleepFor } = attempts;
  for (const delayMs of [...connectDelaysMs, undefined]) {
    if (signal.aborted) return { ok: false, reason: "stopped", code: "" };
    try {
      return { ok: true, socket: await attempt(path) };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
      if (!passing.includes(code)) return { ok: false, reason: "failed", code };
      if (delayMs === undefined) return { ok: false, reason: "unavailable", code };
      await sleep(delayMs, signal);
    }
  }
  throw new Error("A last attempt always returns.");
}

async function connectOnce(path: string): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
    if (signal.aborted) wake();
  });
}
