// Field faults of the kind "audit": records that are torn, missing, forged or cut.
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Home } from "../harness/home.ts";
import { startMaster } from "../harness/master.ts";
import {
  answerOffer,
  askingAgent,
  auditRecords,
  CANCELLED,
  converse,
  decisions,
  nextOffer,
  selected,
} from "../permissions/conversation.ts";

const fileOf = (home: Home): string => join(home.home, "state", "audit.ndjson");
/** What the index of whichever session says of the decision. */
const noted = (home: Home, approvalId: string): unknown[] => {
  const sessions = join(home.home, "state", "sessions");
  return readdirSync(sessions)
    .flatMap((name) =>
      readFileSync(join(sessions, name, "index.ndjson"), "utf8")
        .trimEnd()
        .split("\n"),
    )
    .map((line) => JSON.parse(line))
    .filter((line) => line.type === "decision" && line.approvalId === approvalId);
};
const verify = async (home: Home) => {
  const { code, stdout } = await home.cli(["audit", "verify", "--json"]);
  return { code, found: JSON.parse(stdout) };
};
const shared = { helper: { isolation: "shared" } } as const;

it("FF-144: a torn line costs itself: later records stand on lines of their own and verify names the tear", async () => {
  await using agent = askingAgent();
  await using master = await startMaster({ agents: { fake: agent }, config: shared });
  const decide = async (toolCallId: string): Promise<void> => {
    const talking = await converse(master, { agent: "fake" });
    const asked = talking.ask(toolCallId);
    await answerOffer(talking.client, await nextOffer(talking.client), selected("yes"));
    await asked;
    await talking.endTurn();
  };
  await decide("t1");
  await decide("t2");
  await master.kill9();
  const file = fileOf(master);
  truncateSync(file, readFileSync(file).length - 20);
  const before = readFileSync(file, "utf8").split("\n");
  await master.serve();
  await decide("t3");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const tear = before.length - 1;
  for (const [at, line] of lines.entries()) {
    if (at !== tear) expect(() => JSON.parse(line), `line ${at + 1}`).not.toThrow();
  }
  expect(lines.slice(tear + 1).map((line) => JSON.parse(line).toolCallId ?? JSON.parse(line).type)).toContain("t3");
  const { code, found } = await verify(master);
  expect(code).toBe(1);
  expect(found.problems.some((problem: { line: number }) => problem.line === tear + 1)).toBe(true);
});

it("FF-145: six ways to end give six records, each before its answer; an allow that cannot be recorded is not sent", async () => {
  await using agent = askingAgent();
  await using auto = askingAgent({ definition: { approvals: { preset: "allow-all" } } });
  await using brief = askingAgent({ definition: { approvals: { timeoutSeconds: 0.3 } } });
  await using lonely = askingAgent({ definition: { approvals: { noClientSeconds: 0.3 } } });
  await using master = await startMaster({ agents: { fake: agent, auto, brief, lonely }, config: shared });
  const automatic = await converse(master, { agent: "auto" });
  const person = await converse(master, { agent: "fake" });
  const waiting = await converse(master, { agent: "brief" });
  const recorded = (toolCallId: string) => decisions(master).filter((line) => line.toolCallId === toolCallId);
  expect((await automatic.ask("automatic")).result).toEqual(selected("yes"));
  // The record is there when the answer is.
  expect(recorded("automatic")).toHaveLength(1);
  for (const [toolCallId, optionId] of [
    ["allowed", "yes"],
    ["denied", "no"],
  ] as const) {
    const asked = person.ask(toolCallId);
    await answerOffer(person.client, await nextOffer(person.client, toolCallId), selected(optionId));
    expect((await asked).result).toEqual(selected(optionId));
    expect(recorded(toolCallId)).toHaveLength(1);
  }
  expect((await waiting.ask("expired")).result).toEqual(selected("no"));
  const cancelled = person.ask("cancelled");
  await nextOffer(person.client, "cancelled");
  await person.client.notify("session/cancel", { sessionId: person.sessionId });
  expect((await cancelled).result).toEqual(CANCELLED);
  await person.endTurn("cancelled");
  const deserted = await converse(master, { agent: "lonely" });
  await deserted.client.close();
  expect((await deserted.ask("deserted")).result).toEqual(selected("no"));
  expect(decisions(master).map((line) => [line.toolCallId, line.outcome.result, line.by.kind])).toEqual([
    ["automatic", "selected", "helper"],
    ["allowed", "selected", "client"],
    ["denied", "selected", "client"],
    ["expired", "expired", "expiry"],
    ["cancelled", "cancelled", "cancel"],
    ["deserted", "expired", "no_client"],
  ]);
  expect(decisions(master)[0].preset).toBe("allow-all");
  expect((await verify(master)).code).toBe(0);

  // A full disk: nothing more is allowed, by nobody, and status says why; when it can be written again all is well.
  const file = fileOf(master);
  renameSync(file, `${file}.aside`);
  symlinkSync("/dev/full", file);
  await person.startTurn();
  expect((await automatic.ask("full-1")).result).toEqual(selected("no"));
  const asked = person.ask("full-2");
  const offer = await nextOffer(person.client, "full-2");
  await answerOffer(person.client, offer, selected("yes"));
  expect((await asked).result).toEqual(selected("no"));
  const event = await person.client.waitFor(
    ({ params }) => params?.type === "approval_resolved" && params.approvalId === offer.approvalId,
  );
  expect(event.message.params).toMatchObject({ outcome: { result: "refused" }, by: { kind: "master" } });
  // The session's own index says what was decided in the end.
  expect(noted(master, offer.approvalId)).toMatchObject([{ result: "refused", by: "master" }]);
  const { record } = await person.client.call("_acp-master/status", {});
  expect(record.problem).toContain("no permission can be allowed");
  rmSync(file);
  renameSync(`${file}.aside`, file);
  const again = person.ask("written-again");
  await answerOffer(person.client, await nextOffer(person.client, "written-again"), selected("yes"));
  expect((await again).result).toEqual(selected("yes"));
  expect((await person.client.call("_acp-master/status", {})).record).toBeUndefined();
});

it("FF-146: text from outside makes no line of its own: one record a decision, each one parses", async () => {
  await using agent = askingAgent();
  await using master = await startMaster({ agents: { fake: agent }, config: shared });
  const evil = 'x\n{"type":"decision","outcome":{"result":"selected"}}\u0000\u001b[2K\u202e\u2028';
  const talking = await converse(master, { agent: "fake", extra: { clientInfo: { name: evil, version: "1" } } });
  const before = readFileSync(fileOf(master), "utf8").split("\n").length;
  for (const toolCallId of ["t1", evil]) {
    const asked = talking.ask(toolCallId, {
      toolCall: { title: evil },
      options: [{ optionId: evil, name: evil, kind: "allow_once" }],
    });
    await answerOffer(talking.client, await nextOffer(talking.client), selected(evil));
    expect((await asked).result).toEqual(selected(evil));
  }
  const text = readFileSync(fileOf(master), "utf8");
  const lines = text.split("\n");
  expect(lines.length).toBe(before + 2);
  expect(auditRecords(master).length).toBe(lines.length - 1);
  // oxlint-disable-next-line no-control-regex -- such characters are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\u2028]/);
  expect((await verify(master)).code).toBe(0);
});

it("FF-147: verify fails for an edited, a missing, a moved and a cut record, and for a record that is gone", async () => {
  await using agent = askingAgent();
  await using master = await startMaster({ agents: { fake: agent }, config: shared });
  const talking = await converse(master, { agent: "fake" });
  for (let n = 0; n < 5; n++) {
    const asked = talking.ask(`t${n}`);
    await answerOffer(talking.client, await nextOffer(talking.client), selected("yes"));
    await asked;
  }
  await talking.endTurn();
  const file = fileOf(master);
  await eventually(async () => (await verify(master)).code === 0, "the record verifies");
  expect(await master.stop()).toMatchObject({ code: 0 });
  const whole = readFileSync(file, "utf8");
  const lines = whole.trimEnd().split("\n");
  const put = (kept: readonly string[]): void => writeFileSync(file, `${kept.join("\n")}\n`);
  const middle = Math.floor(lines.length / 2);
  for (const [what, kept] of [
    ["edited", lines.map((line, at) => (at === middle ? line.replace('"t', '"x') : line))],
    ["missing", lines.filter((_line, at) => at !== middle)],
    ["moved", lines.toSpliced(middle, 2, lines[middle + 1]!, lines[middle]!)],
    ["cut", lines.slice(0, -2)],
  ] as const) {
    put(kept);
    const { code, found } = await verify(master);
    expect([what, code]).toEqual([what, 1]);
    expect(found.problems.length).toBeGreaterThan(0);
  }
  rmSync(file);
  expect((await verify(master)).code).toBe(1);
  writeFileSync(file, whole);
  expect((await verify(master)).code).toBe(0);
  appendFileSync(file, lines.at(-1)!);
  expect((await verify(master)).code).toBe(1);
});
