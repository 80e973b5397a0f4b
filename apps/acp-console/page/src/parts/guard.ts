// The guard time of a question on the page: starts when it comes up, begins again while somebody types on.
import { useEffect, useRef, useState } from "preact/hooks";
import { afterKey, guardFrom, guardMs, isGuarded } from "../model/key-guard.ts";

export interface AnswerGuard {
  /** Controls rest. */
  readonly isGuarded: boolean;
  /** Tell it every key press. True: the key was meant for something else. */
  readonly rejects: () => boolean;
}

/** One for each question: use it in a part that is keyed by the question's id. */
export function useAnswerGuard(): AnswerGuard {
  const guard = useRef(guardFrom(performance.now()));
  const [isOn, setOn] = useState(true);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wait = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOn(false), guardMs);
  };
  useEffect(() => {
    guard.current = guardFrom(performance.now());
    wait();
    return () => clearTimeout(timer.current);
  }, []);
  const rejects = (): boolean => {
    const now = performance.now();
    if (!isOn && !isGuarded(guard.current, now)) return false;
    guard.current = afterKey(guard.current, now);
    wait();
    return true;
  };
  return { isGuarded: isOn, rejects };
}
