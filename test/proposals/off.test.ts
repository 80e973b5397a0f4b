// Where direct proposals are not possible everything else works, and whoever asks the daemon how it is learns why.
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { askingAgent, converse } from "../permissions/conversation.ts";
import { blockOf, ProposingHelper } from "./proposing.ts";

it("without node on the daemon's PATH: no block in the prompt, and status and doctor say what to do", async () => {
  await using agent = askingAgent();
  using helper = new ProposingHelper();
  const empty = join(helper.folder, "empty");
  mkdirSync(empty);
  await using master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use } },
    env: { PATH: empty },
  });
  const talk = await converse(master, { agent: "fake" });
  expect(blockOf(talk.turn.prompt.message)).toBeUndefined();
  expect((await talk.endTurn()).result.stopReason).toBe("end_turn");
  const text = (await master.cli(["status"])).stdout;
  expect(text).toContain("Agents cannot propose: The master has no place for their socket.\nThere is no node on the");
  expect((await master.cli(["doctor"])).stdout).toMatch(/BAD daemon helper: There is no node.*\n.*acp-master restart/);
  expect(master.logLines()).toContainEqual(
    expect.objectContaining({ level: "warn", event: "helper.log", what: "proposals_off" }),
  );
});

it("a folder of the sockets that others can enter turns off the Helpers that start then, and no other", async () => {
  await using agent = askingAgent();
  using helper = new ProposingHelper();
  await using master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use } },
  });
  const before = await converse(master, { agent: "fake" });
  const folder = before.process.env.ACP_PROPOSE_DIR ?? "";
  expect(blockOf(before.turn.prompt.message)).toBeDefined();
  chmodSync(folder, 0o755);
  const open = await converse(master, { agent: "fake" });
  expect(blockOf(open.turn.prompt.message)).toBeUndefined();
  const { helpers, proposals } = await status(master);
  expect(helpers.filter(({ impaired }: Loose) => impaired !== undefined)).toHaveLength(1);
  expect(proposals.problem).toContain(`Run: chmod 700 '${folder}'`);
  chmodSync(folder, 0o700);
  const after = await converse(master, { agent: "fake" });
  expect(blockOf(after.turn.prompt.message)).toBeDefined();
  // A Helper that starts again has the chance that the first one did not have.
  process.kill(helpers.find(({ impaired }: Loose) => impaired !== undefined).pid, "SIGKILL");
  await eventually(
    async () => (await status(master)).helpers.every(({ impaired }: Loose) => impaired === undefined),
    "every Helper takes proposals",
  );
});

async function status(master: Master): Promise<Loose> {
  const client = await master.client();
  await client.initialize({ agent: null });
  const answer = await client.call("_acp-master/status", {});
  await client.close();
  return answer;
}
