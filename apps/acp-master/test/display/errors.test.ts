import { describe, expect, test } from "vitest";
import { answeredError, ClientError } from "../../src/client/client-error.ts";
import { CommandError, exitCodes, explain } from "../../src/display/errors.ts";

const answered = (reason: string, message = "It did not work.") =>
  answeredError({ code: -32050, message, data: { reason } }, "0.1.0");

describe("explain", () => {
  test.each([
    ["no daemon", new ClientError("no_daemon", "no daemon runs at /s"), 3, "acp-master serve"],
    ["an unknown session", answered("unknown_session"), 4, "acp-master sessions"],
    ["an unknown agent", answered("unknown_agent"), 4, "acp-master agents"],
    ["a preset that refuses", answered("refused_by_preset"), 5, "acp-master preset"],
    ["a version mismatch", answered("version_mismatch", "Daemon 9.9.9, client 0.1.0"), 1, "acp-master restart"],
    ["a lost connection", new ClientError("connection_lost", "gone"), 1, "acp-master status"],
    ["wrong arguments", answeredError({ code: -32602, message: "No preset x" }, "0.1.0"), 1, "acp-master help"],
    ["an error without a reason", answeredError({ code: -32603, message: "Broken" }, "0.1.0"), 1, "acp-master logs"],
    ["a wrong call", new CommandError(exitCodes.usage, "no", "Do this."), 2, "Do this."],
    ["anything else", new TypeError("x is not a function"), 1, "acp-master doctor"],
    ["what is no error", "text", 1, "acp-master doctor"],
  ])("%s ends with its code and the next step", (_what, error, exitCode, next) => {
    const explained = explain(error);
    expect(explained.exitCode).toBe(exitCode);
    expect(explained.line).toContain(next);
    expect(explained.line).not.toContain("\n");
  });

  test("a message that names the command already gets no second one", () => {
    expect(explain(answered("unknown_agent", "No agent x, see: acp-master agents")).line).toBe(
      "acp-master: No agent x, see: acp-master agents.",
    );
  });

  test("foreign text in a message is made visible and stays on one line", () => {
    expect(explain(answered("busy", "a\u001b[2K\nb\u202e.")).line).toMatch(
      /^acp-master: a\\u\{1B\}\[2K\\u\{A\}b\\u\{202E\}\. Wait/,
    );
  });
});

describe("answeredError", () => {
  test("a version mismatch always names this program's version", () => {
    const error = answeredError(
      { code: -32060, message: "the daemon is 9.9.9", data: { reason: "version_mismatch" } },
      "0.1.0",
    );
    expect([error.kind, error.message]).toEqual([
      "version_mismatch",
      "the daemon is 9.9.9 (this program is version 0.1.0)",
    ]);
  });

  test("an answer of any shape is an error with a message", () => {
    expect(answeredError(null, "0.1.0")).toMatchObject({ kind: "answered_error", code: undefined, reason: undefined });
  });
});
