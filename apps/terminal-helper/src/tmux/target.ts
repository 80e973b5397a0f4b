// The name of a pane for the life of its server: `%3@1234`. Another server, also one on the same socket, has other names.
export interface Target {
  readonly pane: string;
  readonly serverPid: number;
}

export function targetName({ pane, serverPid }: Target): string {
  return `${pane}@${serverPid}`;
}

export function readTarget(name: string): Target | undefined {
  const [, pane, serverPid] = /^(%\d+)@(\d+)$/.exec(name) ?? [];
  return pane === undefined ? undefined : { pane, serverPid: Number(serverPid) };
}

/** The pane in which this program itself runs, from what tmux sets for it: TMUX is `socket,server pid,session`. */
export function ownTarget({ TMUX, TMUX_PANE }: NodeJS.ProcessEnv): string | undefined {
  const [, serverPid] = /,(\d+),[^,]*$/.exec(TMUX ?? "") ?? [];
  if (serverPid === undefined || TMUX_PANE === undefined) return undefined;
  return targetName({ pane: TMUX_PANE, serverPid: Number(serverPid) });
}
