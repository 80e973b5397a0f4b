import { describe, expect, test } from "vitest";
import { looksLikeProposal, mayBecomeProposal } from "../src/looks-like.ts";

describe("sh", () => {
  test.each([
    '"$ACP_PROPOSE"',
    "$ACP_PROPOSE --channel x",
    "${ACP_PROPOSE} x",
    "acp-propose",
    "Acp-Propose.EXE",
    "/usr/bin/acp-propose.js x",
    "\\acp-propose",
    "acp\\-propose",
    "acp-pro\\\npose",
    "'acp'-\"propose\" x",
    "  A=1 B='x y' acp-propose",
    'A="$(x)" acp-propose',
    "x|acp-propose",
    "x&&acp-propose",
    'x & "$ACP_PROPOSE" --help',
    "x\nacp-propose",
    "$(acp-propose)",
    "(acp-propose)",
    "`acp-propose`",
    "A=$(x) acp-propose",
    "echo 'a;b'; acp-propose",
  ])("%j looks like it", (command) => {
    expect(looksLikeProposal("sh", command)).toBe(true);
  });

  test.each([
    "",
    "echo acp-propose --channel x",
    "echo 'x; acp-propose'",
    'echo "x; acp-propose"',
    "echo x\\; acp-propose",
    "grep -r acp-propose .",
    "acp-proposer",
    "my-acp-propose",
    "ls",
    "'unfinished acp-propose",
  ])("%j does not", (command) => {
    expect(looksLikeProposal("sh", command)).toBe(false);
  });
});

describe("PowerShell", () => {
  test.each([
    '& "$env:ACP_PROPOSE" x',
    "$ENV:acp_propose",
    "%ACP_PROPOSE%",
    "x; & acp-propose",
    "& 'C:\\x\\acp-propose.exe'",
    "a`cp-propose",
    "x | acp-propose",
    "x && acp-propose",
  ])("%j looks like it", (command) => {
    expect(looksLikeProposal("powershell", command)).toBe(true);
  });

  test.each(["echo acp-propose", "Write-Output 'x; acp-propose'", "x & acp-propose", "A=1 acp-propose"])(
    "%j does not",
    (command) => {
      expect(looksLikeProposal("powershell", command)).toBe(false);
    },
  );
});

test("the program's own path looks like it, whatever its name", () => {
  expect(looksLikeProposal("sh", "'/opt/x y/tool' --channel c", "/opt/x y/tool")).toBe(true);
  expect(looksLikeProposal("sh", "'/opt/x y/tool' --channel c")).toBe(false);
});

test("a list of arguments is known by its program, or by the script of the shell it starts", () => {
  expect(looksLikeProposal("argv", ["/usr/bin/acp-propose", "x"])).toBe(true);
  expect(looksLikeProposal("argv", ["/opt/tool", "x"], "/opt/tool")).toBe(true);
  expect(looksLikeProposal("argv", ["/bin/bash", "-lc", 'x; "$ACP_PROPOSE"'])).toBe(true);
  expect(looksLikeProposal("argv", ["pwsh", "-Command", "x; & acp-propose"])).toBe(true);
  expect(looksLikeProposal("argv", ["echo", "acp-propose"])).toBe(false);
  expect(looksLikeProposal("argv", [])).toBe(false);
});

test("a command that is still being written may become a proposal only in its last word", () => {
  for (const growing of ["", '"$ACP_PRO', "/usr/bin/acp-", "ls; ", "ls; a", "A=1", "A=1 $"]) {
    expect(mayBecomeProposal("sh", growing), growing).toBe(true);
  }
  for (const other of ["ls", "ls -l", "ls; cat", "echo acp-propose"]) {
    expect(mayBecomeProposal("sh", other), other).toBe(false);
  }
});

test("a command of a megabyte is looked at in one pass", () => {
  const start = process.cpuUsage();
  expect(looksLikeProposal("sh", "x;".repeat(500_000))).toBe(false);
  expect(looksLikeProposal("sh", "A=1 ".repeat(250_000))).toBe(false);
  expect(looksLikeProposal("sh", `${"'".repeat(1_000_001)}acp-propose`)).toBe(true);
  expect(process.cpuUsage(start).user).toBeLessThan(10_000_000);
});
