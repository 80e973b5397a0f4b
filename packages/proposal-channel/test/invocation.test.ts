import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Command, type Shell, type Spelling, recognise, render, template } from "../src/invocation.ts";
import { bytes, channel } from "./channels.ts";

const program = "/opt/acp/acp-propose";
const forms: [Shell, Spelling][] = [
  ["sh", "json"],
  ["sh", "b64url"],
  ["powershell", "json"],
  ["powershell", "b64url"],
  ["argv", "json"],
  ["argv", "b64url"],
];
const json = '{"a":"it\'s","b":[1,"\\u2028"]}';

function line(shell: Shell, text = json, spelling: Spelling = "json"): Command {
  const command = render(shell, { channel: channel(), payload: bytes(text), spelling }, program);
  if (command === undefined) throw new Error("this payload has no such form");
  return command;
}

function why(shell: Shell, command: Command): string {
  const read = recognise(shell, command, program);
  return read.ok ? "recognised" : read.why;
}

test("each form is written exactly as the contract says", () => {
  const start = channel();
  expect(line("sh")).toBe(`"$ACP_PROPOSE" --channel ${start} --payload-json '{"a":"it'\\''s","b":[1,"\\u2028"]}'`);
  expect(line("powershell")).toBe(
    `& "$env:ACP_PROPOSE" --channel ${start} --payload-json '{"a":"it''s","b":[1,"\\u2028"]}'`,
  );
  expect(line("sh", '{"a":1}', "b64url")).toBe(`"$ACP_PROPOSE" --channel ${start} --payload-b64url eyJhIjoxfQ`);
  expect(line("powershell", '{"a":1}', "b64url")).toBe(
    `& "$env:ACP_PROPOSE" --channel ${start} --payload-b64url eyJhIjoxfQ`,
  );
  expect(line("argv")).toEqual([program, "--channel", start, "--payload-json", json]);
  expect(line("argv", '{"a":1}', "b64url")).toEqual([program, "--channel", start, "--payload-b64url", "eyJhIjoxfQ"]);
});

test("what a prompt shows becomes the canonical command when its placeholder is replaced", () => {
  expect(template("sh", channel(), "json")?.replace("<json>", '{"a":1}')).toBe(line("sh", '{"a":1}'));
  expect(template("powershell", channel(), "b64url")?.replace("<base64url of the json>", "eyJhIjoxfQ")).toBe(
    line("powershell", '{"a":1}', "b64url"),
  );
  expect(template("argv", channel(), "json")).toBeUndefined();
});

describe.each(forms)("%s with %s", (shell, spelling) => {
  test("every payload that it can carry comes back as the same bytes", () => {
    const texts = fc.oneof(
      fc.json({ stringUnit: "grapheme" }),
      fc
        .array(fc.constantFrom("'", '"', "\\", "$", "`", "!", " ", "\u2019", "%", "\n", "é", "😀"), { maxLength: 40 })
        .map((parts) => JSON.stringify({ t: parts.join("") })),
    );
    let carried = 0;
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 1e9 }), (text, nonce) => {
        const payload = bytes(JSON.stringify(JSON.parse(text)));
        const invocation = { channel: channel(nonce), payload, spelling };
        const command = render(shell, invocation, program);
        if (command === undefined) {
          // Only quoted forms have characters that they cannot carry.
          expect(spelling).toBe("json");
          return;
        }
        carried += 1;
        expect(recognise(shell, command, program)).toEqual({ ok: true, invocation });
      }),
      { numRuns: 400 },
    );
    expect(carried).toBeGreaterThan(200);
  });

  test("one character more, less or changed is never read as the same proposal", () => {
    const whole = line(shell, json, spelling);
    const text = typeof whole === "string" ? whole : whole.join("\u0000");
    const edits = fc.tuple(
      fc.nat(text.length),
      fc.constantFrom("", "insert", "replace"),
      fc.constantFrom(" ", "'", '"', "\\", "$", ";", "&", "|", "a", "A", "0", "=", "\n", "\u00a0", "-"),
    );
    fc.assert(
      fc.property(edits, ([at, kind, put]) => {
        const changed = text.slice(0, at) + (kind === "" ? "" : put) + text.slice(kind === "insert" ? at : at + 1);
        fc.pre(changed !== text);
        const command = typeof whole === "string" ? changed : changed.split("\u0000");
        const read = recognise(shell, command, program);
        if (!read.ok) return;
        const original = recognise(shell, whole, program);
        expect(read).not.toEqual(original);
        expect(render(shell, read.invocation, program)).toEqual(command);
      }),
      { numRuns: 1500 },
    );
  });
});

describe.each(["sh", "powershell"] as const)("%s refuses", (shell) => {
  const good = String(line(shell, '{"a":"b"}'));
  const prefix = shell === "sh" ? '"$ACP_PROPOSE"' : '& "$env:ACP_PROPOSE"';

  test.each([
    ["a leading blank", ` ${good}`, "other_start"],
    ["a second payload", `${good} --payload-json '{}'`, "bad_quoting"],
    ["a payload before", good.replace(" --payload-json", " --payload-json '{}' --payload-json"), "bad_quoting"],
    ["a trailing word", `${good} x`, "bad_quoting"],
    ["a trailing blank", `${good} `, "bad_quoting"],
    ["a line feed at the end", `${good}\n`, "control_character"],
    ["a line feed inside", good.replace('"b"', '"\n"'), "control_character"],
    ["a carriage return", good.replace('"b"', '"\r"'), "control_character"],
    ["a line separator", good.replace('"b"', '"\u2028"'), "control_character"],
    ["a next-line character", good.replace('"b"', '"\u0085"'), "control_character"],
    ["DEL", good.replace('"b"', '"\u007f"'), "control_character"],
    ["half a surrogate pair", good.replace('"b"', '"\ud800"'), "control_character"],
    ["the program without quotes", good.replace(/"(\$[^"]*)"/, "$1"), "other_start"],
    ["the program by name", good.replace(prefix, "acp-propose"), "other_start"],
    ["the program by path", good.replace(prefix, program), "other_start"],
    ["another case of the variable", good.replace("ACP_PROPOSE", "Acp_Propose"), "other_start"],
    ["a variable in braces", good.replace(/\$(env:)?ACP_PROPOSE/, "${$1ACP_PROPOSE}"), "other_start"],
    ["two blanks", good.replace(" --channel ", "  --channel "), "other_start"],
    ["two blanks before the payload", good.replace(" --payload", "  --payload"), "no_payload"],
    ["a tab for a blank", good.replace(" --payload", "\t--payload"), "control_character"],
    ["an equals sign", good.replace("--channel ", "--channel="), "other_start"],
    ["flags in another order", `${prefix} --payload-json '{}' --channel ${channel()}`, "other_start"],
    ["an unknown flag", good.replace("--payload-json", "--payload-file"), "no_payload"],
    ["double quotes", good.replaceAll("'", '"'), "bad_quoting"],
    ["no quotes", good.replaceAll("'", ""), "bad_quoting"],
    ["one quote", good.slice(0, -1), "bad_quoting"],
    ["an upper-case channel", good.replace(/v1\.\w{32}/, (text) => text.toUpperCase()), "bad_channel"],
    ["a quoted channel", good.replace(channel(), `'${channel()}'`), "no_payload"],
    ["a pipe", `${good} | cat`, "bad_quoting"],
    ["a pipe into it", `echo x | ${good}`, "other_start"],
    ["a here-document", `${good} <<EOF`, "bad_quoting"],
    ["a redirection", `${good} > out`, "bad_quoting"],
    ["an assignment before", `A=1 ${good}`, "other_start"],
    ["a substitution after", `${good}$(id)`, "bad_quoting"],
    ["white space in the JSON", good.replace('{"a":', '{"a": '), "payload_not_compact_json"],
    ["a duplicate key", good.replace('{"a":"b"', '{"a":1,"a":"b"'), "payload_not_compact_json"],
    ["a lone surrogate escape", good.replace('"b"', '"\\ud800"'), "payload_not_compact_json"],
    ["a byte order mark", good.replace("{", "\ufeff{"), "payload_not_compact_json"],
    ["no payload", good.replace(/'.*'/, "''"), "payload_size"],
    ["8193 bytes", good.replace('"b"', `"${"x".repeat(8193 - 8)}"`), "payload_size"],
    ["padding in base64url", `${prefix} --channel ${channel()} --payload-b64url e30=`, "bad_base64url"],
    ["base64 of the other alphabet", `${prefix} --channel ${channel()} --payload-b64url Ij8+Ig`, "bad_base64url"],
    ["bits that base64url drops", `${prefix} --channel ${channel()} --payload-b64url e31`, "bad_base64url"],
    ["quoted base64url", `${prefix} --channel ${channel()} --payload-b64url 'e30'`, "bad_base64url"],
    ["base64url of no UTF-8", `${prefix} --channel ${channel()} --payload-b64url _w`, "payload_not_utf8"],
    [
      "base64url of spaced JSON",
      `${prefix} --channel ${channel()} --payload-b64url eyAifQ`,
      "payload_not_compact_json",
    ],
  ])("%s", (_what, command, reason) => {
    expect(why(shell, good)).toBe("recognised");
    expect(why(shell, command)).toBe(reason);
  });

  test.each([
    '{"b":1,"a":2}',
    '{"a":"\\u0041\\n"}',
    "[1.0,1e2,-0]",
    '"--payload-json"',
    '{"t":" --payload-json "}',
    "1",
  ])("not %s", (text) => {
    expect(why(shell, line(shell, text))).toBe("recognised");
  });

  test("not 8192 bytes", () => {
    expect(why(shell, line(shell, `"${"x".repeat(8190)}"`))).toBe("recognised");
    expect(why(shell, line(shell, `"${"é".repeat(4095)}"`, "b64url"))).toBe("recognised");
  });
});

test("PowerShell's other quotes are refused in JSON and fine as escapes or in base64url", () => {
  for (const quote of ["\u2018", "\u2019", "\u201a", "\u201b"]) {
    const raw = `& "$env:ACP_PROPOSE" --channel ${channel()} --payload-json '{"a":"${quote}"}'`;
    expect(why("powershell", raw)).toBe("bad_quoting");
    const escaped = `\\u${quote.charCodeAt(0).toString(16)}`;
    expect(why("powershell", raw.replace(quote, escaped))).toBe("recognised");
    expect(why("powershell", line("powershell", `"${quote}"`, "b64url"))).toBe("recognised");
    expect(why("sh", line("sh", `"${quote}"`))).toBe("recognised");
  }
});

test("quotes that are no escape of this shell are refused", () => {
  const prefix = `"$ACP_PROPOSE" --channel ${channel()} --payload-json `;
  expect(why("sh", `${prefix}'"a''b"'`)).toBe("bad_quoting");
  expect(why("sh", `${prefix}'"a'"'"'b"'`)).toBe("bad_quoting");
  expect(why("sh", `${prefix}'"a'\\'''b"'`)).toBe("bad_quoting");
  expect(why("powershell", `& "$env:ACP_PROPOSE" --channel ${channel()} --payload-json '"a'\\''b"'`)).toBe(
    "bad_quoting",
  );
  expect(why("powershell", `& "$env:ACP_PROPOSE" --channel ${channel()} --payload-json '"a'b"'`)).toBe("bad_quoting");
});

test("an argument list needs the program's own path, five elements and no control characters", () => {
  const good = line("argv", '{"a":1}');
  if (typeof good === "string") throw new Error("expected a list");
  expect(why("argv", good)).toBe("recognised");
  expect(why("argv", ["/other", ...good.slice(1)])).toBe("other_start");
  expect(why("argv", [...good, "x"])).toBe("not_this_form");
  expect(why("argv", good.slice(0, 4))).toBe("not_this_form");
  expect(why("argv", good.join(" "))).toBe("not_this_form");
  expect(why("argv", good.with(4, '"\n"'))).toBe("control_character");
  expect(why("argv", good.with(1, "--Channel"))).toBe("other_start");
  expect(why("argv", good.with(3, "--payload"))).toBe("no_payload");
  expect(recognise("argv", good, "").ok).toBe(false);
});

test("only the declared shell's spelling counts", () => {
  for (const [written] of forms) {
    for (const [read] of forms) {
      expect(recognise(read, line(written), program).ok, `${written} read as ${read}`).toBe(written === read);
    }
  }
});
