// Proposals on the console's page: shown with their exact text, decided by a person's press, from the session or the inbox.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/events.ts";
import { startMaster, type Master } from "../../harness/master.ts";
import type { ScriptedAgent } from "../../harness/scripted-agent.ts";
import { askingAgent, converse } from "../../permissions/conversation.ts";
import { approved, commandOf, linesOf, payload, ProposingHelper, runInShell } from "../../proposals/proposing.ts";
import { Pages } from "./browser.ts";
import { notGuarded, panel, show } from "./steps.ts";

const pages = new Pages();
let agent: ScriptedAgent;
let helper: ProposingHelper;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  helper = new ProposingHelper();
  master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  helper[Symbol.dispose]();
  await agent[Symbol.asyncDispose]();
});

describe("a proposal", () => {
  it("takes the composer's place, is told to be on the screen, and goes when it is decided", async () => {
    const talk = await converse(master, { agent: "fake" });
    const page = await pages.open(master);
    await show(page, talk.sessionId);
    const command = commandOf(talk, payload("echo hi"));
    await approved(talk, command);
    const program = runInShell(talk, command);
    await panel(page).getByText("fake proposes").waitFor();
    expect(await panel(page).locator("pre").innerText()).toBe("echo hi");
    await eventually(() => program.stdout.includes("accepted"), "the agent hears that the card is up");
    await notGuarded(page);
    expect(helper.orders).toEqual([]);
    await panel(page).getByRole("button", { name: "1: Run" }).click();
    await panel(page).waitFor({ state: "detached" });
    expect((await linesOf(program)).lines.at(-1)).toMatchObject({ phase: "final", status: "confirmed" });
    expect(helper.orders).toEqual([`run send in pane of ${talk.sessionId}: echo hi`]);
    await talk.endTurn();
  });

  it("stands in the inbox, and a no there is a no", async () => {
    const talk = await converse(master, { agent: "fake" });
    const page = await pages.open(master);
    await page.getByRole("link", { name: /Inbox/ }).click();
    const command = commandOf(talk, payload("echo other"));
    await approved(talk, command);
    const program = runInShell(talk, command);
    const entry = page.locator(".cards > li.card");
    await entry.getByText("echo other").waitFor();
    expect(await page.title()).toBe("(1) acp-master");
    await entry.locator(".options button:not([aria-disabled=true])").first().waitFor();
    await entry.getByRole("button", { name: "Reject" }).click();
    await entry.waitFor({ state: "detached" });
    expect((await linesOf(program)).lines.at(-1)).toMatchObject({ phase: "final", status: "cancelled" });
    await talk.endTurn();
  });
});
