// Who may act, and which of several clients an agent's question goes to.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, type Bay } from "../harness/bench.ts";
import { isRequest, type Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {}, url: {} } };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 24 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });

/** Two clients of equal abilities; the first has made a session that the second has loaded. */
async function together(bay: Bay): Promise<{ first: RawClient; second: RawClient; sessionId: string }> {
  const [first, second] = [await bay.client({ capabilities: able }), await bay.client({ capabilities: able })];
  const { sessionId } = await first.newSession();
  await second.call("session/load", { sessionId, ...place() });
  return { first, second, sessionId };
}

const name = (client: RawClient, text: string): void => {
  for (const method of ["fs/read_text_file", "terminal/create", "terminal/output", "_x/ask", "elicitation/create"]) {
    client.answer(method, () => ({ by: text, terminalId: `term-${text}` }));
  }
};

describe("observers", () => {
  it("see what happens and can do nothing, and the agent sees nothing of them", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const looker = await bay.client({ role: "observer", capabilities: able });
    const { sessionId } = await a.newSession();
    expect(await looker.call("session/load", { sessionId, ...place() })).toEqual({});
    const process = await bay.process();
    const turn = a.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const before = process.lines.all.length;
    const acts: [string, Loose][] = [
      ["session/prompt", { prompt: [] }],
      ["session/set_mode", { modeId: "m" }],
      ["session/set_model", { modelId: "m" }],
      ["session/set_config_option", { configId: "c", value: "v" }],
      ["session/close", {}],
      ["session/delete", {}],
      ["session/fork", place()],
      ["_x/do", {}],
    ];
    for (const [method, params] of acts) {
      const { error } = await looker.request(method, { sessionId, ...params });
      expect(error, method).toMatchObject({ code: -32056, data: { reason: "observer" } });
    }
    for (const [method, params] of [
      ["session/new", place()],
      ["session/load", { sessionId: "unknown", ...place() }],
      ["authenticate", { methodId: "m" }],
      ["logout", {}],
      ["_x/do", {}],
      ["_acp-master/session/cancel", { sessionId }],
      ["_acp-master/session/close", { sessionId }],
      ["_acp-master/session/preset", { sessionId, preset: "ask" }],
      ["_acp-master/approval/answer", { approvalId: "x" }],
      ["_acp-master/stop", {}],
    ] as const) {
      const { error } = await looker.request(method, params);
      expect(["observer", "unknown_session"], method).toContain(error?.data.reason);
    }
    await looker.notify("session/cancel", { sessionId });
    await looker.notify("_x/told", { sessionId });
    await looker.notify("_x/told", {});
    await looker.call("_acp-master/status", {});
    await bay.reached(a);
    expect(process.lines.all.slice(before).map(({ message }) => message.method)).toEqual(["_bench/ping"]);

    const asked = process.askPermission(sessionId);
    const { error } = await process.request("fs/read_text_file", { sessionId, path: "/" });
    expect(error?.data.reason).toBe("no_client");
    await process.say(sessionId, "seen");
    await looker.next((message) => message.params?.update?.content?.text === "seen");
    expect(looker.lines.all.filter(({ message }) => isRequest(message))).toEqual([]);
    a.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "no" } }));
    await a.notify("session/cancel", { sessionId });
    expect((await asked).result.outcome).toEqual({ outcome: "cancelled" });
    await process.answer(prompt, { stopReason: "cancelled" });
    expect((await turn).result.stopReason).toBe("cancelled");
    expect((await looker.call("_acp-master/sessions", {})).sessions.length).toBeGreaterThan(0);
    expect((await looker.call("session/list", {})).sessions).toHaveLength(1);
  });
});

describe("the primary client", () => {
  it("is the first attached controller that announced the ability; when it leaves, the next one", async () => {
    const bay = bench.agent();
    const plain = await bay.client();
    const { sessionId } = await plain.newSession();
    const looker = await bay.client({ role: "observer", capabilities: able });
    const reader = await bay.client({ capabilities: { fs: { readTextFile: true } } });
    const full = await bay.client({ capabilities: able });
    for (const client of [looker, reader, full]) await client.call("session/load", { sessionId, ...place() });
    for (const [client, text] of [
      [plain, "plain"],
      [reader, "reader"],
      [full, "full"],
    ] as const) {
      name(client, text);
    }
    const process = await bay.process();
    const servedBy = async (method: string): Promise<unknown> => {
      const { result, error } = await process.request(method, { sessionId, mode: "form", path: "/", command: "c" });
      return result?.by ?? error?.data.reason;
    };
    expect(await servedBy("_x/ask")).toBe("plain");
    expect(await servedBy("fs/read_text_file")).toBe("reader");
    expect(await servedBy("terminal/create")).toBe("full");
    expect(await servedBy("elicitation/create")).toBe("full");
    await reader.call("session/close", { sessionId });
    expect(await servedBy("fs/read_text_file")).toBe("full");
    await reader.call("session/resume", { sessionId, ...place() });
    expect(await servedBy("fs/read_text_file")).toBe("full");
    await bench.leave(full);
    expect(await servedBy("fs/read_text_file")).toBe("reader");
    expect(await servedBy("terminal/create")).toBe("no_client");
    await bench.leave(plain);
    expect(await servedBy("_x/ask")).toBe("reader");
    reader.endInput();
    await reader.ended;
    expect(await servedBy("_x/ask")).toBe("no_client");
    expect(looker.lines.all.filter(({ message }) => isRequest(message))).toEqual([]);
  });

  it.each(["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "_x/ask"])(
    "is asked once for %s: when it goes with the question nobody else is asked",
    async (method) => {
      const bay = bench.agent();
      const { first, second, sessionId } = await together(bay);
      const process = await bay.process();
      const answered = process.request(method, { sessionId, mode: "form", path: "/", content: "", command: "c" });
      await first.next(method);
      await first.close();
      expect((await answered).error).toMatchObject({ code: -32058, data: { reason: "client_gone" } });
      await bay.reached(second);
      expect(second.received(method)).toEqual([]);
    },
  );

  it("that only waits for its answers is asked nothing more, and what it was asked fails", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const { first, second, sessionId } = await together(bay);
    name(second, "second");
    const process = await bay.process();
    const turn = first.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const open = process.request("fs/read_text_file", { sessionId, path: "/" });
    await first.next("fs/read_text_file");
    first.endInput();
    expect((await open).error?.data.reason).toBe("client_gone");
    expect((await process.request("fs/read_text_file", { sessionId, path: "/" })).result.by).toBe("second");
    const scoped = await process.request("elicitation/create", { requestId: prompt.message.id, mode: "form" });
    expect(scoped.error?.data.reason).toBe("no_client");
    await process.say(sessionId, "still told");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(first.text(sessionId)).toBe("still told");
    await first.ended;
  });
});

describe("a terminal", () => {
  it("stays with the client that made it, and goes with it", async () => {
    const bay = bench.agent();
    const { first, second, sessionId } = await together(bay);
    name(first, "1");
    name(second, "2");
    const process = await bay.process();
    const made = await process.request("terminal/create", { sessionId, command: "c" });
    expect(made.result.terminalId).toBe("term-1");
    await first.call("session/close", { sessionId });
    const other = await process.request("terminal/create", { sessionId, command: "c" });
    expect(other.result.terminalId).toBe("term-2");
    const outputOf = async (terminalId: string): Promise<unknown> => {
      const { result, error } = await process.request("terminal/output", { sessionId, terminalId });
      return result?.by ?? error?.data.reason;
    };
    expect(await outputOf("term-2")).toBe("2");
    // Its maker has left the session.
    expect(await outputOf("term-1")).toBe("client_gone");
    await first.call("session/resume", { sessionId, ...place() });
    expect(await outputOf("term-1")).toBe("1");
    expect(await outputOf("term-2")).toBe("2");
    await bench.leave(first);
    for (const method of ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]) {
      const { error } = await process.request(method, { sessionId, terminalId: "term-1" });
      expect(error, method).toMatchObject({ code: -32058, data: { reason: "client_gone" } });
    }
    expect(second.received("terminal/output").map((one) => one.params.terminalId)).toEqual(["term-2", "term-2"]);
  });

  it("may run as long as it likes, and its name is free when it is released", async () => {
    const bay = bench.agent();
    const { first, second, sessionId } = await together(bay);
    for (const client of [first, second]) {
      client.answer("terminal/create", () => ({ terminalId: "t" }));
      client.answer("terminal/release", () => ({}));
    }
    second.answer("terminal/output", () => ({ output: "second" }));
    const process = await bay.process();
    await process.request("terminal/create", { sessionId, command: "c" });
    const waiting = process.request("terminal/wait_for_exit", { sessionId, terminalId: "t" });
    const wait = await first.next("terminal/wait_for_exit");
    await first.send({ jsonrpc: "2.0", id: wait.message.id, result: { exitCode: 3 } });
    expect((await waiting).result).toEqual({ exitCode: 3 });
    await process.request("terminal/release", { sessionId, terminalId: "t" });
    await bench.leave(first);
    await process.request("terminal/create", { sessionId, command: "c" });
    expect((await process.request("terminal/output", { sessionId, terminalId: "t" })).result.output).toBe("second");
  });
});

describe("an elicitation for a request", () => {
  it("goes to whoever sent the request, under the id that it gave it", async () => {
    const bay = bench.agent({ "session/prompt": false, authenticate: false, "session/new": false });
    const asker = await bay.client({ capabilities: able });
    const other = await bay.client({ capabilities: able });
    other.answer("elicitation/create", () => ({ action: "accept" }));
    const sent: [string, Loose, string | number][] = [
      ["authenticate", { methodId: "m" }, "sign-in"],
      ["session/new", place(), 0],
    ];
    for (const [method, params, id] of sent) {
      const answer = asker.request(method, params, id);
      const process = await bay.process();
      const request = await process.received(method);
      const asked = process.request("elicitation/create", {
        requestId: request.message.id,
        mode: "form",
        message: "m",
      });
      const question = await asker.next("elicitation/create");
      expect(question.message.params).toEqual({ requestId: id, mode: "form", message: "m" });
      await asker.send({ jsonrpc: "2.0", id: question.message.id, result: { action: "decline" } });
      expect((await asked).result).toEqual({ action: "decline" });
      await process.answer(request, method === "session/new" ? { sessionId: "scoped" } : {});
      await answer;
    }
    await other.call("session/load", { sessionId: "scoped", ...place() });
    const process = await bay.process();
    const turn = asker.request("session/prompt", { sessionId: "scoped", prompt: [] }, "turn");
    const prompt = await process.received("session/prompt");
    const asked = process.request("elicitation/create", { requestId: prompt.message.id, mode: "form" });
    const question = await asker.next("elicitation/create");
    expect(question.message.params.requestId).toBe("turn");
    await asker.send({ jsonrpc: "2.0", id: question.message.id, result: { action: "cancel" } });
    expect((await asked).result).toEqual({ action: "cancel" });
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    for (const requestId of [prompt.message.id, 999, "1", null]) {
      const { error } = await process.request("elicitation/create", { requestId, mode: "form" });
      expect(error, JSON.stringify(requestId)).toMatchObject({ code: -32601, data: { reason: "no_client" } });
    }
    expect(other.received("elicitation/create")).toEqual([]);
  });

  it("is told complete to the client that was asked, once, and to nobody else", async () => {
    const bay = bench.agent();
    const { first, second, sessionId } = await together(bay);
    first.answer("elicitation/create", () => ({ action: "accept" }));
    const process = await bay.process();
    await process.request("elicitation/create", { sessionId, mode: "url", url: "u", elicitationId: "e1" });
    await process.notify("elicitation/complete", { elicitationId: "other" });
    await process.notify("elicitation/complete", { elicitationId: "e1", more: 1 });
    await process.notify("elicitation/complete", { elicitationId: "e1" });
    await process.say(sessionId, "end");
    await first.next("session/update");
    expect(first.received("elicitation/complete").map((one) => one.params)).toEqual([{ elicitationId: "e1", more: 1 }]);
    await second.next("session/update");
    expect(second.received("elicitation/complete")).toEqual([]);
  });

  it("that is never said to be complete is remembered for a while, the latest longest", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: { elicitation: { url: {} } } });
    const { sessionId } = await client.newSession();
    client.answer("elicitation/create", () => ({ action: "accept" }));
    const process = await bay.process();
    const ids = Array.from({ length: 1025 }, (_, n) => `e${n}`);
    const asked = ids.map((elicitationId) => ({
      jsonrpc: "2.0",
      id: elicitationId,
      method: "elicitation/create",
      params: { sessionId, mode: "url", url: "https://example.test", message: "m", elicitationId },
    }));
    // In two parts: so many may not wait at once.
    for (const part of [asked.slice(0, 600), asked.slice(600)]) {
      await process.sendRaw(part.map((message) => `${JSON.stringify(message)}\n`).join(""));
      await process.lines.waitFor(({ message }) => message.id === part.at(-1)?.id && message.result !== undefined);
    }
    for (const elicitationId of ["e0", "e1", "e1024"]) await process.notify("elicitation/complete", { elicitationId });
    await client.waitFor(({ method, params }) => method === "elicitation/complete" && params.elicitationId === "e1024");
    expect(client.received("elicitation/complete").map(({ params }) => params.elicitationId)).toEqual(["e1", "e1024"]);
  });
});

describe("what names no session", () => {
  it("goes to the only client of the process, and is refused when there are several", async () => {
    const bay = bench.agent();
    const a = await bay.client({ capabilities: able });
    name(a, "a");
    await a.newSession();
    const process = await bay.process();
    expect((await process.request("_x/ask", {})).result.by).toBe("a");
    expect((await process.request("_x/ask", { sessionId: 7 })).error?.data.reason).toBe("unknown_session");
    const b = await bay.client({ capabilities: able });
    name(b, "b");
    await b.newSession();
    expect((await process.request("_x/ask", {})).error?.code).toBe(-32601);
    await process.notify("_x/hello", { n: 1 });
    await process.notify("auth/status_update", { state: "x" });
    for (const client of [a, b]) {
      expect((await client.next("_x/hello")).message.params).toEqual({ n: 1 });
      await client.next("auth/status_update");
    }
    await bench.leave(a);
    expect((await process.request("_x/ask", {})).result.by).toBe("b");
  });

  it("never reaches a client that uses no process, or another agent's", async () => {
    const [one, two] = [bench.agent(), bench.agent()];
    const a = await one.client();
    const b = await two.client();
    const fresh = await one.client();
    await a.newSession();
    await b.newSession();
    const process = await one.process();
    await process.notify("_x/hello", {});
    await a.next("_x/hello");
    await a.notify("_x/note", { from: "a" });
    await process.received("_x/note");
    for (const client of [b, fresh]) await client.call("_acp-master/status", {});
    expect([...b.received("_x/hello"), ...fresh.received("_x/hello")]).toEqual([]);
    await one.reached(a);
    expect((await two.process()).count("_x/note")).toBe(0);
  });

  it("goes from a client to its own agent, also when it joined another agent's session", async () => {
    const [one, two] = [bench.agent(), bench.agent()];
    const a = await one.client();
    const { sessionId } = await a.newSession();
    const b = await two.client();
    await b.newSession();
    await b.call("session/load", { sessionId, ...place() });
    await b.notify("_x/note", { from: "b" });
    await (await two.process()).received("_x/note");
    await two.reached(b);
    await one.reached(a);
    expect((await one.process()).count("_x/note")).toBe(0);
    expect((await two.process()).count("_bench/ping")).toBe(1);
  });
});
