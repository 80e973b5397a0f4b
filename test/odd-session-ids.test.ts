// Session ids are the agent's: whatever they look like, none of them is ever a path, and each names one session.
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import type { Loose } from "./harness/lines.ts";
import { type Master, startMaster } from "./harness/master.ts";
import { fakeAgent } from "./harness/scripted-agent.ts";

const config = { defaultAgent: "fake", helper: { use: "ask", isolation: "shared" } };

const ids = [
  "../../etc/passwd",
  "/etc/passwd",
  "../..",
  "..",
  ".",
  "",
  "a/../b",
  String.raw`C:\..\..\x`,
  "\0",
  "a\0b",
  "\u001b[2Jx\u202e",
  "-rf",
  "~2",
  "é\ud800",
  "x".repeat(4096),
];
/** Of no use in a list of hundreds. */
const tooLong = "x".repeat(3_000_000);

function unknown(): never {
  throw Object.assign(new Error("no such session"), { code: -32002 });
}

/** All files below the test's folder, but for those that belong to a session in its right place. */
function filesOutside(master: Master): string[] {
  const session = /^master\/state\/sessions\/[0-9a-f]{32}(\/(session\.json|(journal|index)\.ndjson))?$/;
  return readdirSync(master.folder, { recursive: true, withFileTypes: true })
    .map((entry) => relative(master.folder, join(entry.parentPath, entry.name)))
    .filter((path) => !session.test(path) && !path.startsWith("master/run/"))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

describe("a session id", () => {
  it("of any kind names one session, live, after a restart and in lists, and is no path", async () => {
    await using agent = fakeAgent({
      sessionIds: [...ids, tooLong],
      auto: {
        "session/prompt": async ({ sessionId }: Loose, process: Loose) => {
          await process.say(sessionId, `said in ${ids.indexOf(sessionId)}`);
          return { stopReason: "end_turn" };
        },
      },
    });
    await using master = await startMaster({ agents: { fake: agent }, config });
    const client = await master.client();
    await client.initialize();
    const given: string[] = [];
    await client.newSession();
    const before = filesOutside(master);
    for (let n = 1; n < ids.length; n++) given.push((await client.newSession()).sessionId);
    expect(given).toEqual(ids.slice(1));
    const refused = await client.request("session/new", { cwd: master.work, mcpServers: [] });
    expect(refused.error?.message).toContain("gave the new session an id of more than 4096 characters");
    for (const id of ids) expect((await client.prompt(id, "go")).result).toEqual({ stopReason: "end_turn" });
    // What clients saw is written a turn of the daemon's loop later: each answer comes in one of its own.
    for (let n = 0; n < 3; n++) await client.call("_acp-master/status", {});
    await master.kill9();
    await master.serve();
    const next = await master.client();
    await next.initialize();
    const { sessions } = await next.call("_acp-master/sessions", {});
    expect(new Set(sessions.map(({ sessionId }: Loose) => sessionId))).toEqual(new Set(ids));
    for (const [n, sessionId] of ids.entries()) {
      await next.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
      expect(next.text(sessionId)).toBe(`said in ${n}`);
    }
    const listed = await master.cli(["sessions"]);
    expect(listed.code).toBe(0);
    for (const hidden of ["\0", "\u001b", "\u202e"]) expect(listed.stdout).not.toContain(hidden);
    expect(filesOutside(master)).toEqual(before);
  });

  it("that nobody knows is an error whatever it looks like, and makes and reads nothing", async () => {
    await using agent = fakeAgent({
      auto: { "session/load": unknown, "session/resume": unknown, "session/delete": unknown },
    });
    await using master = await startMaster({ agents: { fake: agent }, config });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const before = filesOutside(master);
    for (const sessionId of [...ids, tooLong]) {
      const params = { sessionId, cwd: master.work, mcpServers: [] };
      for (const method of ["session/load", "session/resume", "session/prompt", "session/delete"]) {
        const { error } = await client.request(method, { ...params, prompt: [] });
        expect(error?.code, `${method} ${sessionId.slice(0, 20)}`).toBeLessThan(0);
      }
      if (!/^(\.\.|\/|-)/.test(sessionId)) continue;
      const tail = await master.cli(["tail", "--", sessionId]);
      expect(tail.code).not.toBe(0);
    }
    expect(filesOutside(master)).toEqual(before);
    expect(readdirSync(join(master.home, "state", "sessions"))).toHaveLength(1);
  });
});
