// The master's side against real Helper processes, well and badly behaved.
import { describe, expect, test, vi } from "vitest";
import { facts, HelperBench, permission } from "./helper-bench.ts";

const selected = { ok: true, verdict: { outcome: "selected", optionId: "yes" } };

const call = (title: string) =>
  Buffer.from(`{"sessionId":"out-s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"${title}"}}`);

describe("decisions", () => {
  test("a Helper is started by the first use and its choice is handed on", async () => {
    await using bench = new HelperBench("select");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual(selected);
    expect(bench.runs).toBe(1);
  });

  test("`ask` passes the question on to people", async () => {
    await using bench = new HelperBench("ask");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: true, verdict: { outcome: "ask" } });
  });

  test("a session nobody announced has no Helper", async () => {
    await using bench = new HelperBench("select");
    expect(await bench.decide("nobody")).toEqual({ ok: false, fault: "no_helper" });
  });

  test.each([
    ["throw", "error"],
    ["wrong-shape", "wrong_shape"],
    ["null", "wrong_shape"],
  ])("an answer by %s is a fault of kind %s, logged without its text", async (mode, fault) => {
    await using bench = new HelperBench(mode);
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault });
    expect(JSON.stringify(bench.log)).not.toContain("CANARY");
    expect((await bench.logged("helper.fault")).fields).toMatchObject({
      session: "s1",
      kind: fault,
      approvalId: "a-1",
    });
  });

  test("a Helper's error code is kept", async () => {
    await using bench = new HelperBench("throw");
    bench.helpers.ensure(facts());
    await bench.decide("s1");
    expect((await bench.logged("helper.fault")).fields["code"]).toBe(-32007);
  });

  test("a missed deadline is a fault and the Helper is told that the answer no longer matters", async () => {
    await using bench = new HelperBench("hang", { terms: { decideSeconds: 0.2 } });
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault: "deadline" });
    await bench.helpers[Symbol.asyncDispose]();
    expect(bench.received.toString()).toMatch(/"method":"\$\/cancelRequest","params":\{"id":\d+\}/);
  });

  test("a cancelled question is never answered", async () => {
    await using bench = new HelperBench("hang");
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    let answers = 0;
    bench.helpers.decide("s1", "a-1", permission("s1"), () => answers++).cancel();
    await bench.helpers[Symbol.asyncDispose]();
    expect(answers).toBe(0);
  });

  test("the first of two answers counts", async () => {
    await using bench = new HelperBench("twice");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: true, verdict: { outcome: "cancelled" } });
    expect((await bench.logged("helper.message_dropped")).fields["kind"]).toBe("unknown_id");
  });

  test("a request from the Helper is refused and disturbs nothing", async () => {
    await using bench = new HelperBench("request");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual(selected);
    await bench.helpers[Symbol.asyncDispose]();
    expect(bench.received.toString()).toContain('"id":"mine","error":{"code":-32601');
  });

  test("a body that is not JSON is answered as such and the link goes on", async () => {
    await using bench = new HelperBench("not-json");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual(selected);
    await bench.helpers[Symbol.asyncDispose]();
    expect(bench.received.toString()).toContain('"id":null,"error":{"code":-32700');
    expect(JSON.stringify(bench.log)).not.toContain("CANARY");
  });

  test("a flood of log lines is counted and does not swallow the answer", async () => {
    await using bench = new HelperBench("flood");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual(selected);
    expect(bench.log.filter((line) => line.event === "helper.log").length).toBeLessThan(300);
    expect(bench.log.some((line) => line.event === "helper.flood")).toBe(true);
  });
});

describe("bytes", () => {
  test("params reach the Helper byte for byte", async () => {
    await using bench = new HelperBench("select");
    bench.helpers.ensure(facts());
    const extra = ',"x":[9007199254740993, 1.0,-0, "\\u00e9é" ],\t"y" : {"a":1,"a":2}';
    await bench.decide("s1", "a-1", extra);
    expect(bench.received.includes(permission("s1", extra))).toBe(true);
  });

  test("content that a Helper appends comes back byte for byte, on one line", async () => {
    await using bench = new HelperBench("append");
    bench.helpers.ensure(facts());
    const append = await new Promise<Buffer | undefined>((resolve) => bench.helpers.turnStart("s1", "t1", resolve));
    expect(append?.toString()).toBe(
      '[ {"type":"text",   "text":"say \\"[}\\" \\u00e9 é", "n": 9007199254740993, "f": 1.0, "z": -0} ]',
    );
  });
});

describe("deaths", () => {
  test("a Helper that dies is started again and asked once more", async () => {
    await using bench = new HelperBench("die-once");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual(selected);
    expect(bench.runs).toBe(2);
    expect(bench.reasks).toEqual([]);
  });

  test("two deaths in a minute make it unavailable, and later questions fail at once", async () => {
    await using bench = new HelperBench("die");
    bench.helpers.ensure(facts());
    expect((await bench.decide("s1")).ok).toBe(false);
    expect(bench.runs).toBe(2);
    expect(await bench.decide("s1", "a-2")).toEqual({ ok: false, fault: "unavailable" });
    expect(bench.helpers.status().sessions[0]).toMatchObject({ state: "unavailable" });
    expect(bench.runs).toBe(2);
  });

  test("a change of the configuration ends `unavailable`", async () => {
    await using bench = new HelperBench("die");
    bench.helpers.ensure(facts());
    await bench.decide("s1");
    bench.spec = bench.raw("select");
    bench.helpers.respec();
    expect(await bench.decide("s1", "a-2")).toEqual(selected);
  });

  test.each([
    ["garbage", "header_malformed"],
    ["negative", "length_malformed"],
  ])("%s on its output ends the link as %s, without a word of it in the log", async (mode, cause) => {
    await using bench = new HelperBench(mode);
    bench.helpers.ensure(facts());
    expect((await bench.decide("s1")).ok).toBe(false);
    expect((await bench.logged("helper.over")).fields["cause"]).toBe(cause);
    expect(JSON.stringify(bench.log)).not.toContain("CANARY");
  });

  test("a Helper that speaks version 2 is not used, and the log names both versions", async () => {
    await using bench = new HelperBench("version-2");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault: "unavailable" });
    expect((await bench.logged("helper.version_mismatch")).fields).toMatchObject({ spoken: 1, offered: 2 });
    expect(bench.runs).toBe(1);
  });

  test("a Helper that does not answer its handshake is a failed start", async () => {
    await using bench = new HelperBench("silent-start", { deadlines: { startMs: 300 } });
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault: "unavailable" });
    expect((await bench.logged("helper.over")).fields["cause"]).toBe("start_deadline");
  });

  test("a program that does not exist is a failed start", async () => {
    await using bench = new HelperBench("select");
    bench.spec = { ...bench.spec, argv: ["/nowhere/helper"] };
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault: "unavailable" });
  });

  test("a Helper that reads nothing is ended", async () => {
    await using bench = new HelperBench("deaf", { deadlines: { stallMs: 300, sessionStartMs: 100, killMs: 500 } });
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    expect((await bench.decide("s1", "a-1", `,"x":"${"x".repeat(500_000)}"`)).ok).toBe(false);
    expect((await bench.logged("helper.over")).fields["cause"]).toBe("stalled");
  });

  test("a Helper that gives a session up is not asked again", async () => {
    await using bench = new HelperBench("give-up");
    bench.helpers.ensure(facts());
    expect(await bench.decide("s1")).toEqual({ ok: false, fault: "unavailable" });
    expect(JSON.stringify(bench.log)).not.toContain("CANARY");
    expect(bench.helpers.status().sessions[0]?.state).toBe("unavailable");
  });

  test("no process is left when the master is done", async () => {
    const bench = new HelperBench("hang");
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    expect(bench.groups.size).toBe(1);
    const [pid = 0] = bench.groups;
    await bench[Symbol.asyncDispose]();
    expect(() => process.kill(pid, 0)).toThrow();
    expect(bench.groups.size).toBe(0);
  });
});

describe("hooks", () => {
  test("verdicts on tool calls come back in order, and `hide` is final", async () => {
    await using bench = new HelperBench("hooks");
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    expect(bench.helpers.hooks("s1")).toEqual({ turn: true, toolCall: true, toolSeen: true });
    const verdicts: unknown[] = [];
    await new Promise<void>((resolve) => {
      bench.helpers.toolCall("s1", call("show me"), (...verdict) => verdicts.push(verdict));
      bench.helpers.toolCall("s1", call("hide me"), (...verdict) => {
        verdicts.push(verdict);
        resolve();
      });
    });
    expect(verdicts).toEqual([
      ["pass", true],
      ["hide", true],
    ]);
  });

  test("a missed verdict reduces the frame, a missed turn start sends the prompt as it is", async () => {
    await using bench = new HelperBench("slow-hooks", { deadlines: { hookMs: 200 } });
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    const verdict = await new Promise((resolve) => bench.helpers.toolCall("s1", call("x"), (...v) => resolve(v)));
    expect(verdict).toEqual(["reduced", false]);
    expect(await new Promise((resolve) => bench.helpers.turnStart("s1", "t1", resolve))).toBe(undefined);
    expect(bench.helpers.status().sessions[0]?.faults["deadline"]).toBe(2);
  });

  test("without hooks nothing waits", async () => {
    await using bench = new HelperBench("select");
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    let isDone = false;
    bench.helpers.turnStart("s1", "t1", () => (isDone = true));
    expect(isDone).toBe(true);
    expect(bench.helpers.toolCall("s1", call("x"), () => {})).toBe(false);
  });

  test("what was announced while the Helper starts is told before the question", async () => {
    await using bench = new HelperBench("hooks");
    bench.helpers.ensure(facts());
    expect(bench.helpers.hooks("s1").toolSeen).toBe(true);
    bench.helpers.toolSeen("s1", call("announced"));
    await bench.decide("s1");
    const text = bench.received.toString();
    expect(text.indexOf("announced")).toBeGreaterThan(0);
    expect(text.indexOf("announced")).toBeLessThan(text.indexOf("session/request_permission"));
  });
});

describe("processes", () => {
  test("fifty sessions share one process and each gets its own answer", async () => {
    await using bench = new HelperBench("select", { terms: { isolation: "shared" } });
    const sessions = Array.from({ length: 50 }, (_, n) => `s${n}`);
    for (const session of sessions) bench.helpers.ensure(facts(session));
    const answers = await Promise.all(
      sessions.flatMap((session) => [1, 2, 3, 4].map((n) => bench.decide(session, `${session}-${n}`))),
    );
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(bench.runs).toBe(1);
  });

  test("another configured Helper takes over: open questions go to it, the old answer is nobody's", async () => {
    await using bench = new HelperBench("hang");
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    const answer = bench.decide("s1");
    bench.spec = bench.raw("select");
    bench.helpers.respec();
    expect(await answer).toEqual(selected);
    expect(bench.reasks).toEqual(["s1"]);
  });

  test("a configuration that names the same program swaps nothing", async () => {
    await using bench = new HelperBench("select");
    bench.helpers.ensure(facts());
    await bench.decide("s1");
    bench.spec = bench.raw("select", { decideSeconds: 5 });
    bench.helpers.respec();
    expect(await bench.decide("s1", "a-2")).toEqual(selected);
    expect(bench.runs).toBe(1);
    expect(bench.reasks).toEqual([]);
  });

  test("a Helper that nobody needs ends after its idle time and is started again by the next question", async () => {
    await using bench = new HelperBench("select", { terms: { idleSeconds: 0.1 } });
    bench.helpers.ensure(facts());
    await bench.decide("s1");
    bench.helpers.permissionResolved("s1", { approvalId: "a-1", toolCallId: "t1", outcome: {}, by: {} });
    expect((await bench.logged("helper.idle")).fields["session"]).toBe("s1");
    expect(await bench.decide("s1", "a-2")).toEqual(selected);
    expect(bench.runs).toBe(2);
  });

  test("its idle time begins anew with each turn, and another one holds as soon as it is configured", async () => {
    await using bench = new HelperBench("select", { terms: { idleSeconds: 0.2 } });
    bench.helpers.ensure(facts());
    await bench.helpers.presets("s1");
    let endedAt = 0;
    for (const turn of ["t1", "t2", "t3"]) {
      bench.helpers.turnStart("s1", turn, () => {});
      await new Promise((resolve) => setTimeout(resolve, 120));
      bench.helpers.turnEnd("s1", turn, "end_turn");
      endedAt = performance.now();
    }
    await bench.logged("helper.idle");
    expect(performance.now() - endedAt).toBeGreaterThanOrEqual(195);

    bench.spec = bench.raw("select", { idleSeconds: 3600 });
    bench.helpers.ensure(facts("s2"));
    await bench.helpers.presets("s2");
    bench.spec = bench.raw("select", { idleSeconds: 0.05 });
    bench.helpers.respec();
    await vi.waitFor(() => expect(bench.log.filter(({ event }) => event === "helper.idle").length).toBe(2));
  });

  test.each(["ticket", "turn", "client", "card"])("an open %s keeps the Helper running", async (what) => {
    await using bench = new HelperBench(what === "card" ? "busy" : "select", { terms: { idleSeconds: 0.05 } });
    bench.helpers.ensure(facts());
    if (what === "ticket") await bench.decide("s1");
    if (what === "turn") bench.helpers.turnStart("s1", "t1", () => {});
    if (what === "client") bench.helpers.pin("s1", true);
    await bench.helpers.presets("s1");
    bench.spec = bench.raw("select", { idleSeconds: 0.2 });
    bench.helpers.ensure(facts("s2")); // nobody needs this one: it ends, later than the first would have
    await bench.logged("helper.idle");
    expect(bench.log.filter((line) => line.event === "helper.idle").map((line) => line.fields["session"])).toEqual([
      "s2",
    ]);
  });

  test("at the limit the longest idle Helper makes room", async () => {
    await using bench = new HelperBench("select", { limit: 2 });
    for (const session of ["s1", "s2"]) {
      bench.helpers.ensure(facts(session));
      await bench.helpers.presets(session);
    }
    await bench.decide("s1");
    bench.helpers.ensure(facts("s3"));
    expect(await bench.decide("s3", "a-3")).toEqual(selected);
    const states = bench.helpers.status().sessions.map(({ session, state }) => [session, state]);
    expect(states).toEqual([
      ["s1", "ready"],
      ["s2", "off"],
      ["s3", "ready"],
    ]);
    expect(bench.helpers.status().running).toBeLessThanOrEqual(2);
  });

  test("at the limit with none idle a question waits no longer than an answer may take", async () => {
    await using bench = new HelperBench("select", { limit: 1, terms: { decideSeconds: 1 } });
    bench.helpers.ensure(facts("s1"));
    await bench.decide("s1");
    bench.helpers.ensure(facts("s2"));
    expect(await bench.decide("s2", "a-2")).toEqual({ ok: false, fault: "limit" });
    const later = bench.decide("s2", "a-3");
    bench.helpers.permissionResolved("s1", { approvalId: "a-1", toolCallId: "t1", outcome: {}, by: {} });
    expect(await later).toEqual(selected);
  });
});
