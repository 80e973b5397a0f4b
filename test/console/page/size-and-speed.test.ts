// How much a first load transfers, and how a transcript of 20,000 updates scrolls.
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { eventually } from "../../harness/events.ts";
import { startMaster } from "../../harness/master.ts";
import { fakeAgent } from "../../harness/scripted-agent.ts";
import { Pages } from "./browser.ts";
import { newSession, say, transcript } from "./steps.ts";

const pages = new Pages();

describe("the first load", () => {
  it("transfers less than 150 KB", async () => {
    await using master = await startMaster({ config: { defaultAgent: "demo" } });
    let bytes = 0;
    const types = new Set<string>();
    await pages.open(master, {
      prepare: async (page) => {
        const session = await page.context().newCDPSession(page);
        await session.send("Network.enable");
        session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
        session.on("Network.responseReceived", ({ response }) => types.add(response.mimeType));
      },
    });
    expect([...types]).toEqual(expect.arrayContaining(["text/html", "text/javascript", "text/css"]));
    console.log(`first load: ${bytes} bytes on the wire`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(150_000);
  });
});

/** Milliseconds from frame to frame, while `step` is done in each; sorted. */
const frames = (page: Page, step: string, count = 300): Promise<number[]> =>
  page.evaluate<number[]>(`(async () => {
    const region = document.querySelector(".transcript");
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let at = 0; at < ${count}; at += 1) {
      ${step};
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times.sort((a, b) => a - b);
  })()`);

const told = (times: readonly number[]): string =>
  [0.5, 0.95, 0.99, 1]
    .map((part) => `p${part * 100} ${times[Math.ceil(times.length * part) - 1]?.toFixed(1)} ms`)
    .join(", ");
const median = (times: readonly number[]): number => times[times.length >> 1] ?? 0;

describe("a transcript of 20,000 updates", () => {
  it("is there as a few rows, follows its end, and scrolls", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const page = await pages.open(master);
    await newSession(page, master.work, "fake");
    await say(page, "go");
    const process = await agent.process(0);
    const prompt = await process.received("session/prompt");
    for (let from = 0; from < 20_000; from += 1_000) {
      const lines = Array.from({ length: 1_000 }, (_, at) => line(updateOf(from + at)));
      await process.sendRaw(Buffer.from(lines.join("")));
    }
    await process.answer(prompt, { stopReason: "end_turn" });
    const region = transcript(page);
    await region.getByText("update 19999").waitFor({ timeout: 120_000 });
    expect(await region.evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight)).toBeLessThan(100);
    expect(await page.locator("*").count()).toBeLessThan(4_000);

    const idle = await frames(page, "");
    const up = await frames(page, "region.scrollTop -= 120");
    await page.mouse.move(800, 300);
    await page.mouse.wheel(0, -2_000);
    await page.getByRole("button", { name: "To the end" }).waitFor();
    await region.focus();
    await eventually(async () => {
      await page.keyboard.press("Home");
      return (await region.getByText("update 0", { exact: true }).count()) === 1;
    }, "the beginning is in sight");
    const down = await frames(page, "region.scrollTop += 120");
    const far = await frames(page, "region.scrollTop = (at * 7919 % 100) / 100 * region.scrollHeight", 60);
    console.log(`frames at rest:  ${told(idle)}`);
    console.log(`frames upwards:  ${told(up)}`);
    console.log(`frames downward: ${told(down)}`);
    console.log(`frames of jumps: ${told(far)}`);
    // In the same run, on the same machine: as good as one that does nothing, with room for a busy machine.
    for (const times of [up, down]) expect(median(times)).toBeLessThan(3 * Math.max(median(idle), 17));
    await page.getByRole("button", { name: "To the end" }).click();
    await region.getByText("update 19999").waitFor();
  });
});

const line = (update: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s-1", update } })}\n`;

/** Words with some Markdown, thoughts, calls with a diff: what a long session is made of. */
function updateOf(at: number): object {
  const text = `**update ${at}** ${"words and words ".repeat(at % 13)}\n\n`;
  const toolCallId = `call-${at}`;
  if (at % 10 === 3) return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text } };
  if (at % 10 === 5) {
    const content = [{ type: "diff", path: `/src/${at}.ts`, oldText: `a\nb\n${at}\n`, newText: `a\nB\n${at}\nc\n` }];
    return {
      sessionUpdate: "tool_call",
      toolCallId,
      title: `update ${at}`,
      kind: "edit",
      status: "completed",
      content,
    };
  }
  if (at % 10 === 7)
    return { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `- item\n- \`code\` ${text}` } };
  return { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
}
