import { describe, expect, test } from "vitest";
import { render } from "../src/invocation.ts";
import { type ProposingAgent, judgePermission, judgeRow } from "../src/judge.ts";
import { bytes, channel } from "./channels.ts";

const payload = bytes('{"a":1}');
const invocation = { channel: channel(), payload, spelling: "json" } as const;
const command = String(render("sh", invocation));
const claude: ProposingAgent = { name: "claude", shell: "sh", arming: "required" };
const preflight: ProposingAgent = { ...claude, arming: "preflight" };
const once = { optionId: "yes", kind: "allow_once" };
const always = { optionId: "always", kind: "allow_always" };
const no = { optionId: "no", kind: "reject_once" };

function judge(call: object, options = [once, no], agent = claude) {
  return judgePermission(agent, call, { options, announcedKind: undefined });
}

describe("a permission request", () => {
  test("for exactly the canonical command, with one allow_once, is to be armed and allowed once", () => {
    const judged = judge({ kind: "execute", rawInput: { command } });
    expect(judged).toEqual({ judge: "arm", optionId: "yes", invocation });
  });

  test("never takes an always: with only allow_always it is refused, or asked under preflight", () => {
    const call = { kind: "execute", rawInput: { command } };
    expect(judge(call, [always, no])).toEqual({ judge: "refuse", why: "options" });
    expect(judge(call, [always, no], preflight)).toEqual({ judge: "ask", why: "options" });
    expect(judge(call, [always, once, no])).toMatchObject({ judge: "arm", optionId: "yes" });
  });

  test("with two allow_once is not silent", () => {
    const two = [once, { optionId: "mode", kind: "allow_once" }, no];
    const call = { kind: "execute", rawInput: { command } };
    expect(judge(call, two)).toEqual({ judge: "refuse", why: "options" });
    expect(judge(call, two, preflight)).toEqual({ judge: "ask", why: "options" });
  });

  test("with one key more than the agent ever sends is refused", () => {
    expect(judge({ kind: "execute", rawInput: { command, env: { A: "1" } } })).toEqual({
      judge: "refuse",
      why: "unwrapped",
    });
  });

  test("of another kind, or wrapped in another way, is refused when it holds the command", () => {
    expect(judge({ kind: "edit", rawInput: { command } })).toEqual({ judge: "refuse", why: "unwrapped" });
    expect(judge({ rawInput: { command } })).toEqual({ judge: "refuse", why: "unwrapped" });
    expect(judge({ kind: "execute", rawInput: { cmd: command } })).toEqual({ judge: "refuse", why: "unwrapped" });
  });

  test("without a kind gets that of the announced call", () => {
    const call = { rawInput: { command } };
    const rest = { options: [once, no], announcedKind: "execute" };
    expect(judgePermission(claude, call, rest).judge).toBe("arm");
    expect(judgePermission(claude, { kind: null, ...call }, rest).judge).toBe("arm");
    expect(judgePermission(claude, { kind: "other", ...call }, rest).judge).toBe("refuse");
  });

  test("for a command that is almost it is refused and says how it differs", () => {
    expect(judge({ kind: "execute", rawInput: { command: `${command} ` } })).toEqual({
      judge: "refuse",
      why: "bad_quoting",
    });
    expect(judge({ kind: "execute", rawInput: { command: `x & ${command}` } })).toEqual({
      judge: "refuse",
      why: "other_start",
    });
  });

  test("for `x; & acp-propose` in PowerShell is refused", () => {
    const agent: ProposingAgent = { ...claude, shell: "powershell" };
    const call = { kind: "execute", rawInput: { command: `x; & acp-propose --channel ${channel()}` } };
    expect(judge(call, [once], agent).judge).toBe("refuse");
  });

  test("for anything else is ordinary, whatever its title or metadata say", () => {
    expect(judge({ kind: "execute", rawInput: { command: "echo acp-propose --channel x" } }).judge).toBe("ordinary");
    expect(judge({ kind: "execute", title: command, _meta: { command }, rawInput: { command: "ls" } }).judge).toBe(
      "ordinary",
    );
    expect(judge({ kind: "execute", title: command }).judge).toBe("ordinary");
    expect(judge({ kind: "edit", rawInput: { path: "x", content: command } }).judge).toBe("ordinary");
  });

  test("of the old adapter is read as POSIX sh, whatever shell is declared", () => {
    const agent: ProposingAgent = { name: "codex", shell: "powershell", arming: "required" };
    const rawInput = { command: ["/bin/zsh", "-lc", command], call_id: "c", turn_id: "t", cwd: "/" };
    expect(judge({ kind: "execute", rawInput }, [once], agent).judge).toBe("arm");
  });

  test("as a list of arguments is recognised only for an agent that runs those", () => {
    const program = "/opt/acp-propose";
    const words = render("argv", invocation, program);
    const agent: ProposingAgent = { name: "mine", shell: "argv", arming: "required", program };
    expect(judge({ kind: "execute", rawInput: { command: words } }, [once], agent).judge).toBe("arm");
    expect(judge({ kind: "execute", rawInput: { command: words } }, [once], { ...agent, shell: "sh" }).judge).toBe(
      "refuse",
    );
  });
});

describe("an announced call", () => {
  test("is hidden as soon as its command looks like a proposal, however it is wrapped", () => {
    for (const rawInput of [{ command }, { command, extra: 1 }, { commands: [command] }, command]) {
      expect(judgeRow(claude, { kind: "execute", status: "pending", rawInput })).toEqual({
        verdict: "hide",
        final: true,
      });
    }
    expect(judgeRow(claude, { kind: "other", rawInput: { command: "acp-propose" } }).verdict).toBe("hide");
  });

  test("passes without being settled while its input is empty or may still grow", () => {
    for (const rawInput of [undefined, {}, { command: "" }, { command: '"$ACP' }, { command: "ls" }]) {
      expect(judgeRow(claude, { kind: "execute", status: "pending", rawInput })).toEqual({ verdict: "pass" });
    }
    expect(judgeRow(claude, { kind: "execute", status: "in_progress", rawInput: {} })).toEqual({ verdict: "pass" });
    expect(judgeRow(claude, { kind: "execute", status: "in_progress", rawInput: { command: '"$ACP_PR' } })).toEqual({
      verdict: "pass",
    });
  });

  test("is settled once it runs as something else, or is over", () => {
    const final = { verdict: "pass", final: true };
    expect(judgeRow(claude, { kind: "execute", status: "in_progress", rawInput: { command: "ls" } })).toEqual(final);
    expect(judgeRow(claude, { kind: "edit", status: "in_progress", rawInput: { path: "x" } })).toEqual(final);
    expect(judgeRow(claude, { kind: "execute", status: "completed" })).toEqual(final);
  });
});
