// What the demo agent does on request, over stdio, with the official SDK's client.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReadTextFileRequest, WriteTextFileRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../test/harness/events.ts";
import { processGone } from "../../../test/harness/processes.ts";
import { StartedAgent } from "./started-agent.ts";

const allow = () => "allow";
const reject = () => "reject";

describe("the demo agent's commands", () => {
  it("echoes what is no command and says what it can do", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    expect((await agent.prompt(session, "hello you")).stopReason).toBe("end_turn");
    expect(agent.text).toMatch(/^You said: hello you\n/);
    expect(agent.text).toContain("/write PATH TEXT");
  });

  it("/stream numbers its chunks and fills them up", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    await agent.prompt(session, "/stream 3 10");
    expect(agent.text).toBe("1 ........2 ........3 ........");
  });

  it("/flood writes as many numbered lines as it was told, each once and in order", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    expect((await agent.prompt(session, "/flood 5000 300")).stopReason).toBe("end_turn");
    const chunks = agent.of("agent_message_chunk").map(({ content }) => (content.type === "text" ? content.text : ""));
    expect(chunks.every((text) => text.length === 300)).toBe(true);
    expect(chunks.map((text) => Number(text.slice(0, 10)))).toEqual(Array.from({ length: 5000 }, (_, i) => i + 1));
  });

  it("/together does its commands at once: a stream goes on while a question is open", async () => {
    let seen = 0;
    await using agent = new StartedAgent({
      answer: () =>
        eventually(() => (seen = agent.of("agent_message_chunk").length) === 500 && "allow", "all streamed"),
    });
    const session = await agent.newSession();
    expect((await agent.prompt(session, "/together /ask; /flood 500 20")).stopReason).toBe("end_turn");
    expect(seen).toBe(500);
    expect(agent.text).toMatch(/0000000500 x+1: selected allow\n$/);
  });

  it("/read shows a file of the disk", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    writeFileSync(join(agent.folder, "a.txt"), "content ü");
    await agent.prompt(session, "/read a.txt");
    expect(agent.text).toContain("content ü");
    expect(agent.of("tool_call_update").at(-1)?.status).toBe("completed");
    await agent.prompt(session, "/read missing.txt");
    expect(agent.of("tool_call_update").at(-1)?.status).toBe("failed");
  });

  it("/write asks with a diff, writes when allowed, and writes nothing when refused", async () => {
    const answers = ["allow", "reject"];
    await using agent = new StartedAgent({ answer: () => answers.shift() });
    const session = await agent.newSession();
    await agent.prompt(session, "/write new.txt two words");
    expect(readFileSync(join(agent.folder, "new.txt"), "utf8")).toBe("two words");
    expect(agent.questions[0]?.toolCall).toMatchObject({
      kind: "edit",
      content: [{ type: "diff", path: join(agent.folder, "new.txt"), newText: "two words" }],
    });
    await agent.prompt(session, "/write other.txt x");
    expect(existsSync(join(agent.folder, "other.txt"))).toBe(false);
    expect(agent.text).toContain("I did not write");
  });

  it("/write asks nothing in mode bold", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    await agent.prompt(session, "/mode bold");
    expect(agent.of("current_mode_update")).toMatchObject([{ currentModeId: "bold" }]);
    await agent.prompt(session, "/write b.txt x");
    expect(existsSync(join(agent.folder, "b.txt"))).toBe(true);
    expect(agent.questions).toHaveLength(0);
  });

  it("reads and writes through the client where it announces that", async () => {
    const written: WriteTextFileRequest[] = [];
    const read: ReadTextFileRequest[] = [];
    await using agent = new StartedAgent({
      answer: allow,
      capabilities: { fs: { readTextFile: true, writeTextFile: true } },
      extend: (app) => {
        app.onRequest("fs/write_text_file", ({ params }) => {
          written.push(params);
          return {};
        });
        app.onRequest("fs/read_text_file", ({ params }) => {
          read.push(params);
          return { content: "from the editor" };
        });
      },
    });
    const session = await agent.newSession();
    await agent.prompt(session, "/write w.txt x");
    await agent.prompt(session, "/read r.txt");
    expect(written).toMatchObject([{ path: join(agent.folder, "w.txt"), content: "x" }]);
    expect(existsSync(join(agent.folder, "w.txt"))).toBe(false);
    expect(read).toHaveLength(1);
    expect(agent.text).toContain("from the editor");
  });

  it("/run runs its own child when allowed, streams output, and tells the exit code", async () => {
    await using agent = new StartedAgent({ answer: allow });
    const session = await agent.newSession();
    await agent.prompt(session, "/run echo out; echo err >&2; exit 3");
    expect(agent.questions[0]?.toolCall).toMatchObject({
      kind: "execute",
      rawInput: { command: "echo out; echo err >&2; exit 3" },
    });
    expect(agent.text).toContain("out\n");
    expect(agent.text).toContain("err\n");
    expect(agent.text).toContain("code 3");
    expect(agent.of("tool_call_update").at(-1)?.status).toBe("failed");
  });

  it("/run runs nothing when refused, and does not ask again after an allow for the session", async () => {
    const answers = ["reject", "allow-always"];
    await using agent = new StartedAgent({ answer: () => answers.shift() });
    const session = await agent.newSession();
    await agent.prompt(session, "/run touch no");
    expect(existsSync(join(agent.folder, "no"))).toBe(false);
    await agent.prompt(session, "/run touch one");
    await agent.prompt(session, "/run touch two");
    expect(existsSync(join(agent.folder, "two"))).toBe(true);
    expect(agent.questions).toHaveLength(2);
  });

  it("/run uses the client's terminal where it announces one, and releases it", async () => {
    const calls: string[] = [];
    await using agent = new StartedAgent({
      answer: allow,
      capabilities: { terminal: true },
      extend: (app) => {
        app.onRequest("terminal/create", ({ params }) => {
          calls.push([params.command, ...(params.args ?? [])].join(" "));
          return { terminalId: "t1" };
        });
        app.onRequest("terminal/wait_for_exit", () => ({ exitCode: 0 }));
        app.onRequest("terminal/output", () => ({ output: "terminal text", truncated: false }));
        app.onRequest("terminal/release", () => void calls.push("release"));
      },
    });
    const session = await agent.newSession();
    await agent.prompt(session, "/run ls");
    expect(calls).toEqual(["sh -c ls", "release"]);
    expect(agent.text).toContain("terminal text");
  });

  it("a cancel ends a running command with its children", async () => {
    await using agent = new StartedAgent({ answer: allow });
    const session = await agent.newSession();
    const turn = agent.prompt(session, "/run sh -c 'echo pid=$$; sleep 600; true'; true");
    const pid = await eventually(() => {
      const text = JSON.stringify(agent.of("tool_call_update"));
      return /pid=(\d+)/.exec(text)?.[1];
    }, "the command says its pid");
    await agent.agent.notify("session/cancel", { sessionId: session });
    expect((await turn).stopReason).toBe("cancelled");
    await processGone(Number(pid));
  });

  it("its end takes a running command along", async () => {
    await using agent = new StartedAgent({ answer: allow });
    const session = await agent.newSession();
    const turn = agent.prompt(session, "/run echo pid=$$; sleep 600; true");
    turn.catch(() => {}); // the agent ends under it
    const pid = await eventually(
      () => /pid=(\d+)/.exec(JSON.stringify(agent.of("tool_call_update")))?.[1],
      "the command says its pid",
    );
    expect((await agent.finish()).code).toBe(0);
    await processGone(Number(pid));
  });

  it("/ask asks several at once and says each outcome", async () => {
    let waiting = 0;
    await using agent = new StartedAgent({
      answer: async () => {
        waiting += 1;
        const mine = waiting;
        await eventually(() => waiting === 3, "three questions are open at once");
        return mine === 2 ? "reject" : "allow";
      },
    });
    const session = await agent.newSession();
    await agent.prompt(session, "/ask 3");
    expect(agent.text).toContain("1: selected allow\n");
    expect(agent.text).toContain("2: selected reject\n");
    expect(agent.text).toContain("3: selected allow\n");
  });

  it("a cancel answers the prompt although the questions stay unanswered", async () => {
    await using agent = new StartedAgent({ answer: () => new Promise(() => {}) });
    const session = await agent.newSession();
    const turn = agent.prompt(session, "/ask 2");
    await eventually(() => agent.questions.length === 2, "two questions are open");
    await agent.agent.notify("session/cancel", { sessionId: session });
    expect((await turn).stopReason).toBe("cancelled");
  });

  it("/slow can be cancelled, and the session works on", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    const turn = agent.prompt(session, "/slow 60");
    await eventually(() => agent.text.includes("still working"), "it works");
    await agent.agent.notify("session/cancel", { sessionId: session });
    expect((await turn).stopReason).toBe("cancelled");
    expect((await agent.prompt(session, "/slow 0.05")).stopReason).toBe("end_turn");
  });

  it("/think, /plan and /tools show thoughts, a plan and tool calls", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    for (const command of ["/think", "/plan", "/tools"]) await agent.prompt(session, command);
    expect(agent.of("agent_thought_chunk").length).toBeGreaterThan(0);
    expect(
      agent
        .of("plan")
        .at(-1)
        ?.entries.every((entry) => entry.status === "completed"),
    ).toBe(true);
    const ids = new Set(agent.of("tool_call").map((call) => call.toolCallId));
    const ended = agent
      .of("tool_call_update")
      .filter((call) => call.status === "completed" || call.status === "failed");
    expect(new Set(ended.map((call) => call.toolCallId))).toEqual(ids);
  });

  it("/elicit shows a form where the client has forms, and says so where it has none", async () => {
    await using plain = new StartedAgent();
    await plain.prompt(await plain.newSession(), "/elicit");
    expect(plain.text).toContain("no forms");
    await using agent = new StartedAgent({
      capabilities: { elicitation: { form: {} } },
      extend: (app) => void app.onRequest("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } })),
    });
    await agent.prompt(await agent.newSession(), "/elicit");
    expect(agent.text).toContain('accept {"name":"Ada"}');
  });

  it("/fail answers with an error, and the session works on", async () => {
    await using agent = new StartedAgent();
    const session = await agent.newSession();
    await expect(agent.prompt(session, "/fail -32050")).rejects.toMatchObject({ code: -32050, data: { asked: true } });
    expect((await agent.prompt(session, "/help")).stopReason).toBe("end_turn");
  });

  it("/die ends the process by a code or by a signal, after saying so", async () => {
    await using coded = new StartedAgent();
    coded.prompt(await coded.newSession(), "/die 7").catch(() => {}); // nobody answers it any more
    expect(await coded.program.exited).toEqual({ code: 7, signal: null });
    await eventually(() => coded.text.includes("with 7"), "it says so");
    await using signalled = new StartedAgent();
    signalled.prompt(await signalled.newSession(), "/die SIGKILL").catch(() => {}); // as above
    expect(await signalled.program.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("a refused permission is no end of the turn", async () => {
    await using agent = new StartedAgent({ answer: reject });
    expect((await agent.prompt(await agent.newSession(), "/write x y")).stopReason).toBe("end_turn");
  });
});
