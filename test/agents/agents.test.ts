// The same script for every real agent, once directly and once through `acp-master connect`: what works without the
// master must work with it. That it works without shows that the agent's settings and the model are right.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Line, Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { realAgents } from "./real-agents.ts";
import { Stage, type Route } from "./stage.ts";

const turnMs = 60_000;
const routes: readonly Route[] = ["directly", "through the master"];

const choose = (params: Loose, kind: string): object => {
  const option = params.options.find((one: Loose) => one.kind === kind);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
};

const answer = (client: RawClient, question: Line, result: object): Promise<void> =>
  client.send({ jsonrpc: "2.0", id: question.message.id, result });

const question = (client: RawClient): Promise<Line> => client.next("session/request_permission", turnMs);

describe.each(realAgents)("$name", (agent) => {
  describe.each(routes)("%s", (route) => {
    it("streams text", async () => {
      await using stage = await Stage.open(agent, route);
      const { client } = stage;
      client.answer("session/request_permission", (params) => choose(params, "allow_once"));
      const { protocolVersion } = await client.initialize();
      expect(protocolVersion).toBe(1);
      const { sessionId } = await client.newSession();
      const { result } = await client.prompt(sessionId, agent.talk(5), turnMs);
      expect(result.stopReason).toBe("end_turn");
      expect(client.text(sessionId)).toContain(agent.said(5));
    });

    it("does what a permission allows", async () => {
      await using stage = await Stage.open(agent, route);
      const { client } = stage;
      await client.initialize();
      const { sessionId } = await client.newSession();
      const file = join(stage.home.work, "allowed");
      const turn = client.prompt(sessionId, agent.touch(file), turnMs);
      const asked = await question(client);
      expect(asked.message.params.sessionId).toBe(sessionId);
      expect(existsSync(file)).toBe(false);
      await answer(client, asked, choose(asked.message.params, "allow_once"));
      expect((await turn).result.stopReason).toBe("end_turn");
      expect(existsSync(file)).toBe(agent.really);
      expect(client.updates(sessionId).some((one) => one.status === "completed")).toBe(true);
    });

    it("does nothing of what a permission refuses", async () => {
      await using stage = await Stage.open(agent, route);
      const { client } = stage;
      await client.initialize();
      const { sessionId } = await client.newSession();
      const file = join(stage.home.work, "refused");
      const turn = client.prompt(sessionId, agent.touch(file), turnMs);
      const asked = await question(client);
      await answer(client, asked, choose(asked.message.params, "reject_once"));
      expect((await turn).result.stopReason).toBe(agent.refused);
      expect(existsSync(file)).toBe(false);
    });

    it("ends a turn that is cancelled during a question, and the session works on", async () => {
      await using stage = await Stage.open(agent, route);
      const { client } = stage;
      await client.initialize();
      const { sessionId } = await client.newSession();
      const file = join(stage.home.work, "cancelled");
      const turn = client.prompt(sessionId, agent.touch(file), turnMs);
      const asked = await question(client);
      await client.notify("session/cancel", { sessionId });
      // Without the master the client owes this answer; with it the master gives it and withdraws the question.
      if (route === "directly") await answer(client, asked, { outcome: { outcome: "cancelled" } });
      expect((await turn).result.stopReason).toBe(agent.cancelled);
      expect(existsSync(file)).toBe(false);
      if (route === "through the master") {
        const withdrawn = await client.waitFor("$/cancel_request");
        expect(withdrawn.message.params.requestId).toBe(asked.message.id);
      }
      client.answer("session/request_permission", (params) => choose(params, "allow_once"));
      const from = client.text(sessionId).length;
      expect((await client.prompt(sessionId, agent.talk(2), turnMs)).result.stopReason).toBe("end_turn");
      expect(client.text(sessionId).slice(from)).toContain(agent.said(2));
    });

    it("runs two sessions at once on one process, each with its own text", async () => {
      await using stage = await Stage.open(agent, route);
      const { client } = stage;
      client.answer("session/request_permission", (params) => choose(params, "allow_once"));
      await client.initialize();
      const [one, two] = [(await client.newSession()).sessionId, (await client.newSession()).sessionId];
      expect(one).not.toBe(two);
      const turns = [client.prompt(one, agent.talk(8, 150), turnMs), client.prompt(two, agent.talk(9, 150), turnMs)];
      const answers = await Promise.all(turns);
      expect(answers.map((each) => each.result.stopReason)).toEqual(["end_turn", "end_turn"]);
      expect(client.text(one)).toContain(agent.said(8));
      expect(client.text(two)).toContain(agent.said(9));
      const order = client
        .received("session/update")
        .filter(({ params }) => params.update.sessionUpdate === "agent_message_chunk")
        .map(({ params }) => params.sessionId);
      // Interleaved: the second begins before the first has ended.
      expect(order.indexOf(two)).toBeLessThan(order.lastIndexOf(one));
      expect(stage.agentProcesses()).toBe(1);
    });
  });
});
