// Many daemons that are killed while an agent streams numbers: an editor over the shim gets of them what the session's log
// holds, none lost, none doubled, none out of order. SHIM_KILLS says how many, SHIM_SEED by which chance.
import { expect, it } from "vitest";
import { fakeAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { Random } from "../harness/random.ts";
import { crash, editorOf, goesOn, journalOf, masterOf, startedOver, turn, written } from "../shim/restarts.ts";

const kills = Number(process.env["SHIM_KILLS"] ?? 40);
const seed = Number(process.env["SHIM_SEED"] ?? Date.now() % 1_000_000);

/** Counts on for as long as it may, or for so many frames. */
class Numbers {
  next = 0;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  async stream(process_: ScriptedProcess, frames: number): Promise<void> {
    for (const last = this.next + frames; this.next < last;) {
      const batch = Array.from({ length: Math.min(last - this.next, 1 + this.#random.below(40)) }, () => this.#frame());
      await process_.sendRaw(batch.join(""));
    }
  }

  #frame(): string {
    const text = `${this.next++} ${"ü".repeat(this.#random.below(this.#random.below(20) === 0 ? 40_000 : 60))}`;
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    return `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "a", update } })}\n`;
  }
}

interface Message {
  readonly method?: unknown;
  readonly params?: { readonly update?: { readonly content?: { readonly text?: unknown } } };
}

function numbersIn(messages: readonly Message[]): number[] {
  const texts = messages.map(({ params }) => params?.update?.content?.text);
  return texts
    .filter((text) => typeof text === "string" && /^\d/.test(text))
    .map((text) => Number.parseInt(String(text), 10));
}

it(`an editor sees what the log holds through ${kills} kills (seed ${seed})`, { timeout: kills * 20_000 }, async () => {
  const random = new Random(seed);
  await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
  await using master = await masterOf(agent);
  const editor = await editorOf(master);
  const numbers = new Numbers(random);
  let behind = 0;
  for (let round = 0; round < kills; round++) {
    const process_ = await agent.process(round);
    editor.prompt("a", "go on", 60_000).catch(() => {}); // it fails with the daemon
    await process_.received("session/prompt");
    if (random.below(3) === 0) {
      // What the editor has not read is in the log when the daemon goes: nothing is to be shown again.
      behind++;
      const before = startedOver(editor);
      const watcher = await master.client();
      await watcher.initialize();
      await watcher.call("session/resume", { sessionId: "a", cwd: master.work, mcpServers: [] });
      editor.pause();
      await numbers.stream(process_, 200 + random.below(400));
      await watcher.waitFor(() => numbersIn(watcher.received("session/update")).includes(numbers.next - 1), 60_000);
      await written(watcher);
      await watcher.close();
      await crash(master);
      editor.resume();
      await goesOn(editor, round + 1);
      expect(startedOver(editor)).toBe(before);
    } else {
      const streaming = numbers.stream(process_, 1_000_000).catch(() => {}); // until the agent is gone
      const enough = numbers.next + random.below(400);
      while (numbers.next < enough) await new Promise((resolve) => setImmediate(resolve));
      await crash(master);
      await streaming;
      await goesOn(editor, round + 1);
    }
  }
  await turn(editor, await agent.process(kills), "the end");
  await written(editor);

  const kept = numbersIn(journalOf(master).lines.map((line): Message => JSON.parse(line)));
  const views = viewsOf(numbersIn(editor.received("session/update")));
  console.log(
    `${kills} kills (${behind} with an editor far behind), ${numbers.next} numbers sent, ${kept.length} kept; ` +
      `the log's end was lost ${startedOver(editor)} times`,
  );
  // No more: a log may have been lost of which no number was shown.
  expect(views.length).toBeLessThanOrEqual(startedOver(editor) + 1);
  expect(views.at(-1)).toEqual(kept);
  // What was shown before a lost end was then the log's beginning, and what was lost.
  const isKept = new Set(kept);
  for (const view of views) {
    const common = view.filter((number) => isKept.has(number));
    expect(common).toEqual(kept.slice(0, common.length));
  }
});

/** A session that is shown from its beginning again starts anew with a lower number. */
function viewsOf(shown: readonly number[]): number[][] {
  const views: number[][] = [[]];
  for (const number of shown) {
    if (number <= (views.at(-1)!.at(-1) ?? -1)) views.push([]);
    views.at(-1)!.push(number);
  }
  return views;
}
