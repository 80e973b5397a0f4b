// A session is its agent and that agent's id; clients see one unambiguous id, everywhere.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench, chunk } from "../harness/bench.ts";
import type { Loose } from "../harness/lines.ts";

const able = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {} },
  subagents: {},
};
const twin = { sessionIds: ["same", "same-2"] };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 8, named: { first: twin, second: twin, third: twin } });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });

describe("sessions of two agents with the same id", () => {
  it("have different ids for clients, and the second agent only ever sees its own", async () => {
    const one = bench.named("first");
    const two = bench.named("second", {
      initialize: announcing({ sessionCapabilities: { delete: {}, fork: {} } }),
      "session/prompt": false,
      "session/fork": { sessionId: "same-fork" },
      "session/list": { sessions: [{ sessionId: "same", cwd: "/" }, { sessionId: "same-old" }] },
    });
    const a = await one.client({ capabilities: able });
    const b = await two.client({ capabilities: able });
    expect((await a.newSession()).sessionId).toBe("same");
    expect((await b.newSession()).sessionId).toBe("same~2");
    const process = await two.process();
    for (const method of ["fs/read_text_file", "terminal/create", "elicitation/create", "_x/ask"]) {
      b.answer(method, ({ sessionId }) => ({ sessionId, terminalId: "t" }));
    }

    const turn = b.prompt("same~2", "go");
    const prompt = await process.received("session/prompt");
    expect(prompt.message.params.sessionId).toBe("same");
    await process.update("same", chunk("text"));
    await process.update("same", { sessionUpdate: "current_mode_update", currentModeId: "m", sessionId: "same" });
    await process.notify("_x/told", { sessionId: "same", inner: { sessionId: "same" } });
    for (const method of ["fs/read_text_file", "terminal/create", "elicitation/create", "_x/ask"]) {
      const { result } = await process.request(method, { sessionId: "same", mode: "form" });
      expect(result.sessionId, method).toBe("same~2");
    }
    await b.notify("_x/note", { sessionId: "same~2", n: 1 });
    expect((await process.received("_x/note")).message.params).toEqual({ sessionId: "same", n: 1 });
    await b.notify("session/cancel", { sessionId: "same~2" });
    expect((await process.received("session/cancel")).message.params).toEqual({ sessionId: "same" });
    await process.answer(prompt, { stopReason: "cancelled" });
    await turn;
    expect(b.received("session/update").map((message) => message.params.sessionId)).toEqual(["same~2", "same~2"]);
    // Inside a payload an id is content.
    expect(b.updates()[1].sessionId).toBe("same");
    expect((await b.next("_x/told")).message.params).toEqual({ sessionId: "same~2", inner: { sessionId: "same" } });

    const others: [string, Loose][] = [
      ["session/set_mode", { modeId: "m" }],
      ["session/status", {}],
      ["_x/do", {}],
      ["session/fork", place()],
    ];
    for (const [method, params] of others) {
      void b.request(method, { sessionId: "same~2", ...params });
      expect((await process.received(method)).message.params).toEqual({ sessionId: "same", ...params });
    }
    await b.waitFor((message) => message.result?.sessionId === "same-fork");

    const { sessions } = await b.call("session/list", {});
    expect(sessions.map((row: Loose) => row.sessionId).toSorted()).toEqual(["same-fork", "same-old", "same~2"]);
    expect((await a.call("session/list", {})).sessions.map((row: Loose) => row.sessionId)).toEqual(["same"]);
    expect(a.received("session/update")).toEqual([]);

    // Who attaches later is told the same id, in the answer, the history and every open question.
    const asked = process.askPermission("same");
    const c = await two.client();
    expect((await c.call("session/load", { sessionId: "same~2", ...place() })).sessionId).toBeUndefined();
    expect(c.received("session/update").map((message) => message.params.sessionId)).toEqual(Array(4).fill("same~2"));
    const offer = await c.next("session/request_permission");
    expect(offer.message.params.sessionId).toBe("same~2");
    await c.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await asked).result.outcome.optionId).toBe("no");

    await c.call("session/close", { sessionId: "same~2" });
    await b.call("session/delete", { sessionId: "same~2" });
    expect((await process.received("session/delete")).message.params).toEqual({ sessionId: "same" });
  });

  it("are opened and deleted under the id that a list gave them", async () => {
    const one = bench.agent();
    const two = bench.agent({ initialize: announcing({ sessionCapabilities: { delete: {} } }) });
    const a = await one.client();
    const { sessionId } = await a.newSession();
    two.agent.setAuto("session/list", { sessions: [{ sessionId, cwd: "/" }] });
    const b = await two.client();
    await b.newSession();
    const listed = `${sessionId}~2`;
    const { sessions } = await b.call("session/list", {});
    expect(sessions.map((row: Loose) => row.sessionId)).toContain(listed);
    await b.call("session/load", { sessionId: listed, ...place() });
    const process = await two.process();
    expect((await process.received("session/load")).message.params.sessionId).toBe(sessionId);
    await process.say(sessionId, "own");
    await b.next((message) => message.params?.sessionId === listed);
    expect((await b.prompt(listed, "x")).result).toEqual({ stopReason: "end_turn" });
    const c = await two.client();
    await b.call("session/close", { sessionId: listed });
    await c.call("session/delete", { sessionId: listed });
    expect((await process.received("session/delete")).message.params.sessionId).toBe(sessionId);
  });

  it("keep the ids of the sessions below them apart", async () => {
    const one = bench.agent();
    const third = bench.named("third");
    const a = await one.client({ capabilities: able });
    await a.newSession();
    const b = await third.client({ capabilities: able });
    const { sessionId } = await b.newSession();
    expect(sessionId).toMatch(/^same~/);
    const process = await third.process();
    const taken = (await a.newSession()).sessionId;
    for (const child of [taken, "free-child"]) {
      await process.update("same", { sessionUpdate: "subagent_update", sessionId: child, title: "T" });
      await process.say(child, "from below");
      await process.update("same", {
        sessionUpdate: "session_message",
        senderSessionId: "same",
        recipientSessionId: child,
      });
      await process.notify("_x/below", { sessionId: child });
      b.answer("_x/ask", ({ sessionId: named }) => ({ named }));
      const { result } = await process.request("_x/ask", { sessionId: child });
      const seen = child === taken ? `${taken}~2` : child;
      expect(result).toEqual({ named: seen });
      expect((await b.next("_x/below")).message.params).toEqual({ sessionId: seen });
      const [announced, said, sent] = b.received("session/update").slice(-3);
      expect(announced?.params).toEqual({
        sessionId,
        update: { sessionUpdate: "subagent_update", sessionId: seen, title: "T" },
      });
      expect(said?.params.sessionId).toBe(seen);
      expect(sent?.params.update).toMatchObject({ senderSessionId: sessionId, recipientSessionId: seen });
    }
  });
});

describe("an id that an agent gives twice", () => {
  it("is refused while the first session runs, also in another process of the agent", async () => {
    const bay = bench.agent({ "session/new": { sessionId: "again" } });
    const a = await bay.client({ capabilities: able });
    const b = await bay.client();
    const c = await bay.client({ capabilities: able });
    await a.call("session/new", place());
    for (const client of [b, c]) {
      const { error } = await client.request("session/new", place());
      expect(error).toMatchObject({ code: -32603, message: expect.stringContaining(bay.name) });
    }
    // Only the process that does not run the first one is told to let it go.
    await (await bay.process(1)).received("session/close");
    expect((await bay.process(0)).count("session/close")).toBe(0);
    await (await bay.process(1)).say("again", "not yours");
    await bay.reached(b);
    expect(a.received("session/update")).toEqual([]);
    expect((await a.prompt("again", "x")).result).toEqual({ stopReason: "end_turn" });
  });

  it("is a new session when the first one went with its process", async () => {
    const bay = bench.agent({ "session/new": { sessionId: "reborn" } });
    const a = await bay.client({ events: true });
    await a.call("session/new", place());
    const process = await bay.process();
    await process.say("reborn", "first life");
    await a.next("session/update");
    await process.exit();
    await a.next((message) => message.params?.type === "agent_exited");
    expect(await a.call("session/new", place())).toEqual({ sessionId: "reborn" });
    expect((await a.prompt("reborn", "x")).result).toEqual({ stopReason: "end_turn" });
    const b = await bay.client();
    await b.call("session/load", { sessionId: "reborn", ...place() });
    expect(b.text("reborn")).toBe("");
  });
});
