// approve, deny, preset, cancel, close: what reaches the daemon and how each ends.
import { describe, expect, test } from "vitest";
import { Installation } from "./command-line.ts";
import { type Answer, FixtureDaemon, Refusal } from "./fixture-daemon.ts";

const once = { optionId: "ok", name: "Allow", kind: "allow_once" };
const always = { optionId: "forever", name: "Always", kind: "allow_always\u202e" };
const no = { optionId: "no", name: "Deny", kind: "reject_once" };

/** Two sessions whose ids begin alike. */
const sessions: Record<string, Answer> = {
  "_acp-master/sessions": () => ({
    sessions: [
      { sessionId: "s1", state: "running" },
      { sessionId: "s1-other", state: "idle" },
    ],
  }),
};

async function answering(args: readonly string[], options: object[], receipt: Answer = () => ({ status: "accepted" })) {
  await using place = new Installation();
  const row = { approvalId: "p1", sessionId: "s1", agent: "demo", options, askedAt: 0 };
  await using daemon = await FixtureDaemon.start(place, {
    "_acp-master/approvals": () => ({ approvals: [row] }),
    "_acp-master/approval/answer": receipt,
  });
  const ended = await place.run(args);
  const sent = daemon.heard.filter(([method]) => method === "_acp-master/approval/answer").map(([, params]) => params);
  return { ...ended, sent };
}

describe("approve", () => {
  test("chooses the only allow_once", async () => {
    const { code, stdout, sent } = await answering(["approve", "p1"], [always, once, no]);
    expect([code, stdout]).toEqual([0, "Answered p1 with ok.\n"]);
    expect(sent).toEqual([{ approvalId: "p1", sessionId: "s1", outcome: { outcome: "selected", optionId: "ok" } }]);
  });

  test.each([
    ["an always only", [always, no]],
    ["two allow_once", [once, { ...once, optionId: "ok2" }]],
  ])("sends nothing for %s and lists the options", async (_what, options) => {
    const { code, stderr, sent } = await answering(["approve", "p1"], options);
    expect([code, sent]).toEqual([2, []]);
    expect(stderr).toContain("--option");
    expect(stderr).not.toContain("\u202e");
  });

  test("sends a named option, and none that is not offered", async () => {
    const named = await answering(["approve", "p1", "--option", "forever"], [always, once]);
    expect(named.sent).toMatchObject([{ outcome: { optionId: "forever" } }]);
    const wrong = await answering(["approve", "p1", "--option", "Forever"], [always, once]);
    expect([wrong.code, wrong.sent]).toEqual([2, []]);
  });

  test("what does not wait any more is exit code 4", async () => {
    expect((await answering(["approve", "other"], [once])).code).toBe(4);
    const late = await answering(["approve", "p1"], [once], () => ({ status: "not_pending" }));
    expect([late.code, late.stdout]).toEqual([4, ""]);
  });
});

describe("deny", () => {
  test.each([
    ["the only reject_once", [once, no], { outcome: "selected", optionId: "no" }],
    [
      "the only reject_always",
      [once, { optionId: "never", kind: "reject_always" }],
      { outcome: "selected", optionId: "never" },
    ],
    ["nothing where no reject is offered", [once, always], { outcome: "cancelled" }],
    ["nothing where a reject shares its id with an allow", [{ ...once, optionId: "no" }, no], { outcome: "cancelled" }],
  ])("takes %s", async (_what, options, outcome) => {
    const { code, sent } = await answering(["deny", "p1"], options);
    expect([code, sent]).toEqual([0, [{ approvalId: "p1", sessionId: "s1", outcome }]]);
  });
});

async function switching(args: readonly string[], answer: Answer = () => ({})) {
  await using place = new Installation();
  await using daemon = await FixtureDaemon.start(place, { ...sessions, "_acp-master/session/preset": answer });
  return { ...(await place.run(args)), sent: daemon.heard.at(-1)?.[1] };
}

describe("preset", () => {
  test("confirms only with --yes", async () => {
    expect((await switching(["preset", "s1", "allow-all"])).sent).toEqual({ sessionId: "s1", preset: "allow-all" });
    const confirmed = await switching(["preset", "s1", "allow-all", "--yes"]);
    expect(confirmed.sent).toEqual({ sessionId: "s1", preset: "allow-all", confirm: true });
    expect(confirmed.stdout).toBe("s1 now uses the preset allow-all.\n");
  });

  test("a refused switch says how to confirm it", async () => {
    const { code, stderr } = await switching(["preset", "s1", "allow-all"], () => {
      throw new Refusal(-32602, "This needs a confirmation: acp-master preset s1 allow-all --yes");
    });
    expect(code).toBe(1);
    expect(stderr).toBe("acp-master: This needs a confirmation: acp-master preset s1 allow-all --yes.\n");
  });
});

describe.each(["cancel", "close"])("%s", (command) => {
  test("names the session, and an unknown one is exit code 4", async () => {
    await using place = new Installation();
    await using daemon = await FixtureDaemon.start(place, {
      ...sessions,
      [`_acp-master/session/${command}`]: ({ sessionId }) => {
        if (sessionId !== "s1") throw new Refusal(-32053, `no session ${sessionId}`, { reason: "unknown_session" });
      },
    });
    expect((await place.run([command, "s1"])).code).toBe(0);
    expect(daemon.heard.at(-1)).toEqual([`_acp-master/session/${command}`, { sessionId: "s1" }]);
    const unknown = await place.run([command, "s2"]);
    expect(unknown.code).toBe(4);
    expect(unknown.stderr).toContain("acp-master sessions");
  });

  test("takes the beginning of an id where it is only one's", async () => {
    await using place = new Installation();
    await using daemon = await FixtureDaemon.start(place, {
      ...sessions,
      [`_acp-master/session/${command}`]: () => ({}),
    });
    const { code, stdout } = await place.run([command, "s1-o"]);
    expect(code).toBe(0);
    expect(stdout).toContain(command === "cancel" ? "s1-other had no turn to cancel" : "Closed s1-other");
    expect(daemon.heard.at(-1)).toEqual([`_acp-master/session/${command}`, { sessionId: "s1-other" }]);
  });
});
