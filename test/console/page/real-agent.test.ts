// A real agent from the registry on the console's page, with a scripted model: its command, asked for, allowed, run and shown.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { realAgents } from "../../agents/real-agents.ts";
import { Master } from "../../harness/master.ts";
import { plan } from "../../model/plan.ts";
import { ScriptedModel } from "../../model/server.ts";
import { Pages } from "./browser.ts";
import { composer, newSession, notGuarded, options, panel, say, transcript } from "./steps.ts";

const pages = new Pages();

it("shows codex's answer and its question, and runs what was allowed", async () => {
  const codex = realAgents.find(({ name }) => name === "codex");
  if (codex === undefined) throw new Error("test/agents has no codex");
  await using model = await ScriptedModel.start();
  await using master = new Master();
  const folder = join(master.folder, "agent");
  mkdirSync(folder);
  master.configure({ config: { defaultAgent: "codex" }, agents: { codex: codex.define(folder, model.url) } });
  await master.serve();
  const page = await pages.open(master);
  await newSession(page, master.work, "codex");
  const file = join(master.work, "by-codex");
  await say(page, plan(["say", 3, 10], ["run", `touch '${file}'`], ["text", "It is **done**."]));
  await notGuarded(page);
  expect(await panel(page).innerText()).toContain("codex asks for permission");
  expect(await panel(page).innerText()).toContain(`touch '${file}'`);
  expect(existsSync(file)).toBe(false);
  await options(page).first().click();
  await transcript(page).locator("strong").getByText("done").waitFor();
  await composer(page).waitFor();
  expect(existsSync(file)).toBe(true);
  expect(await transcript(page).locator(".call.completed").count()).toBeGreaterThan(0);
});
