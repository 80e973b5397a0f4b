// The session methods of the demo agent, over stdio, with the official SDK's client.
import type { NewSessionRequest } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../test/harness/events.ts";
import { StartedAgent } from "./started-agent.ts";

const place = (agent: StartedAgent): NewSessionRequest => ({
  cwd: agent.folder,
  mcpServers: [],
});

describe("the demo agent's sessions", () => {
  it("initialize says version 1 and what it can do", async () => {
    await using agent = new StartedAgent();
    const { protocolVersion, agentCapabilities, authMethods } = await agent.initialize();
    expect(protocolVersion).toBe(1);
    expect(agentCapabilities?.loadSession).toBe(true);
    expect(authMethods).toEqual([]);
    expect(await agent.agent.request("authenticate", { methodId: "none" })).toEqual({});
  });

  it("a new session has two modes, one option, and announces its commands", async () => {
    await using agent = new StartedAgent();
    await agent.initialize();
    const session = await agent.agent.request("session/new", place(agent));
    expect(session.modes?.availableModes.map((mode) => mode.id)).toEqual(["careful", "bold"]);
    expect(session.configOptions?.map((option) => option.id)).toEqual(["style"]);
    await eventually(() => agent.of("available_commands_update").length > 0, "commands come");
    expect(agent.of("available_commands_update")[0]?.availableCommands.map((one) => one.name)).toContain("write");
  });

  it("refuses a relative cwd and an unknown session with their codes", async () => {
    await using agent = new StartedAgent();
    await agent.initialize();
    await expect(agent.agent.request("session/new", { cwd: "here", mcpServers: [] })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(agent.prompt("nobody", "hi")).rejects.toMatchObject({ code: -32002 });
  });

  it("sets a mode and an option, and refuses values that do not exist", async () => {
    await using agent = new StartedAgent();
    const sessionId = await agent.newSession();
    expect(await agent.agent.request("session/set_mode", { sessionId, modeId: "bold" })).toEqual({});
    const { configOptions } = await agent.agent.request("session/set_config_option", {
      sessionId,
      configId: "style",
      value: "brief",
    });
    expect(configOptions[0]).toMatchObject({ id: "style", currentValue: "brief" });
    await expect(agent.agent.request("session/set_mode", { sessionId, modeId: "x" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("loads a session in another process, with its history, and lists, resumes, forks, closes and deletes it", async () => {
    await using agent = new StartedAgent();
    const sessionId = await agent.newSession();
    await agent.prompt(sessionId, "/stream 3");
    await agent.finish();

    await using second = new StartedAgent({ folder: agent.folder });
    await second.initialize();
    const { sessions } = await second.agent.request("session/list", { cwd: agent.folder });
    expect(sessions).toMatchObject([{ sessionId, cwd: agent.folder, title: "/stream 3" }]);
    await second.agent.request("session/load", { sessionId, ...place(agent) });
    expect(second.of("user_message_chunk")).toMatchObject([{ content: { text: "/stream 3" } }]);
    expect(second.text).toBe("1 2 3 ");

    const fork = await second.agent.request<{ sessionId: string }>("session/fork", { sessionId, cwd: agent.folder });
    expect(fork.sessionId).not.toBe(sessionId);
    await second.agent.request("session/close", { sessionId });
    await expect(second.prompt(sessionId, "hi")).rejects.toMatchObject({ code: -32002 });
    await second.agent.request("session/resume", { sessionId, ...place(agent) });
    expect((await second.prompt(sessionId, "hi")).stopReason).toBe("end_turn");
    await second.agent.request("session/delete", { sessionId });
    expect(second.savedSessions).toBe(1);
    await expect(second.agent.request("session/load", { sessionId, ...place(agent) })).rejects.toMatchObject({
      code: -32002,
    });
  });

  it("resumes in another process a session that never had a turn", async () => {
    await using agent = new StartedAgent();
    const sessionId = await agent.newSession();
    await agent.finish();
    await using second = new StartedAgent({ folder: agent.folder });
    await second.initialize();
    await second.agent.request("session/resume", { sessionId, ...place(agent) });
    expect((await second.prompt(sessionId, "/stream 1")).stopReason).toBe("end_turn");
  });

  it("runs two sessions at once and refuses a second turn in one", async () => {
    await using agent = new StartedAgent();
    const one = await agent.newSession();
    const two = await agent.newSession();
    const slow = agent.prompt(one, "/slow 20");
    await eventually(() => agent.text.includes("still working"), "the first turn runs");
    expect((await agent.prompt(two, "/stream 2")).stopReason).toBe("end_turn");
    await expect(agent.prompt(one, "/stream 2")).rejects.toMatchObject({ code: -32600 });
    await agent.agent.notify("session/cancel", { sessionId: one });
    expect((await slow).stopReason).toBe("cancelled");
  });
});
