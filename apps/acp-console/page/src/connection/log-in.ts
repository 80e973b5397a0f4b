// The log-in of this browser: a one-time token becomes a key, kept for this address alone, and a cookie that the page never sees.
import { asRecord, asText } from "../model/json-value.ts";
import { tokenOf } from "../model/place.ts";

const stored = "acp-console.key";

export type LogIn = { readonly ok: true } | { readonly ok: false; readonly problem: string };

export const storedKey = (): string | undefined => localStorage.getItem(stored) ?? undefined;

/** Takes the token out of the address bar, so that it is neither kept in the history nor copied. */
export function takeToken(): string | undefined {
  const token = tokenOf(location.hash);
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  return token;
}

export async function logIn(token: string): Promise<LogIn> {
  try {
    const answer = await post("/api/login", token);
    if (!answer.ok) return { ok: false, problem: problems[answer.status] ?? `The console answered ${answer.status}.` };
    const { key } = asRecord(await answer.json());
    localStorage.setItem(stored, asText(key));
    return { ok: true };
  } catch {
    return { ok: false, problem: "The console cannot be reached. Start it with: acp-master console" };
  }
}

/** Ends this log-in, also when the console does not answer: then its key is forgotten here. */
export async function logOut(key: string): Promise<void> {
  localStorage.removeItem(stored);
  await post("/api/logout", key).catch(() => undefined); // not reachable: the key ends with the console
}

/** Whether the key still counts: a WebSocket does not say why it does not open. */
export async function isKnown(key: string): Promise<"yes" | "no" | "unreachable"> {
  try {
    const answer = await fetch("/api/session", { headers: { authorization: `Bearer ${key}` }, cache: "no-store" });
    return answer.ok ? "yes" : answer.status === 401 ? "no" : "unreachable";
  } catch {
    return "unreachable";
  }
}

const problems: Readonly<Record<number, string>> = {
  401: "This address was used already, or is too old. Run acp-master console for a new one.",
  403: "The console refuses this address. Open it as acp-master console printed it.",
  429: "Too many tries. Wait a minute, then open a new address.",
};

const post = (path: string, secret: string): Promise<Response> =>
  fetch(path, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: "{}",
  });
