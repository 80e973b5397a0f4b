// Daemons that die while an agent streams: what the editor gets over the shim is what the session's log holds, once and in order.
import { truncateSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Home } from "../harness/home.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, editorOf, goesOn, journalOf, masterOf, startedOver, turn, written } from "./restarts.ts";

const scripted = () => fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });

describe("an editor whose daemon was killed", () => {
  it("gets what it had not read yet, the line that broke off too", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const other = await master.client();
    await other.initialize();
    await other.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    const first = await agent.process(0);
    await turn(editor, first, "begin");
    editor.pause();
    // Far more than the pipes between agent and editor hold: the last that the shim gets ends within a line.
    const pieces = Array.from({ length: 6 }, (_, n) => String(n).repeat(1 << 20));
    for (const piece of pieces) await first.say("a", piece);
    // The prompt, its answer, and all pieces.
    await other.waitFor(() => other.updates("a").length >= 2 + pieces.length);
    await written(other);
    await crash(master);
    editor.resume();
    await goesOn(editor);
    await turn(editor, await agent.process(1), "end");
    expect(editor.text("a") === `begin${pieces.join("")}end`).toBe(true);
    expect(editor.lines.all.every(({ isJson }) => isJson)).toBe(true);
    expect(startedOver(editor)).toBe(0);
  });

  /** The log as a daemon would have left it that was killed before it had written the rest. */
  const losses: [string, (home: Home, lines: string[]) => void, number][] = [
    ["its last frame", (home, lines) => cutTo(home, lines, 2, 0), 2],
    ["a part of its last frame", (home, lines) => cutTo(home, lines, 2, 20), 2],
    ["all of it", (home, lines) => cutTo(home, lines, 0, 0), 0],
  ];

  it.each(losses)("sees a session that lost %s from its beginning again", async (_, lose, left) => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    const first = await agent.process(0);
    for (const text of ["one", "two", "three"]) await first.say("a", text);
    await editor.waitFor(() => editor.text("a") === "onetwothree");
    await written(editor);
    await crash(master);
    const { lines } = journalOf(master);
    expect(lines).toHaveLength(3);
    lose(master, lines);
    await master.serve();
    await goesOn(editor);
    await turn(editor, await agent.process(1), "four");
    const again = ["one", "two", "three"].slice(0, left).join("");
    expect(editor.text("a")).toBe(`onetwothree${again}four`);
    expect(startedOver(editor)).toBe(1);
  });

  it("is not misled by a log that grew again behind a lost tail", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    const first = await agent.process(0);
    for (const text of ["one", "two"]) await first.say("a", text);
    await editor.waitFor(() => editor.text("a") === "onetwo");
    await written(editor);
    await crash(master);
    cutTo(master, journalOf(master).lines, 1, 0);
    // Another client is faster, and what it adds ends where the lost frame did.
    editor.program!.child.kill("SIGSTOP");
    await master.serve();
    const other = await master.client();
    await other.initialize();
    await other.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    const second = await agent.process(1);
    const prompt = other.prompt("a", "x", 20_000);
    const request = await second.received("session/prompt");
    await second.say("a", "TWO");
    await second.answer(request, { stopReason: "end_turn" });
    await prompt;
    await written(other);
    editor.program!.child.kill("SIGCONT");
    await goesOn(editor);
    expect(startedOver(editor)).toBe(1);
    await editor.waitFor(() => editor.text("a") === "onetwooneTWO");
  });
});

function cutTo(home: Home, lines: readonly string[], frames: number, more: number): void {
  const { path } = journalOf(home);
  const kept = lines.slice(0, frames).map((line) => `${line}\n`);
  truncateSync(path, Buffer.byteLength(kept.join("")) + more);
}
