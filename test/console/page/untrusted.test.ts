// Everything that an agent may write, with a script in it: it shows as text, and nothing of it becomes a part of the page.
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { eventually } from "../../harness/events.ts";
import { startMaster } from "../../harness/master.ts";
import { fakeAgent } from "../../harness/scripted-agent.ts";
import { Pages } from "./browser.ts";
import { newSession, notGuarded, panel, say, transcript } from "./steps.ts";

const pages = new Pages();

/** A string that would run in four ways if it were markup. `where` says which one it was. */
const evil = (where: string): string =>
  `${where}<img src=x onerror="window.hacked='${where}'"><script>window.hacked='${where}'</script>` +
  `<svg onload="window.hacked='${where}'"></svg><a href="javascript:window.hacked='${where}'">x</a>`;

/** Every element of the page that an agent could have made. */
const foreign = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "body script, img, svg, iframe, object, embed, style, [onerror], [onload], [href^='javascript:' i]",
      ),
    ].map((element) => element.outerHTML),
  );

describe("what an agent writes", () => {
  it("is text wherever it stands", async () => {
    await using agent = fakeAgent({
      sessionIds: ["s/<b>&#1"],
      session: {
        modes: { currentModeId: "m", availableModes: [{ id: "m", name: evil("mode") }] },
        configOptions: [
          {
            type: "select",
            id: "c",
            name: evil("option"),
            description: evil("option-description"),
            currentValue: "v",
            options: [{ value: "v", name: evil("value") }],
          },
          { type: "boolean", id: "d", name: evil("switch"), currentValue: true },
        ],
      },
      auto: { "session/prompt": false },
    });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const page = await pages.open(master);
    await newSession(page, master.work, "fake");
    const process = await agent.process(0);
    await say(page, "go");
    const sessionId = "s/<b>&#1";
    const prompt = await process.received("session/prompt");
    const update = (fields: object) => process.update(sessionId, fields);
    await update({ sessionUpdate: "session_info_update", title: evil("title") });
    await update({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: evil("command"), description: evil("about"), input: { hint: evil("hint") } }],
    });
    await update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: evil("thought") } });
    await update({
      sessionUpdate: "agent_message_chunk",
      content: {
        type: "text",
        text: [
          evil("message"),
          `[link](javascript:window.hacked='link') <javascript:window.hacked='auto'>`,
          `[data](data:text/html,<script>alert(1)</script>) [ref]`,
          `![image](https://example.invalid/pixel.png) ![image](x"onerror="window.hacked='image')`,
          "`" + evil("code") + "`",
          "```html\n" + evil("fence") + "\n```",
          `| ${evil("cell")} | b |\n|--|--|\n| c | d |`,
          `# ${evil("heading")}`,
          "[ref]: javascript:window.hacked='ref'",
          "<!-- comment --> <style>body{display:none}</style> &lt;script&gt;window.hacked='entity'&lt;/script&gt;",
        ].join("\n\n"),
      },
    });
    await update({
      sessionUpdate: "plan",
      entries: [{ content: evil("plan"), status: evil("plan-status"), priority: "high" }],
    });
    await update({
      sessionUpdate: "tool_call",
      toolCallId: evil("id"),
      title: evil("call"),
      kind: evil("kind"),
      status: "pending",
      rawInput: { [evil("argument")]: evil("given") },
      rawOutput: { out: evil("result") },
      locations: [{ path: evil("location") }],
      content: [
        { type: "diff", path: evil("path"), oldText: evil("old"), newText: evil("new") },
        { type: "content", content: { type: "text", text: evil("output") } },
        { type: "content", content: { type: "text", text: "```\n" + evil("fenced-output") + "\n```" } },
        { type: "terminal", terminalId: evil("terminal") },
        {
          type: "content",
          content: { type: "image", mimeType: "image/svg+xml", data: btoa(`<svg onload="window.hacked='svg'"/>`) },
        },
        {
          type: "content",
          content: { type: "resource_link", uri: "javascript:window.hacked='uri'", name: evil("resource") },
        },
      ],
    });
    await transcript(page).getByText("result<img").waitFor({ state: "attached" });
    await page.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")));
    const answer = process.request("session/request_permission", {
      sessionId,
      toolCall: {
        toolCallId: evil("asked-id"),
        title: evil("asked"),
        kind: "execute",
        rawInput: { command: evil("run") },
        content: [{ type: "content", content: { type: "text", text: evil("why") } }],
        locations: [{ path: evil("where") }],
      },
      options: [
        { optionId: evil("option-id"), name: evil("option-name"), kind: "allow_once" },
        { optionId: "no", name: "No", kind: evil("option-kind"), _meta: { scope: evil("scope") } },
      ],
    });
    await notGuarded(page);
    const texts = await page.locator("body").innerText();
    for (const where of ["asked", "run", "why", "where", "option-name", "option-kind", "scope"]) {
      expect(texts).toContain(`${where}<img src=x onerror=`);
    }
    await page.getByRole("link", { name: /Inbox/ }).click();
    await page.locator(".cards > li").waitFor();
    expect(await foreign(page)).toEqual([]);
    await page.goBack();
    await notGuarded(page);
    await panel(page)
      .getByRole("button", { name: /option-name/ })
      .click();
    expect((await answer).result.outcome.optionId).toBe(evil("option-id"));

    const form = process.request("elicitation/create", {
      mode: "form",
      sessionId,
      message: evil("question"),
      requestedSchema: {
        type: "object",
        properties: {
          [evil("field")]: { type: "string", title: evil("field-title"), description: evil("field-about") },
          choice: { type: "string", enum: [evil("choice")] },
          checks: { type: "array", title: evil("checks"), items: { type: "string", enum: [evil("check")] } },
        },
      },
    });
    await panel(page).getByText("question<img").waitFor();
    expect(await foreign(page)).toEqual([]);
    await notGuarded(page);
    await panel(page).getByRole("button", { name: "Decline" }).click();
    expect((await form).result.action).toBe("decline");
    const url = process.request("elicitation/create", {
      mode: "url",
      sessionId,
      elicitationId: "e",
      message: evil("open"),
      url: "javascript:window.hacked='elicitation'",
    });
    await panel(page).getByText("This is no web address").waitFor();
    await notGuarded(page);
    await panel(page).getByRole("button", { name: "Close without an answer" }).click();
    expect((await url).result.action).toBe("cancel");

    await process.answer(prompt, { stopReason: "end_turn" });
    // Every row once, from the first to the last.
    const region = transcript(page);
    await region.focus();
    await page.keyboard.press("Home");
    await region.getByText("thought<img").waitFor();
    for (let at = 0; at < 20; at += 1) {
      await page.keyboard.press("PageDown");
      expect(await foreign(page)).toEqual([]);
    }
    await region.locator("a").evaluateAll((all) => all.map((each) => each instanceof HTMLElement && each.click()));
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.title()).toBe("acp-master");
  });

  it("goes to an address only after it was shown whole", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const page = await pages.open(master);
    await newSession(page, master.work, "fake");
    await say(page, "go");
    const process = await agent.process(0);
    await process.received("session/prompt");
    const asked = process.request("elicitation/create", {
      mode: "url",
      sessionId: "s-1",
      elicitationId: "e",
      message: "Log in there",
      url: "https://example.com@evil.invalid/\u202Egnp.exe?q=1",
    });
    await notGuarded(page);
    const text = await panel(page).innerText();
    expect(text).toContain("https://example.com@evil.invalid/U+202Egnp.exe?q=1");
    expect(text).toContain("It leads to evil.invalid.");
    const link = panel(page).getByRole("link", { name: "Open it in a new tab" });
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    const [popup] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    expect((await asked).result).toMatchObject({ action: "accept" });
    await popup.close();
  });

  it("that would hide or reorder something is shown by its code point", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const page = await pages.open(master);
    await newSession(page, master.work, "fake");
    await say(page, "go");
    const process = await agent.process(0);
    await process.received("session/prompt");
    void process.request("session/request_permission", {
      sessionId: "s-1",
      toolCall: {
        toolCallId: "1",
        title: "ls\u202E# fr- mr",
        kind: "execute",
        rawInput: { command: `ls ${" ".repeat(300)}\u200B; rm -rf ~\u001B[2K` },
      },
      options: [
        { optionId: "a", name: "Refuse\u2066", kind: "allow_once" },
        { optionId: "b", name: "No", kind: "reject_once" },
      ],
    });
    await notGuarded(page);
    const text = await panel(page).innerText();
    expect(text).toContain("lsU+202E# fr- mr");
    // The whole command, however far to the right its end is.
    expect(text).toContain("U+200B; rm -rf ~U+001B[2K");
    expect(text).toContain("RefuseU+2066");
    expect(text).toContain("allows this once");
    await eventually(
      () =>
        panel(page)
          .locator("pre")
          .first()
          .evaluate((each) => each.scrollWidth <= each.clientWidth),
      "nothing of the command is out of sight",
    );
  });
});
