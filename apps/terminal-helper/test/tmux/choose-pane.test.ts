// The rule for the pane of a turn, and what it is read from.
import { expect, test } from "vitest";
import { agentPanes, readProcesses } from "../../src/tmux/agent-panes.ts";
import { choosePane } from "../../src/tmux/choose-pane.ts";
import { clientInUse, type PaneRow, readView, sessionInUse, type View } from "../../src/tmux/view.ts";

const none: ReadonlySet<string> = new Set();

const pane = (over: Partial<PaneRow>): PaneRow => ({
  pane: "%0",
  window: "@0",
  session: "$0",
  sessionActivity: 1,
  pid: 10,
  tty: "/dev/pts/0",
  isInFront: true,
  isActive: false,
  isLast: false,
  takesInput: true,
  width: 80,
  height: 24,
  ...over,
});

const view = (panes: PaneRow[], clients: View["clients"] = []): View => ({ serverPid: 7, clients, panes });
const [left, right] = [pane({ isActive: true }), pane({ pane: "%1", pid: 11, isLast: true })];

test("the active pane is the pane of the turn", () => {
  expect(choosePane(view([right, left]), none)?.pane).toBe("%0");
});

test("where agents are talked to, it is the pane that was active before", () => {
  expect(choosePane(view([left, right]), new Set(["%0"]))?.pane).toBe("%1");
});

test("without one before, it is the only other pane, and none when there are several", () => {
  const other = pane({ pane: "%2" });
  const third = pane({ pane: "%3" });
  expect(choosePane(view([left, other]), new Set(["%0"]))?.pane).toBe("%2");
  expect(choosePane(view([left, other, third]), new Set(["%0"]))).toBeUndefined();
  expect(choosePane(view([left, right, other]), new Set(["%0", "%1"]))?.pane).toBe("%2");
  expect(choosePane(view([left]), new Set(["%0"]))).toBeUndefined();
});

test("windows behind the one in front, and other sessions, are never looked at", () => {
  const behind = pane({ pane: "%5", window: "@1", isInFront: false, isActive: true });
  const elsewhere = pane({ pane: "%6", session: "$1", isActive: true });
  expect(choosePane(view([behind, left, elsewhere]), none)?.pane).toBe("%0");
  expect(choosePane(view([behind, left, elsewhere]), new Set(["%0"]))).toBeUndefined();
});

test("in front is the session of the client used last; without a client the session used last", () => {
  const clients = [
    { name: "/dev/pts/1", activity: 5, session: "$0", width: 80 },
    { name: "/dev/pts/2", activity: 9, session: "$1", width: 80 },
  ];
  const other = pane({ pane: "%6", session: "$1", sessionActivity: 0, isActive: true });
  expect(clientInUse(view([], clients))?.name).toBe("/dev/pts/2");
  expect(choosePane(view([left, other], clients), none)?.pane).toBe("%6");
  expect(sessionInUse(view([left, other]))).toBe("$0");
  expect(choosePane(view([]), none)).toBeUndefined();
});

test("clients that take no keys or show no popup do not count", () => {
  const read = readView([
    "c 9 $1 80 1 0 /dev/pts/9",
    "c 8 $1 80 0 1 /dev/pts/8",
    "c 5 $0 80 0 0 /dev/pts/5",
    "p 7 %0 @0 $0 4 10 /dev/pts/0 1 1 0 0 0 0 80 24",
  ]);
  expect(read?.clients).toEqual([{ name: "/dev/pts/5", activity: 5, session: "$0", width: 80 }]);
  expect(read?.panes).toEqual([pane({ sessionActivity: 4, isActive: true })]);
});

test("a pane that is dead, switched off or typed into together with others takes no input", () => {
  const rows = ["1 0 0", "0 1 0", "0 0 1", "0 0 0"].map(
    (flags, n) => `p 7 %${n} @0 $0 4 1${n} /dev/pts/${n} 1 0 0 ${flags} 80 24`,
  );
  expect(readView(rows)?.panes.map(({ takesInput }) => takesInput)).toEqual([false, false, false, true]);
});

test("agents are talked to in a pane below which one of our programs runs", () => {
  const panes = [left, right, pane({ pane: "%2", pid: 12 })];
  const taken = (text: string) => [...agentPanes(panes, readProcesses(text))];
  expect(taken("   10     1 -bash\n   20    10 node /opt/acp-master/bin/acp-master.cjs connect claude\n")).toEqual([
    "%0",
  ]);
  expect(taken("10 1 -zsh\n30 10 nvim\n31 30 sh -c x\n32 31 npx acp-master connect\n11 1 -bash\n")).toEqual(["%0"]);
  expect(taken("11 1 node /x/dist/acp-master.js run demo hello\n")).toEqual(["%1"]);
  expect(taken("12 1 -bash\n40 12 node /x/dist/helper-terminal.js review --json\n")).toEqual(["%2"]);
});

test("a pane in which our programs are only talked about is free", () => {
  for (const command of ["vim acp-master/README.md", "node /x/dist/acp-master.js serve", "tail -f acp-master.log"]) {
    expect([...agentPanes([left], readProcesses(`10 1 -bash\n20 10 ${command}\n`))]).toEqual([]);
  }
});
