// Every main state: no violation that axe-core finds, nothing wider than the window, and a way through with the keyboard alone.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { startMaster } from "../../harness/master.ts";
import { eventually } from "../../harness/events.ts";
import { Pages } from "./browser.ts";
import { throughStates } from "./states.ts";
import { composer, newSession, panel, say, transcript } from "./steps.ts";

const pages = new Pages();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

/** What axe-core finds, with the place; and how many of its rules had something to look at. */
async function violations(page: Page): Promise<{ list: string[]; rules: number }> {
  // The page's own policy lets no script in, so it comes through the debugger and into the same world.
  await page.evaluate(axe);
  return await page.evaluate(
    `axe.run(document).then(({ violations, passes }) => ({
      list: violations.flatMap((each) => each.nodes.map((node) => each.id + ": " + node.target + " " + node.failureSummary)),
      rules: passes.length,
    }))`,
  );
}

const overflow = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > window.innerWidth;
    if (!wide) return [];
    return [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
      .map((element) => `${element.tagName}.${element.className}`);
  });

/** How a screen reader would name what has the focus, roughly. */
const focusedLabel = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (element === document.body) return "";
    const labelled = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
    const labels = labelled ? [...(element.labels ?? [])].map((each) => each.textContent) : [];
    return [...labels, element?.getAttribute("aria-label"), element?.textContent].join(" ");
  });

async function composerHasFocus(page: Page): Promise<void> {
  const focused = () =>
    page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent?.slice(0, 80)}`);
  try {
    await eventually(
      () => composer(page).evaluate((each) => each === document.activeElement),
      "the composer has the focus",
    );
  } catch (cause) {
    throw new Error(`the focus is at ${await focused()}`, { cause });
  }
}

describe("every main state", () => {
  it.each(["light", "dark"] as const)("has no violation in %s", async (colorScheme) => {
    const found: Record<string, string[]> = {};
    await throughStates(pages, { colorScheme }, async (state, page) => {
      const { list, rules } = await violations(page);
      expect(rules).toBeGreaterThan(15);
      if (list.length > 0) found[state] = list;
    });
    expect(found).toEqual({});
  });

  it.each([
    ["360 pixels", { width: 360, height: 640 }],
    ["4k", { width: 3840, height: 2160 }],
  ])("fits into a window of %s", async (_name, viewport) => {
    const found: Record<string, string[]> = {};
    await throughStates(pages, { viewport }, async (state, page) => {
      const list = await overflow(page);
      if (list.length > 0) found[state] = list;
    });
    expect(found).toEqual({});
  });
});

describe("the page", () => {
  it("is used with the keyboard alone, from a new session to an answer", async () => {
    await using master = await startMaster({ config: { defaultAgent: "demo" } });
    const page = await pages.open(master);
    const to = async (name: RegExp): Promise<void> => {
      for (let press = 0; press < 40 && !name.test(await focusedLabel(page)); press += 1)
        await page.keyboard.press("Tab");
      expect(await focusedLabel(page)).toMatch(name);
    };
    await page.locator("nav button:not([aria-disabled=true])").getByText("New session").waitFor();
    await to(/New session/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").locator("option").first().waitFor({ state: "attached" });
    await to(/^Agent/);
    await page.keyboard.type("demo");
    await to(/^Folder/);
    await page.keyboard.type(master.work);
    await page.keyboard.press("Enter");
    // The composer has the focus by itself.
    await composer(page).waitFor();
    await page.locator(".settings select").first().waitFor();
    await composerHasFocus(page);
    await page.keyboard.type("/ask");
    await page.keyboard.press("Enter");
    await panel(page).locator(".options button:not([aria-disabled=true])").first().waitFor();
    await page.keyboard.press("1");
    await transcript(page).getByText("1: selected allow").waitFor();
    await composerHasFocus(page);
    await page.keyboard.press("Shift+Tab");
    await eventually(
      () =>
        transcript(page).evaluate((each) => each === document.activeElement || each.contains(document.activeElement)),
      "the transcript can be scrolled",
    );
  });

  it("says new permissions and their ends to those who do not look", async () => {
    await using master = await startMaster({ config: { defaultAgent: "demo" } });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await page
      .locator("[aria-live=assertive]")
      .getByText("demo asks for permission: local_shell.run: true 1.")
      .waitFor();
    await panel(page).locator(".options button:not([aria-disabled=true])").first().click();
    await page
      .locator("[aria-live=polite]")
      .getByText(/A permission was answered|ended its turn/)
      .waitFor();
  });

  it("moves nothing when a person wants no motion", async () => {
    await using master = await startMaster({ config: { defaultAgent: "demo" } });
    const page = await pages.open(master, { reducedMotion: "reduce" });
    await newSession(page, master.work);
    await say(page, "/slow 3600");
    await page.locator("nav .state.running").waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });
});
