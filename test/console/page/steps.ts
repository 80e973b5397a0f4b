// What a person does on the page, and where it shows what.
import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { Master } from "../../harness/master.ts";
import { eventually } from "../../harness/events.ts";

export const composer = (page: Page): Locator => page.getByLabel("Message to the agent");
export const transcript = (page: Page): Locator => page.getByRole("region", { name: "Transcript" });
/** The question that stands where the composer was. */
export const panel = (page: Page): Locator => page.locator("main.session > .panel");
export const options = (page: Page): Locator => panel(page).locator(".options button");
export const notGuarded = (page: Page): Promise<void> =>
  panel(page).locator(".options button:not([aria-disabled=true])").first().waitFor();

/** Clicks at once, whatever state the button is in; nothing when it has gone. */
export const clickNow = (page: Page, option: number): Promise<void> =>
  page.evaluate((at) => {
    document.querySelectorAll<HTMLElement>("main.session > .panel .options button")[at]?.click();
  }, option);

/** Makes a session with the dialog; it is shown then. */
export async function newSession(page: Page, cwd: string, agent = "demo"): Promise<void> {
  await page.getByRole("button", { name: "New session" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Folder").fill(cwd);
  await dialog.getByLabel("Agent").selectOption(agent);
  await dialog.getByRole("button", { name: "Start" }).click();
  await composer(page).waitFor();
}

/** Sends a prompt as soon as the session is ready for one. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  try {
    await page.locator(".composer button[type=submit]:not([aria-disabled=true])").waitFor();
  } catch (cause) {
    throw new Error(`the session is not ready for a prompt: ${await page.locator("body").innerText()}`, { cause });
  }
  await composer(page).press("Enter");
}

/** The session that the page shows. */
export function sessionOf(page: Page): string {
  const [, id] = /#session=(.+)$/.exec(page.url()) ?? [];
  return decodeURIComponent(id ?? "");
}

/** Shows a session by its address. */
export const show = (page: Page, sessionId: string): Promise<void> =>
  page.evaluate((hash) => void (location.hash = hash), `#session=${encodeURIComponent(sessionId)}`);

/** A client that hears of every approval and its end. */
export async function listener(master: Master) {
  const client = await master.client();
  await client.initialize({ agent: null, events: true });
  const events = (type: string) =>
    client
      .received("_acp-master/event")
      .map((message) => message.params)
      .filter((params) => params.type === type);
  return {
    client,
    events,
    /** The one end of an approval; fails when there is a second one. */
    resolved: async (count = 1) => {
      const found = await eventually(() => {
        const all = events("approval_resolved");
        return all.length >= count ? all : undefined;
      }, `${count} approvals end`);
      expect(found).toHaveLength(count);
      return found;
    },
  };
}
