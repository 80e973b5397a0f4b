// No question waits for another: not for one of its session, of another one, of a slow Helper or of a client that hangs.
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { scriptedHelper } from "../harness/scripted-helper.ts";
import { answerOffer, askingAgent, Conversation, converse, nextOffer, PERMISSION, selected } from "./conversation.ts";
import { Random } from "../harness/random.ts";

it("200 open questions in 50 sessions are answered in random order by 4 clients, each answer at once", async () => {
  await using agent = askingAgent();
  await using master = await startMaster({
    agents: { fake: agent },
    config: { helper: { use: "ask", isolation: "shared" } },
  });
  const first = await converse(master, { agent: "fake", turn: false });
  const clients: RawClient[] = [first.client];
  for (let n = 0; n < 3; n++) {
    const client = await master.client();
    await client.initialize({ agent: null });
    clients.push(client);
  }
  const talks: Conversation[] = [first];
  while (talks.length < 50) {
    const { sessionId } = await first.client.newSession();
    const { client, process } = first;
    talks.push(new Conversation({ master, client, sessionId, process }));
  }
  for (const client of clients.slice(1)) {
    for (const { sessionId } of talks)
      await client.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
  }
  const open = new Map<string, Promise<Loose>>();
  for (const [n, talking] of talks.entries()) {
    for (let m = 0; m < 4; m++) open.set(`q${n}-${m}`, talking.ask(`q${n}-${m}`, { id: `q${n}-${m}` }));
  }
  const offers = await Promise.all(
    clients.map(async (client) => {
      const asked = await eventually(() => {
        const questions = client.received(PERMISSION);
        return questions.length === open.size && questions;
      }, "every question is shown");
      return new Map(asked.map(({ id, params }) => [params.toolCall.toolCallId, String(id)]));
    }),
  );
  const random = new Random(7);
  const left = [...open.keys()];
  while (left.length > 0) {
    const [toolCallId] = left.splice(random.below(left.length), 1);
    const who = random.below(clients.length);
    const optionId = random.pick(["yes", "no"]);
    await answerOffer(clients[who]!, { id: offers[who]!.get(toolCallId!)! }, selected(optionId));
    // The agent has this answer while all that were not chosen yet are still open.
    expect((await open.get(toolCallId!)!).result).toEqual(selected(optionId));
  }
  const answered = first.process.lines.all.filter(({ message }) => open.has(String(message.id)));
  expect(answered).toHaveLength(200);
}, 60_000);

it("a question that its Helper does not answer, and a client that does not read, hold up no other question", async () => {
  await using agent = askingAgent();
  await using helper = scriptedHelper({
    auto: {
      [PERMISSION]: (params: Loose) =>
        params.toolCall.toolCallId === "stuck" ? undefined : { outcome: { outcome: "ask" } },
    },
  });
  await using master = await startMaster({
    agents: { fake: agent },
    config: { helper: { use: helper.use, isolation: "shared" } },
  });
  const [one, two] = [await converse(master, { agent: "fake" }), await converse(master, { agent: "fake" })];
  const deaf = await two.join();
  deaf.pause();
  void one.ask("stuck");
  const process = await helper.process();
  await process.received(({ method, params }) => method === PERMISSION && params.toolCall.toolCallId === "stuck");
  for (const talking of [one, two]) {
    const asked = talking.ask("other");
    await answerOffer(talking.client, await nextOffer(talking.client, "other"), selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
  }
  await one.endTurn();
});
