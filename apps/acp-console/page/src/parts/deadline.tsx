// When a question ends by itself, and how long that is from now.
import { useEffect, useState } from "preact/hooks";
import { timeLeft } from "../model/words.ts";

/** `ends`: what happens then. */
export function Deadline({ at, ends }: { at: number | undefined; ends: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (at === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  if (at === undefined) return null;
  return (
    <p class="deadline">
      {ends} in <strong>{timeLeft(at - now)}</strong>, at{" "}
      <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
    </p>
  );
}

export function deadlineOf(expiresAt: string | null): number | undefined {
  const at = Date.parse(expiresAt ?? "");
  return Number.isNaN(at) ? undefined : at;
}
