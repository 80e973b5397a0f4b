// Sessions on the console's page: made, talked to, set, closed; several pages of one console in step.
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { startMaster } from "../../harness/master.ts";
import { eventually } from "../../harness/events.ts";
import { fakeAgent } from "../../harness/scripted-agent.ts";
import { Pages } from "./browser.ts";
import { composer, newSession, notGuarded, options, panel, say, sessionOf, show, transcript } from "./steps.ts";

const pages = new Pages();
/** One pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const config = { defaultAgent: "demo" };
const state = (page: Page) => page.locator(".head .state").innerText();
const chip = (page: Page) => page.getByLabel("Approvals");

describe("a session", () => {
  it("is made in a dialog that offers the agents which are ready, and says why one cannot be made", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await page.getByText("No sessions yet.").waitFor();
    await page.getByRole("button", { name: "New session" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Folder").fill("/nowhere/at/all");
    await dialog.getByLabel("Agent").selectOption("demo");
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.getByRole("alert").getByText("/nowhere/at/all").waitFor();
    await dialog.getByLabel("Folder").fill(master.work);
    await dialog.getByRole("button", { name: "Start" }).click();
    await composer(page).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    const entry = page.locator("nav li");
    expect(await entry.innerText()).toContain(`demo · ${master.work}`);
    expect(await entry.locator("a").getAttribute("aria-current")).toBe("page");
  });

  it("cannot be made while the daemon is offline, by key either, and can when it is back", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await page.getByText("No sessions yet.").waitFor();
    await master.kill9();
    await page.getByText("The daemon is offline").waitFor();
    const button = page.getByRole("button", { name: "New session" });
    await button.press("Enter");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await master.serve();
    await page.locator("nav button:not([aria-disabled=true])").getByText("New session").waitFor();
    await button.press("Enter");
    const agent = page.getByRole("dialog").getByLabel("Agent");
    await agent.locator("option").first().waitFor({ state: "attached" });
    // The list is the next daemon's when that one goes.
    await master.kill9();
    await page.getByText("The daemon is offline").waitFor();
    master.configure({ config: { ...config, agents: { other: { command: process.execPath } } } });
    await master.serve();
    await agent.locator("option").getByText("other").waitFor({ state: "attached" });
  });

  it("shows Markdown, thoughts, plans, tool calls and the output of a command", async () => {
    await using master = await startMaster({ config: { ...config, approvals: { preset: "allow-all" } } });
    const page = await pages.open(master);
    await newSession(page, master.work);
    const said = transcript(page);
    await say(page, "/help");
    await said.locator("li").getByText("/stream").waitFor();
    await say(page, "/think about it");
    await said.locator(".thought").getByText("this thought was ready made").waitFor();
    await say(page, "/plan");
    await said.getByText("The plan is worked off.").waitFor();
    expect(await said.locator(".plan li.completed").count()).toBe(3);
    expect(await said.locator(".plan li").first().innerText()).toContain("(done)");
    await say(page, "/run printf 'one\\ntwo\\033[31mred'");
    await said.getByText("It ended with code 0").waitFor();
    const call = said.locator(".call.completed").last();
    expect(await call.locator("pre").first().innerText()).toContain("one\ntwored");
    await say(page, "/write a.txt x");
    await said.getByText("I wrote").waitFor();
    expect(await said.locator(".call .diff tr.added").last().innerText()).toContain("x");
    await say(page, "/tools");
    await said.getByText("I showed 9 tool calls.").waitFor();
  });

  it("shows pictures, links and resources", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const page = await pages.open(master);
    await newSession(page, master.work, "fake");
    await say(page, "go");
    const process = await agent.process(0);
    await process.received("session/prompt");
    const image = { type: "image", mimeType: "image/png", data: picture };
    const sent = (content: object): Promise<unknown> =>
      process.update("s-1", { sessionUpdate: "agent_message_chunk", content });
    await sent(image);
    await sent({ type: "resource_link", uri: "https://example.invalid/a", name: "A link" });
    await sent({ type: "resource", resource: { uri: "file:///a.txt", text: "what is in it" } });
    await sent({ type: "audio", mimeType: "audio/wav", data: "AAAA" });
    const content = [{ type: "content", content: image }];
    await process.update("s-1", { sessionUpdate: "tool_call", toolCallId: "1", title: "look", kind: "read", content });
    const said = transcript(page);
    await said.locator(".call img").waitFor();
    const widths = () => said.locator("img").evaluateAll((all) => all.map((each) => Reflect.get(each, "naturalWidth")));
    await eventually(async () => (await widths()).join() === "1,1", "both pictures are drawn");
    expect(await said.getByRole("link", { name: "A link" }).getAttribute("href")).toBe("https://example.invalid/a");
    await said.getByText("file:///a.txt").click();
    await said.getByText("what is in it").waitFor();
    await said.getByText("[audio, audio/wav that this page cannot show]").waitFor();
  });

  it("lets prompts wait behind a running turn, takes one back, and cancels", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/slow 3600000");
    await page.getByRole("button", { name: "Cancel the turn" }).waitFor();
    await say(page, "/echo first");
    await say(page, "/echo later");
    const waiting = page.getByRole("list", { name: "Prompts that wait" }).locator("li");
    await waiting.nth(1).waitFor();
    await waiting.filter({ hasText: "first" }).getByRole("button", { name: "Take back" }).click();
    await eventually(async () => (await waiting.count()) === 1, "one is taken back");
    expect(await waiting.innerText()).toContain("later");
    await page.getByRole("button", { name: "Cancel the turn" }).click();
    await eventually(async () => (await waiting.count()) === 0, "nothing waits any more");
    await eventually(async () => (await state(page)) === "idle", "the session is idle");
    expect(await page.locator("main").innerText()).not.toContain("later");
    await say(page, "/echo after");
    await transcript(page).getByText("after").last().waitFor();
  });

  it("offers the agent's commands, modes and options", async () => {
    await using master = await startMaster({ config });
    const [page, other] = [await pages.open(master), await pages.open(master)];
    await newSession(page, master.work);
    await show(other, sessionOf(page));
    await page.getByLabel("Commands of the agent").selectOption("mode");
    expect(await composer(page).inputValue()).toBe("/mode ");
    await page.locator(".composer p").getByText("Show the modes, or switch to one").waitFor();
    await composer(page).press("Enter");
    await transcript(page).getByText("The mode is careful").waitFor();
    await page.getByLabel("Mode").selectOption("bold");
    await page.getByLabel("Style").selectOption("brief");
    for (const each of [page, other]) {
      await eventually(async () => (await each.getByLabel("Mode").inputValue()) === "bold", "the mode is told");
      await eventually(async () => (await each.getByLabel("Style").inputValue()) === "brief", "the style is told");
    }
    await say(page, "/mode");
    await transcript(page).getByText("The mode is bold").waitFor();
  });

  it("switches its preset, with a confirmation where the preset asks for one, in all pages", async () => {
    await using master = await startMaster({ config });
    const [page, other] = [await pages.open(master), await pages.open(master)];
    await newSession(page, master.work);
    await show(other, sessionOf(page));
    await eventually(async () => (await chip(other).inputValue()) === "ask", "the chip is there");
    await chip(page).selectOption("accept-edits");
    await eventually(async () => (await chip(other).inputValue()) === "accept-edits", "the other page follows");
    await chip(page).selectOption("allow-all");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Switch" }).click();
    // Without the tick nothing happens.
    expect(await dialog.count()).toBe(1);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await chip(page).inputValue()).toBe("accept-edits");
    await chip(page).selectOption("allow-all");
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Switch" }).click();
    for (const each of [page, other])
      await eventually(async () => (await chip(each).inputValue()) === "allow-all", "the preset is told");
    // Narrowing is free.
    await chip(other).selectOption("ask");
    await eventually(async () => (await chip(page).inputValue()) === "ask", "the preset is told");
  });

  it("closes for everybody after a question", async () => {
    await using master = await startMaster({ config });
    const [page, other] = [await pages.open(master), await pages.open(master)];
    await newSession(page, master.work);
    await say(page, "/echo hi");
    await transcript(page).getByText("hi").last().waitFor();
    await show(other, sessionOf(page));
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Close it" }).click();
    for (const each of [page, other]) {
      await each.getByText("This session is closed.").waitFor();
      await transcript(each).getByText("hi").last().waitFor();
    }
    await other.getByRole("button", { name: "Go on with it" }).click();
    await composer(other).waitFor();
    await say(other, "/echo back");
    for (const each of [page, other]) await transcript(each).getByText("back").last().waitFor();
  });

  it("asks in a form, and hands on what was filled in", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/elicit");
    await notGuarded(page);
    expect(await panel(page).innerText()).toContain("Who are you, and how many?");
    // A field that must be filled in stops it.
    await panel(page).getByRole("button", { name: "Send" }).click();
    await panel(page).getByLabel("Name").fill("Ada");
    await panel(page).getByLabel("How many").fill("3");
    await panel(page).getByRole("button", { name: "Send" }).click();
    await transcript(page).getByText('The form was answered: accept {"name":"Ada","count":3}').waitFor();
    await say(page, "/elicit");
    await notGuarded(page);
    await panel(page).getByRole("button", { name: "Decline" }).click();
    await transcript(page).getByText("The form was answered: decline").waitFor();
  });

  it("is found again under its address after the page was loaded anew", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await panel(page).waitFor();
    await page.reload();
    await panel(page).waitFor();
    await transcript(page).getByText("/ask").waitFor();
    await notGuarded(page);
    await options(page).first().click();
    await transcript(page).getByText("1: selected allow").waitFor();
  });
});

describe("the page", () => {
  it("logs in once with an address, and not again with the same one", async () => {
    await using master = await startMaster({ config });
    const address = await pages.address(master);
    const page = await pages.stranger(master, new URL(address).origin);
    await page.getByText("This browser is not logged in.").waitFor();
    await page.getByLabel("Or paste the address here").fill("http://example.com/");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("no #token=").waitFor();
    await page.getByLabel("Or paste the address here").fill(address);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("navigation").waitFor();
    expect(page.url()).not.toContain("token");
    const stranger = await pages.stranger(master, address);
    await stranger.getByRole("alert").getByText("used already").waitFor();
    expect(stranger.url()).not.toContain("token");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("This browser is not logged in.").waitFor();
    await page.reload();
    await page.getByText("This browser is not logged in.").waitFor();
  });

  it("that may only read shows everything and does nothing", async () => {
    await using master = await startMaster({ config });
    const [page, reader] = [await pages.open(master), await pages.open(master, { readOnly: true })];
    await newSession(page, master.work);
    await say(page, "/ask");
    await panel(page).waitFor();
    await show(reader, sessionOf(page));
    await panel(reader).getByText("This page may only read.").waitFor();
    expect(await reader.locator(".top .tag").innerText()).toBe("read only");
    await panel(reader).focus();
    await reader.keyboard.press("1");
    await reader.keyboard.press("Escape");
    expect(await options(reader).first().getAttribute("aria-disabled")).toBe("true");
    expect(await chip(reader).isDisabled()).toBe(true);
    expect(await panel(page).count()).toBe(1);
    await notGuarded(page);
    await options(page).first().click();
    await reader.locator(".composer").getByText("This page may only read.").waitFor();
  });

  it("notifies of a permission only when it was asked to and nobody looks", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master, {
      permissions: ["notifications"],
      prepare: (page) =>
        page.addInitScript(() => {
          const shown: { title: string; body: string; closed: boolean }[] = [];
          Object.assign(globalThis, { shown });
          class Recorded extends EventTarget {
            static readonly permission = "granted";
            static readonly requestPermission = () => Promise.resolve("granted");
            readonly #entry: (typeof shown)[number];
            constructor(title: string, { body = "" }: NotificationOptions) {
              super();
              this.#entry = { title, body, closed: false };
              shown.push(this.#entry);
            }
            close(): void {
              this.#entry.closed = true;
            }
          }
          Object.assign(globalThis, { Notification: Recorded });
          document.hasFocus = () => false;
        }),
    });
    const shown = (): Promise<object[]> => page.evaluate("shown");
    await newSession(page, master.work);
    await say(page, "/ask");
    await notGuarded(page);
    expect(await shown()).toEqual([]);
    await page.keyboard.press("3");
    await composer(page).waitFor();
    await page.getByLabel("Notify me").check();
    await say(page, "/ask");
    await notGuarded(page);
    expect(await shown()).toEqual([
      { title: "demo asks for permission", body: "local_shell.run: true 1", closed: false },
    ]);
    await panel(page).focus();
    await page.keyboard.press("3");
    await composer(page).waitFor();
    expect(await shown()).toEqual([expect.objectContaining({ closed: true })]);
    await page.getByLabel("Notify me").uncheck();
    await say(page, "/ask");
    await notGuarded(page);
    expect(await shown()).toHaveLength(1);
  });
});
