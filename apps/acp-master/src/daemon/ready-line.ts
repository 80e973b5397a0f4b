// The one line that `serve` prints when clients can connect. Nothing else goes to its standard output.
export interface ReadyFacts {
  readonly pid: number;
  readonly socket: string;
  readonly version: string;
}

/** With its line feed; `json` gives the form for programs. */
export function readyLine({ pid, socket, version }: ReadyFacts, json: boolean): string {
  if (json) return `${JSON.stringify({ ready: true, pid, socket, version })}\n`;
  return `acp-master ${version} is ready (pid ${pid}) on ${socket}\n`;
}
