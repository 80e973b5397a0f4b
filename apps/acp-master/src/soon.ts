// What nobody waits for, done together: however much of it there is, it wakes the daemon once.

/** What was asked for is done within this time. */
const soonMs = 20;

const due = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/** Calls `work` once, soon; asking for it again before makes no second call. It keeps no process alive. */
export function soon(work: () => void): void {
  due.add(work);
  timer ??= setTimeout(doAll, soonMs).unref();
}

/** Takes back what was asked for. */
export function notSoon(work: () => void): void {
  due.delete(work);
}

function doAll(): void {
  timer = undefined;
  for (const work of Array.from(due)) if (due.delete(work)) work();
}
