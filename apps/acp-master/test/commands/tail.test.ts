import { expect, test } from "vitest";
import { Installation } from "./command-line.ts";
import { FixtureDaemon, type Peer } from "./fixture-daemon.ts";

const row = { sessionId: "s1", agent: "demo", cwd: "/w", state: "running", clients: [], approvals: 0 };
const says = (text: string, sessionUpdate = "agent_message_chunk") => ({
  sessionUpdate,
  content: { type: "text", text },
});

async function tailing(place: Installation, live: (peer: Peer) => void = () => {}) {
  return FixtureDaemon.start(place, {
    "_acp-master/sessions": () => ({ sessions: [row] }),
    "session/load": (_params, peer) => {
      peer.update("s1", says("do it", "user_message_chunk"));
      peer.update("other", says("not ours"));
      peer.update("s1", says("ok \u001b[2J"));
      setImmediate(() => live(peer));
    },
  });
}

test("replays as an observer, shows what happens, and ends when the session is closed", async () => {
  await using place = new Installation();
  await using daemon = await tailing(place, (peer) => {
    peer.update("s1", { sessionUpdate: "tool_call", toolCallId: "t", title: "ls\u202e", kind: "execute" });
    const event = (type: string, more: object) => peer.notify("_acp-master/event", { type, ...more });
    event("approval_requested", { approvalId: "p1", sessionId: "s1", toolCallId: "t" });
    event("approval_resolved", {
      approvalId: "p1",
      sessionId: "s1",
      outcome: { result: "selected" },
      by: { kind: "client", name: "Zed" },
    });
    event("session_changed", { session: { ...row, sessionId: "other", state: "closed" } });
    peer.update("s1", says("done"));
    event("session_changed", { session: { ...row, state: "closed" } });
  });
  const { code, stdout } = await place.run(["tail", "s1"]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      "> do it",
      "ok \\u{1B}[2J",
      "○ ls\\u{202E} [execute] pending",
      "? waits for an answer: acp-master approve p1",
      "  selected, by Zed",
      "done",
      "The session is closed.",
      "",
    ].join("\n"),
  );
  const [, introduction] = daemon.heard[0] ?? [];
  expect(introduction._meta["acp-master"]).toEqual({ agent: null, version: "0.1.0", role: "observer", events: true });
  expect(daemon.heard.at(-1)).toEqual(["session/load", { sessionId: "s1", cwd: "/w", mcpServers: [] }]);
});

test("--no-follow ends after the history", async () => {
  await using place = new Installation();
  await using _daemon = await tailing(place);
  expect(await place.run(["tail", "s1", "--no-follow"])).toMatchObject({ code: 0, stdout: "> do it\nok \\u{1B}[2J\n" });
});

test("an interrupt is exit code 130, a lost daemon 1, an unknown session 4", async () => {
  await using place = new Installation();
  await using daemon = await tailing(place);
  const interrupted = await place.start(["tail", "s1"]);
  await interrupted.printed("stdout", /ok/);
  interrupted.child.kill("SIGINT");
  expect(await interrupted.ended).toMatchObject({ code: 130, signal: null });
  const lost = await place.start(["tail", "s1"]);
  await lost.printed("stdout", /ok/);
  daemon.peers.at(-1)?.hangUp();
  expect(await lost.ended).toMatchObject({ code: 1, stderr: expect.stringContaining("same command again") });
  expect((await place.run(["tail", "s2"])).code).toBe(4);
});
