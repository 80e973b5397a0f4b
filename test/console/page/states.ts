// The main states of the page, each as a person meets it. Tests look at them; the screenshots of the README are made of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startMaster, type Master } from "../../harness/master.ts";
import type { PageOptions, Pages } from "./browser.ts";
import { composer, newSession, notGuarded, panel, say, transcript } from "./steps.ts";

export interface State {
  readonly name: string;
  /** Leads to it from the state before. */
  readonly go: (page: Page, master: Master) => Promise<unknown>;
}

export const states: readonly State[] = [
  { name: "start", go: (page) => page.getByText("No sessions yet.").first().waitFor({ state: "attached" }) },
  {
    name: "new-session",
    go: async (page) => {
      await page.getByRole("button", { name: "New session" }).click();
      await page.getByRole("dialog").locator("option").first().waitFor({ state: "attached" });
    },
  },
  {
    name: "transcript",
    go: async (page, master) => {
      mkdirSync(join(master.work, "src"));
      writeFileSync(join(master.work, "src", "greet.js"), 'export const greet = (name) => "hello " + name;\n');
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Folder").fill(master.work);
      await dialog.getByLabel("Agent").selectOption("demo");
      await dialog.getByRole("button", { name: "Start" }).click();
      await say(page, "/help");
      await transcript(page).getByText("/together").waitFor();
      await say(page, "/think");
      await transcript(page).getByText("I thought about").waitFor();
      await say(page, "/plan");
      await transcript(page).getByText("The plan is worked off.").waitFor();
    },
  },
  {
    name: "permission",
    go: async (page) => {
      await say(page, "/write src/greet.js export const greet = (name) => `hello, ${name}!`;");
      await notGuarded(page);
    },
  },
  {
    name: "question",
    go: async (page) => {
      await page.keyboard.press("1");
      await composer(page).waitFor();
      await say(page, "/elicit");
      await notGuarded(page);
    },
  },
  {
    name: "inbox",
    go: async (page, master) => {
      await panel(page).getByRole("button", { name: "Decline" }).click();
      await composer(page).waitFor();
      await say(page, "/ask 2");
      await notGuarded(page);
      if ((page.viewportSize()?.width ?? 0) < 700) await page.getByRole("link", { name: "acp-master" }).click();
      await newSession(page, master.work);
      await say(page, "/run git push --force origin main");
      await notGuarded(page);
      await page.evaluate(() => void (location.hash = "#inbox"));
      await page.locator(".cards > li .options button:not([aria-disabled=true])").nth(2).waitFor();
    },
  },
  {
    name: "confirmation",
    go: async (page) => {
      await page.goBack();
      await notGuarded(page);
      await page.getByLabel("Approvals").selectOption("allow-all");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "offline",
    go: async (page, master) => {
      await page.keyboard.press("Escape");
      await master.kill9();
      await page.getByText("this may be old").first().waitFor();
    },
  },
  {
    name: "logged-out",
    go: async (page) => {
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByText("This browser is not logged in.").waitFor();
    },
  },
];

/** Through all of them, in a daemon of its own; `look` is called in each. */
export async function throughStates(
  pages: Pages,
  options: PageOptions,
  look: (state: string, page: Page) => Promise<void>,
): Promise<void> {
  await using master = await startMaster({
    config: { defaultAgent: "demo", approvals: { timeoutSeconds: 3_600 } },
  });
  const page = await pages.open(master, options);
  for (const { name, go } of states) {
    await go(page, master);
    await look(name, page);
  }
}
