// Permissions on the console's page, with a real daemon and the demo agent.
import { describe, expect, it } from "vitest";
import { startMaster } from "../../harness/master.ts";
import { Deferred, eventually } from "../../harness/events.ts";
import { Pages } from "./browser.ts";
import {
  clickNow,
  composer,
  listener,
  newSession,
  notGuarded,
  options,
  panel,
  say,
  sessionOf,
  show,
  transcript,
} from "./steps.ts";

const pages = new Pages();
const config = { defaultAgent: "demo" };

describe("a permission", () => {
  it("takes the composer's place and says who asks, what would happen, where, and until when", async () => {
    await using master = await startMaster({ config: { ...config, approvals: { timeoutSeconds: 600 } } });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/write note.txt one\u202Etwo\nlast");
    await notGuarded(page);
    expect(await composer(page).count()).toBe(0);
    const text = await panel(page).innerText();
    expect(text).toContain("demo asks for permission");
    expect(text).toContain(`local_fs.write_file: ${master.work}/note.txt`);
    expect(text).toContain("change a file");
    expect(text).toContain("oneU+202Etwo");
    expect(text).toContain("new file");
    expect(text).toMatch(/Refused by itself in (?:9:\d\d|10:00)/);
    expect(await panel(page).locator("tr.added").allInnerTexts()).toEqual([
      expect.stringContaining("oneU+202Etwo"),
      expect.stringContaining("last"),
    ]);
    expect(await options(page).locator("bdi").allInnerTexts()).toEqual([
      "Allow once",
      "Allow for this session",
      "Reject",
    ]);
    expect(await page.title()).toBe("(1) acp-master");
    expect(await page.locator("nav .state.waiting").innerText()).toContain("waits for you");

    await options(page).first().click();
    await transcript(page).getByText("I wrote").waitFor();
    await composer(page).waitFor();
    expect(await page.title()).toBe("acp-master");
    expect(await page.locator("nav .state.waiting").count()).toBe(0);
  });

  it("gives the focus to its panel, never to a button, and back to the composer", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await panel(page).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.className ?? "");
    await eventually(async () => (await focused()) === "panel approval", "the panel has the focus");
    // Round through everything in it, and it does not leave.
    const seen = new Set<string>();
    for (let press = 0; press < 12; press += 1) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.closest(".panel") !== null)).toBe(true);
      seen.add(await page.evaluate(() => document.activeElement?.textContent ?? ""));
    }
    expect(seen.size).toBeGreaterThan(3);
    await notGuarded(page);
    await page.keyboard.press("Escape");
    await transcript(page).getByText("1: selected reject").waitFor();
    await eventually(
      () => page.evaluate(() => document.activeElement?.tagName === "TEXTAREA"),
      "the composer has the focus",
    );
  });

  it("can be left waiting with the keyboard", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await panel(page).getByRole("button", { name: "Leave it waiting" }).press("Enter");
    expect(await page.evaluate(() => document.activeElement?.closest("nav") !== null)).toBe(true);
    expect(await panel(page).count()).toBe(1);
  });

  it("hears no key in its first 500 ms, and goes on so while somebody types", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master, { prepare: (page) => page.clock.install() });
    await newSession(page, master.work);
    await say(page, "/ask 2");
    await panel(page).waitFor();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    // A new panel under the stopped clock: the second question.
    await panel(page).getByRole("button", { name: "The next one" }).click();
    const next = panel(page).getByText("2 of 2");
    await next.waitFor();
    await page.clock.runFor(20);
    await panel(page).focus();
    const guarded = () => options(page).first().getAttribute("aria-disabled");
    expect(await guarded()).toBe("true");
    await page.keyboard.press("1");
    await clickNow(page, 0);
    await page.clock.runFor(400);
    await page.keyboard.press("1");
    await page.clock.runFor(400);
    // 820 ms after it came up, 400 after the last key.
    expect(await guarded()).toBe("true");
    await page.keyboard.press("Escape");
    await page.clock.runFor(499);
    expect(await guarded()).toBe("true");
    await page.clock.runFor(2);
    expect(await guarded()).toBe("false");
    expect(await next.count()).toBe(1);
    await page.keyboard.press("1");
    await page.clock.resume();
    await transcript(page).getByText("2: selected allow").waitFor();
    expect(await transcript(page).getByText("1: selected").count()).toBe(0);
  });

  it("is not answered by what was typed for the composer", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master, { prepare: (page) => page.clock.install() });
    const editor = await master.client();
    await editor.initialize({ agent: "demo" });
    await newSession(page, master.work);
    await editor.call("session/load", { sessionId: sessionOf(page), cwd: master.work, mcpServers: [] });
    await composer(page).pressSequentially("a draft ");
    await page.clock.pauseAt(Date.now() + 3_600_000);
    void editor.prompt(sessionOf(page), "/ask");
    await panel(page).waitFor();
    // Somebody types on without looking, and never pauses for half a second.
    for (let at = 0; at < 10; at += 1) {
      await page.clock.runFor(300);
      await page.keyboard.press(String(1 + (at % 3)));
    }
    await page.clock.runFor(600);
    expect(await options(page).first().getAttribute("aria-disabled")).toBe("false");
    await page.keyboard.press("3");
    await page.clock.resume();
    await composer(page).waitFor();
    expect(await composer(page).inputValue()).toBe("a draft ");
    await transcript(page).getByText("1: selected reject").waitFor();
  });

  it("stays, with resting controls, until its end is told, and comes back when an answer does not arrive", async () => {
    await using master = await startMaster({ config });
    let fails = true;
    const held = new Deferred<void>();
    const page = await pages.open(master, {
      prepare: (page) =>
        page.routeWebSocket(/api\/socket/, (socket) => {
          const server = socket.connectToServer();
          socket.onMessage((message) => {
            const { op, id } = JSON.parse(String(message));
            if (op !== "answer" || !fails) return server.send(message);
            fails = false;
            const error = { message: "The line was cut.", reason: "offline" };
            socket.send(JSON.stringify({ type: "reply", id, ok: false, error }));
          });
          server.onMessage((message) => {
            if (!String(message).includes('"approval_resolved"')) return socket.send(message);
            void held.promise.then(() => socket.send(message));
          });
        }),
    });
    const { resolved } = await listener(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await notGuarded(page);
    await options(page).first().click();
    await panel(page).getByRole("alert").getByText("The line was cut.").waitFor();
    await notGuarded(page);
    await options(page).first().click();
    await resolved();
    await transcript(page).getByText("1: selected allow").waitFor();
    // The agent has gone on, but nobody told this page that the question is over.
    expect(await panel(page).getByText("The answer is on its way").count()).toBe(1);
    expect(await options(page).first().getAttribute("aria-disabled")).toBe("true");
    held.resolve();
    await composer(page).waitFor();
  });

  it("is decided once when two browsers and an editor race for it", async () => {
    await using master = await startMaster({ config });
    const { resolved } = await listener(master);
    const [one, two] = await Promise.all([pages.open(master), pages.open(master)]);
    await newSession(one, master.work);
    const sessionId = sessionOf(one);
    await show(two, sessionId);
    const editor = await master.client();
    await editor.initialize({ agent: "demo" });
    await editor.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
    for (let round = 1; round <= 5; round += 1) {
      await say(one, "/ask");
      const asked = await editor.next("session/request_permission");
      await Promise.all([notGuarded(one), notGuarded(two)]);
      const outcome = { outcome: "selected", optionId: "reject" };
      await Promise.all([
        clickNow(one, round % 2),
        clickNow(two, 2),
        editor.send({ jsonrpc: "2.0", id: asked.message.id, result: { outcome } }),
      ]);
      await Promise.all([composer(one).waitFor(), composer(two).waitFor()]);
      const { outcome: end } = (await resolved(round)).at(-1);
      for (const page of [one, two]) await transcript(page).getByText(`1: selected ${end.optionId}`).last().waitFor();
    }
    expect(editor.text(sessionId).match(/1: selected/g)).toHaveLength(5);
  });

  it("is dead after a restart of the daemon, and the page says that it is offline meanwhile", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await notGuarded(page);
    await master.kill9();
    await page.getByText("this may be old").first().waitFor();
    await composer(page).waitFor();
    expect(await panel(page).count()).toBe(0);
    expect(await page.locator("nav .count:not(.none)").count()).toBe(0);
    await master.serve();
    await page.getByText("this may be old").first().waitFor({ state: "detached" });
    expect(await panel(page).count()).toBe(0);
    await say(page, "/echo again");
    await transcript(page).getByText("again").last().waitFor();
  });

  it("that is answered elsewhere in the middle of a click leaves the next one unanswered", async () => {
    await using master = await startMaster({ config });
    const { client, events, resolved } = await listener(master);
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask 2");
    await notGuarded(page);
    await panel(page).getByText("1 of 2").waitFor();
    await options(page).first().hover();
    await page.mouse.down();
    const [first] = events("approval_requested");
    await client.call("_acp-master/approval/answer", {
      approvalId: first.approvalId,
      outcome: { outcome: "selected", optionId: "reject" },
    });
    await resolved();
    await panel(page).getByText("1 of 2").waitFor({ state: "detached" });
    await page.mouse.up();
    await notGuarded(page);
    expect(events("approval_resolved")).toHaveLength(1);
    expect(await panel(page).count()).toBe(1);
  });

  it("of several is counted, and each can be turned to", async () => {
    await using master = await startMaster({ config });
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask 3");
    await panel(page).getByText("1 of 3").waitFor();
    await panel(page).getByRole("button", { name: "The one before" }).click();
    await panel(page).getByText("3 of 3").waitFor();
    await panel(page).getByText("true 3").first().waitFor();
    await notGuarded(page);
    await options(page).last().click();
    await transcript(page).getByText("3: selected reject").waitFor();
    await panel(page).getByText("1 of 2").waitFor();
  });

  it("ends by itself after the time without a client when the browser was the last", async () => {
    await using master = await startMaster({ config: { ...config, approvals: { noClientSeconds: 1 } } });
    const { resolved } = await listener(master);
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask");
    await panel(page).waitFor();
    await page.close();
    expect((await resolved())[0]).toMatchObject({ outcome: { result: "expired" }, by: { kind: "no_client" } });
  });
});

describe("the inbox", () => {
  it("lists what waits in every session, and answers several at once", async () => {
    await using master = await startMaster({ config });
    const { resolved } = await listener(master);
    const page = await pages.open(master);
    for (const prompt of ["/ask 2", "/ask 1"]) {
      await newSession(page, master.work);
      await say(page, prompt);
      await panel(page).waitFor();
    }
    await page.getByRole("link", { name: /Inbox/ }).click();
    const entries = page.locator(".cards > li");
    await eventually(async () => (await entries.count()) === 3, "three wait");
    expect(await page.locator("nav .state.waiting").count()).toBe(2);
    await entries.nth(0).getByRole("checkbox").check();
    await entries.nth(2).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Allow 2 once" }).click();
    await eventually(async () => (await entries.count()) === 1, "one is left");
    expect((await resolved(2)).map((each) => each.outcome)).toEqual([
      { result: "selected", optionId: "allow" },
      { result: "selected", optionId: "allow" },
    ]);
    await page.getByRole("checkbox").first().check();
    await entries.first().locator(".options button:not([aria-disabled=true])").first().waitFor();
    await entries
      .first()
      .getByRole("button", { name: /Reject/ })
      .click();
    await page.getByText("Nothing waits for you.").waitFor();
  });

  it("refuses several at once", async () => {
    await using master = await startMaster({ config });
    const { resolved } = await listener(master);
    const page = await pages.open(master);
    await newSession(page, master.work);
    await say(page, "/ask 4");
    await panel(page).getByText("1 of 4").waitFor();
    await page.getByRole("link", { name: /Inbox/ }).click();
    await page.getByRole("checkbox", { name: "All" }).check();
    await page.getByRole("button", { name: "Refuse 4" }).click();
    await page.getByText("Nothing waits for you.").waitFor();
    const ends = await resolved(4);
    for (const end of ends) expect(end.outcome).toEqual({ result: "selected", optionId: "reject" });
  });
});
