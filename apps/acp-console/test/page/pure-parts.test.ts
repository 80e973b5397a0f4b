// The small pure parts of the page.
import { describe, expect, it } from "vitest";
import { waitMs } from "../../page/src/connection/back-off.ts";
import { messageOf } from "../../page/src/connection/server-message.ts";
import { argumentLimits, inputOf } from "../../page/src/model/call-arguments.ts";
import { cutLines, cutText, limits } from "../../page/src/model/cut-text.ts";
import { diffOf } from "../../page/src/model/diff-lines.ts";
import { fieldsOf, unfillable } from "../../page/src/model/form-fields.ts";
import { afterKey, guardFrom, guardMs, isGuarded, optionOfKey } from "../../page/src/model/key-guard.ts";
import { hashOf, placeOfHash, tokenOf } from "../../page/src/model/place.ts";
import { openedAfter, settingsOf } from "../../page/src/model/settings.ts";
import { presetName, scopeOf, timeLeft } from "../../page/src/model/words.ts";

describe("the guard of a question", () => {
  it("lets nothing through for half a second", () => {
    const guard = guardFrom(1_000);
    expect(isGuarded(guard, 1_000 + guardMs - 1)).toBe(true);
    expect(isGuarded(guard, 1_000 + guardMs)).toBe(false);
  });

  it("begins again with every key of somebody who types on", () => {
    const typing = [1_100, 1_400, 1_800].reduce(afterKey, guardFrom(1_000));
    expect(isGuarded(typing, 1_800 + guardMs - 1)).toBe(true);
    expect(isGuarded(typing, 1_800 + guardMs)).toBe(false);
  });

  it("does not begin again once it was over", () => {
    const guard = guardFrom(1_000);
    expect(afterKey(guard, 1_000 + guardMs)).toBe(guard);
  });

  it("takes number keys alone, once, for options that are there", () => {
    const key = { key: "2", ctrlKey: false, altKey: false, metaKey: false, repeat: false };
    expect(optionOfKey(key, 2)).toBe(1);
    expect(optionOfKey(key, 1)).toBeUndefined();
    expect(optionOfKey({ ...key, key: "0" }, 9)).toBeUndefined();
    expect(optionOfKey({ ...key, key: "Enter" }, 9)).toBeUndefined();
    for (const held of ["ctrlKey", "altKey", "metaKey", "repeat"]) {
      expect(optionOfKey({ ...key, [held]: true }, 2)).toBeUndefined();
    }
  });
});

describe("a text that is too long", () => {
  it("is cut by characters or lines, and says how much is missing", () => {
    expect(cutText("abc", limits.block)).toEqual({ shown: "abc", rest: 0 });
    expect(cutText("abcdef", { characters: 4, lines: 9 })).toEqual({ shown: "abcd", rest: 2 });
    expect(cutText("a\nb\nc\nd", { characters: 100, lines: 2 })).toEqual({ shown: "a\nb\n", rest: 3 });
    expect(cutText("a\nb\n", { characters: 100, lines: 2 })).toEqual({ shown: "a\nb\n", rest: 0 });
    expect(cutText("a\nb\nlonger", { characters: 5, lines: Infinity })).toEqual({ shown: "a\nb\nl", rest: 5 });
  });

  it("is never cut within a character", () => {
    expect(cutText("a😀b", { characters: 2, lines: 9 })).toEqual({ shown: "a", rest: 3 });
  });

  it("is cut by whole lines where it is a diff", () => {
    const lines = Array.from({ length: 200 }, () => ({ text: "x" }));
    expect(cutLines(lines, limits.diff)).toMatchObject({ shown: { length: 120 }, rest: 80 });
    expect(cutLines([{ text: "x".repeat(20_000) }, { text: "y" }], limits.diff)).toMatchObject({ rest: 1 });
  });
});

describe("what a call is given", () => {
  it("is shown by name, texts as they are and the rest as JSON", () => {
    expect(inputOf({ command: "a\nb", count: 2, list: ["x"] })).toEqual({
      type: "arguments",
      arguments: [
        { name: "command", text: "a\nb" },
        { name: "count", text: "2" },
        { name: "list", text: '[\n  "x"\n]' },
      ],
    });
    expect(inputOf(["a"])).toMatchObject({ type: "value" });
    expect(inputOf(0)).toEqual({ type: "value", text: "0" });
    expect(inputOf(undefined)).toEqual({ type: "unknown" });
    expect(inputOf(null)).toEqual({ type: "unknown" });
  });

  it("is whole where it says what would run, and short beside a diff that says it", () => {
    const long = inputOf({ command: "x".repeat(5_000) });
    expect(argumentLimits(long, false)).toBe(limits.input);
    expect(argumentLimits(long, true)).toBe(limits.argument);
    expect(argumentLimits(inputOf({ command: "x".repeat(7_000) }), false)).toBe(limits.argument);
  });
});

const shown = (oldText: string, newText: string): string[] =>
  diffOf(oldText, newText).lines.map(({ change, text }) => `${change} ${text}`);
const noise = (seed: number): string =>
  Array.from({ length: 20_000 }, (_, at) => String((at * seed) % 7_919)).join("\n");

describe("a diff", () => {
  it("has the changed lines with three around, numbered on both sides", () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
    const diff = diffOf(lines.join("\n"), lines.with(9, "changed").join("\n"));
    expect(diff).toMatchObject({ added: 1, removed: 1, isWhiteSpace: false });
    expect(diff.lines.map((line) => line.oldLine)).toEqual([undefined, 7, 8, 9, 10, undefined, 11, 12, 13]);
    expect(diff.lines.map((line) => line.newLine)).toEqual([undefined, 7, 8, 9, undefined, 10, 11, 12, 13]);
  });

  it("of a new file has all its lines", () => {
    expect(shown("", "a\nb\n")).toEqual(["added a", "added b"]);
  });

  it("says where a line break at the end is missing", () => {
    expect(shown("a\n", "a")).toContain("gap no line break at the end");
  });

  it("knows a change of white space only", () => {
    expect(diffOf("a b\n", "a  b\n").isWhiteSpace).toBe(true);
  });

  it("does not try for ever", () => {
    // Everything goes and comes.
    expect(diffOf(noise(31), noise(57))).toMatchObject({ added: 20_000, removed: 20_000 });
  });
});

describe("a form", () => {
  const schema = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", title: "Name", minLength: 2, default: "x" },
      mail: { type: "string", format: "email" },
      many: { type: "integer", minimum: 1, maximum: 9, default: 3 },
      ok: { type: "boolean", default: true },
      one: { type: "string", oneOf: [{ const: "a", title: "The A" }, { const: "b" }] },
      some: { type: "array", items: { type: "string", enum: ["x", "y"] }, default: ["y"] },
      odd: { type: "object", title: "Odd" },
    },
  };

  it("has a field for every property that it can show, in order", () => {
    expect(fieldsOf(schema).map(({ name, label, isRequired, input }) => [name, label, isRequired, input])).toEqual([
      ["name", "Name", true, { type: "text", format: "text", value: "x", minLength: 2, maxLength: undefined }],
      ["mail", "mail", false, { type: "text", format: "email", value: "", minLength: undefined, maxLength: undefined }],
      ["many", "many", false, { type: "number", isWhole: true, value: "3", min: 1, max: 9 }],
      ["ok", "ok", false, { type: "yes-no", value: true }],
      [
        "one",
        "one",
        false,
        {
          type: "one-of",
          value: "",
          choices: [
            { value: "a", label: "The A" },
            { value: "b", label: "b" },
          ],
        },
      ],
      [
        "some",
        "some",
        false,
        {
          type: "some-of",
          value: ["y"],
          choices: [
            { value: "x", label: "x" },
            { value: "y", label: "y" },
          ],
        },
      ],
      ["odd", "Odd", false, { type: "unknown", kind: "object" }],
    ]);
  });

  it("cannot be sent when it lacks what it must have", () => {
    expect(unfillable(fieldsOf(schema))).toBeUndefined();
    expect(unfillable(fieldsOf({ ...schema, required: ["odd"] }))).toContain("Odd");
  });

  it("without a legal schema has no fields", () => {
    for (const nothing of [undefined, null, 5, { properties: [] }, { properties: "x" }]) {
      expect(fieldsOf(nothing)).toEqual([]);
    }
  });
});

describe("the settings of a session", () => {
  const opened = {
    modes: { currentModeId: "a", availableModes: [{ id: "a", name: "A" }, { id: "b" }] },
    configOptions: [
      { type: "select", id: "style", name: "Style", currentValue: "x", options: [{ value: "x", name: "X" }] },
      { type: "boolean", id: "auto", name: "Auto", currentValue: false },
      { type: "select", id: "acp-master.approvals", name: "Approvals", currentValue: "ask", options: [] },
      {
        type: "select",
        id: "m",
        name: "M",
        currentValue: "1",
        options: [{ group: "g", name: "G", options: [{ value: "1" }] }],
      },
    ],
  };

  it("are selects, and not the approvals, which have a chip", () => {
    expect(settingsOf(opened).map(({ sets, id, value, choices }) => [sets, id, value, choices.length])).toEqual([
      ["mode", "mode", "a", 2],
      ["option", "style", "x", 1],
      ["option", "auto", false, 0],
      ["option", "m", "1", 1],
    ]);
  });

  it("have no mode twice where an option says the same", () => {
    const twice = { ...opened, configOptions: [{ ...opened.configOptions[0], category: "mode" }] };
    expect(settingsOf(twice).map((setting) => setting.id)).toEqual(["style"]);
  });

  it("follow the updates", () => {
    const changed = openedAfter(opened, { sessionUpdate: "current_mode_update", currentModeId: "b" });
    expect(settingsOf(changed ?? {})[0]?.value).toBe("b");
    expect(
      settingsOf(openedAfter(opened, { sessionUpdate: "config_option_update", configOptions: [] }) ?? {}),
    ).toHaveLength(1);
    expect(openedAfter(opened, { sessionUpdate: "plan" })).toBeUndefined();
  });
});

describe("the address", () => {
  it("names a session whatever its id is", () => {
    for (const sessionId of ["a", "a/b#c%d", "日本~2"]) {
      expect(placeOfHash(hashOf({ at: "session", sessionId }))).toEqual({ at: "session", sessionId });
    }
    expect(placeOfHash("#inbox")).toEqual({ at: "inbox" });
    for (const other of ["", "#", "#x", "#session=", "#session=%"]) expect(placeOfHash(other)).toEqual({ at: "start" });
  });

  it("may carry a token", () => {
    expect(tokenOf("http://127.0.0.1:1/#token=aB_-9")).toBe("aB_-9");
    expect(tokenOf("#token=a b")).toBeUndefined();
    expect(tokenOf("http://127.0.0.1:1/")).toBeUndefined();
  });
});

describe("words", () => {
  it("spell a preset that has no name of its own", () => {
    expect(presetName("workspace-write", "")).toBe("Workspace Write");
    expect(presetName("accept-edits", "accept-edits")).toBe("Accept Edits");
    expect(presetName("accept-edits", "Edits!")).toBe("Edits!");
    expect(presetName("odd_Value", "")).toBe("odd_Value");
  });

  it("say how far an option reaches by its kind", () => {
    expect(scopeOf("allow_always")).toContain("later");
    expect(scopeOf("allow_once")).not.toContain("later");
    expect(scopeOf("")).toContain("does not say");
  });

  it("count time down to zero and no further", () => {
    expect([timeLeft(125_000), timeLeft(3_725_000), timeLeft(1), timeLeft(-5)]).toEqual([
      "2:05",
      "1:02:05",
      "0:01",
      "0:00",
    ]);
  });
});

describe("the time to the next try", () => {
  it("doubles up to ten seconds, anywhere in the upper half", () => {
    expect([0, 1, 2, 3, 9].map((failures) => waitMs(failures, 1))).toEqual([500, 1_000, 2_000, 4_000, 10_000]);
    expect([0, 9].map((failures) => waitMs(failures, 0))).toEqual([250, 5_000]);
  });
});

describe("a message of the server", () => {
  it("is taken only when it has what the page relies on", () => {
    expect(messageOf('{"type":"hello","role":"observer"}')).toMatchObject({ type: "hello" });
    for (const none of [
      "",
      "null",
      "[]",
      '"hello"',
      '{"type":"hello","role":"king"}',
      '{"type":"what"}',
      '{"type":"constructor"}',
      '{"type":"approval","approval":{"approvalId":1}}',
      '{"type":"updates","attachment":"1","sessionId":"a","updates":[]}',
      '{"type":"reply","id":1,"ok":false}',
    ]) {
      expect(messageOf(none)).toBeUndefined();
    }
    expect(messageOf(new ArrayBuffer(1))).toBeUndefined();
  });
});
