import { expect, test } from "vitest";
import { type Shell, recognise, render } from "../src/invocation.ts";
import { judgePermission } from "../src/judge.ts";
import { looksLikeProposal } from "../src/looks-like.ts";
import { bytes, channel } from "./channels.ts";
import { hostileCommands } from "./hostile-commands.ts";

const program = "/opt/acp/bin/acp-propose";
const options = [{ optionId: "yes", kind: "allow_once" }];
const words: Readonly<Record<Exclude<Shell, "argv">, string>> = {
  sh: '"$ACP_PROPOSE"',
  powershell: '& "$env:ACP_PROPOSE"',
};

function written(command: string, shell: "sh" | "powershell"): string {
  const canon = render(shell, { channel: channel(), payload: bytes('{"a":"b"}'), spelling: "json" });
  return command
    .replaceAll("CANON", () => String(canon))
    .replaceAll("PROGRAM", () => words[shell])
    .replaceAll("CHANNEL", channel())
    .replace(/(?<!_)\bPATH\b(?!=)/g, program)
    .replace(/(?<!\$)\bJSON\b/g, () => `'{"a":"b"}'`);
}

test("the corpus is as large as it says", () => {
  const distinct = new Set(hostileCommands.map(({ command }) => written(command, "sh")));
  expect(distinct.size).toBe(hostileCommands.length);
  expect(distinct.size).toBeGreaterThanOrEqual(200);
});

test.each(["sh", "powershell"] as const)("the canonical command itself is recognised in %s", (shell) => {
  expect(recognise(shell, written("CANON", shell)).ok).toBe(true);
});

test.each(hostileCommands)("$command is never approved without a question", ({ command, meant }) => {
  for (const shell of ["sh", "powershell"] as const) {
    const text = written(command, shell);
    for (const read of ["sh", "powershell", "argv"] as const) {
      if (text !== written("CANON", shell)) expect(recognise(read, text, program).ok, `${read}: ${text}`).toBe(false);
    }
    const agent = { name: "opencode", shell, arming: "required", program } as const;
    const call = { kind: "execute", rawInput: { command: text } };
    const judged = judgePermission(agent, call, { options, announcedKind: undefined });
    expect(["refuse", "ordinary"], text).toContain(judged.judge);
    if (shell === "sh") {
      expect(looksLikeProposal("sh", text, program), text).toBe(meant);
      expect(judged.judge, text).toBe(meant ? "refuse" : "ordinary");
    }
  }
});
