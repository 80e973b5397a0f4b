// Real agents behind `acp-master connect`: the editor stays in its session through daemons that are killed, before it has
// asked anything and after a turn.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { crash, goesOn, startedOver, written } from "../shim/restarts.ts";
import { codex, gemini } from "./real-agents.ts";
import { Stage } from "./stage.ts";

const turnMs = 60_000;
const chunksIn = (text: string): string[] => text.match(/chunk \d+ of \d+\. /g) ?? [];
const minuteOver = (time: number): Promise<void> => delay(Math.max(0, 60_000 - (time % 60_000) - (Date.now() - time)));

describe.each([codex, gemini])("$name", (agent) => {
  it("goes on for an idle editor in a session without a turn, and in one with turns", async () => {
    await using stage = await Stage.open(agent, "through the master");
    const { client: editor, master, model } = stage;
    await editor.initialize();
    const { sessionId } = await editor.newSession();
    await written(editor);
    await crash(master);
    await goesOn(editor);
    const madeAt = Date.now();
    expect((await editor.prompt(sessionId, agent.talk(2), turnMs)).result.stopReason).toBe("end_turn");
    await written(editor);
    if (agent.forgetsWithinMinute) await minuteOver(madeAt);
    const before = startedOver(editor);
    await crash(master);
    await goesOn(editor, 2);
    expect((await editor.prompt(sessionId, agent.talk(3), turnMs)).result.stopReason).toBe("end_turn");
    expect(startedOver(editor)).toBe(before);
    expect(chunksIn(editor.text(sessionId))).toEqual(chunksIn(agent.said(2) + agent.said(3)));
    // The agent remembers what was said before the daemon was killed.
    expect(JSON.stringify(model.requests.at(-1)!.conversation)).toContain("chunk 2 of 2");
  });
});
