// The presets against what has gone wrong elsewhere: kinds, places, titles, options, unknown input.
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { judge, presets } from "../../src/reference/presets.ts";
import type { PermissionRequest } from "../../src/verdict.ts";
import { allowed, asked, Folder, options, refused, request } from "../request-bench.ts";

type PresetName = Parameters<typeof judge>[0];

const decided = (folder: Folder, preset: PresetName, asks: PermissionRequest, roots: readonly string[] = []) =>
  judge(preset, asks, folder.session(preset, roots));

const editOf = (...paths: readonly string[]) => request({ kind: "edit", locations: paths.map((path) => ({ path })) });

describe("accept-edits", () => {
  test("an edit inside the session's folders is allowed once", () => {
    using folder = new Folder();
    for (const path of ["inner.txt", "new.txt", "docs/new/deep.md"]) {
      expect(decided(folder, "accept-edits", editOf(join(folder.cwd, path)))).toEqual(allowed);
    }
    expect(decided(folder, "accept-edits", editOf("inner.txt"))).toEqual(allowed); // from the session's cwd, not the daemon's
    const root = join(folder.top, "outside");
    expect(decided(folder, "accept-edits", editOf(join(root, "key")), [root])).toEqual(allowed);
  });

  test.each([
    ["a link to a file outside", "notes.txt"],
    ["a linked folder", "linked/x"],
    ["a dead link", "dead"],
    ["a way up", "../x"],
    ["a sibling with the same prefix", "../cwd-sibling/x"],
    ["a way up out of a link", "linked/../key"],
    ["the temp folder", join(tmpdir(), "x")],
    ["the home folder", join(homedir(), ".profile")],
    ["a URI", "file:///etc/passwd"],
  ])("%s is asked", (_what, path) => {
    using folder = new Folder();
    expect(decided(folder, "accept-edits", editOf(path))).toEqual(asked);
    expect(decided(folder, "accept-edits", editOf(join(folder.cwd, "inner.txt"), path))).toEqual(asked);
  });

  test("a diff of a file outside is asked, whatever the locations say", () => {
    using folder = new Folder();
    const diff = [{ type: "diff" as const, path: "/etc/passwd", newText: "" }];
    const asks = request({ kind: "edit", locations: [{ path: join(folder.cwd, "inner.txt") }], content: diff });
    expect(decided(folder, "accept-edits", asks)).toEqual(asked);
  });

  test.each([
    ["kind execute with a harmless title", { kind: "execute" }],
    ["no kind", {}],
    ["kind other", { kind: "other" }],
    ["kind EDIT", { kind: "EDIT" }],
    ["a command among the input", { kind: "edit", rawInput: { path: "a", command: "rm" } }],
    ["delete", { kind: "delete" }],
    ["move", { kind: "move" }],
    ["input that is missing", { kind: "edit", rawInput: undefined }],
    ["input that is null", { kind: "edit", rawInput: null }],
    ["input that is a list", { kind: "edit", rawInput: [] }],
    ["input that is a number", { kind: "edit", rawInput: 7 }],
  ])("%s is asked", (_what, toolCall) => {
    using folder = new Folder();
    const locations = [{ path: join(folder.cwd, "inner.txt") }];
    expect(decided(folder, "accept-edits", request({ locations, ...toolCall }))).toEqual(asked);
  });

  test("an edit that names no place is asked", () => {
    using folder = new Folder();
    expect(decided(folder, "accept-edits", request({ kind: "edit" }))).toEqual(asked);
    expect(decided(folder, "accept-edits", editOf())).toEqual(asked);
  });

  test("places of a wrong shape are asked", () => {
    using folder = new Folder();
    for (const locations of ["inner.txt", [null], [7], [{}], [{ path: 7 }], [["inner.txt"]]]) {
      const asks = JSON.parse(JSON.stringify({ ...editOf(), toolCall: { ...editOf().toolCall, locations } }));
      expect(decided(folder, "accept-edits", asks)).toEqual(asked);
    }
  });

  test("an edit without input is judged by what was announced for its id", () => {
    using folder = new Folder();
    const session = folder.session("accept-edits");
    const bare = request({ rawInput: undefined, title: "Edit" });
    const locations = [{ path: join(folder.cwd, "inner.txt") }];
    session.see({
      sessionUpdate: "tool_call",
      toolCallId: "t",
      title: "Edit",
      kind: "edit",
      rawInput: { a: 1 },
      locations,
    });
    expect(judge("accept-edits", bare, session)).toEqual(allowed);
    session.see({ sessionUpdate: "tool_call_update", toolCallId: "t", locations: [{ path: "/etc/passwd" }] });
    expect(judge("accept-edits", bare, session)).toEqual(asked);
    session.see({
      sessionUpdate: "tool_call",
      toolCallId: "t",
      title: "Edit",
      kind: "execute",
      rawInput: {},
      locations,
    });
    expect(judge("accept-edits", bare, session)).toEqual(asked);
  });

  test("what was announced in an earlier turn, or for a call that is over, counts for nothing", () => {
    using folder = new Folder();
    const session = folder.session("accept-edits");
    const bare = request({ rawInput: undefined });
    const call = {
      sessionUpdate: "tool_call" as const,
      toolCallId: "t",
      title: "E",
      kind: "edit" as const,
      rawInput: {},
      locations: [{ path: "inner.txt" }],
    };
    session.see(call);
    session.see({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
    expect(judge("accept-edits", bare, session)).toEqual(asked);
    session.see(call);
    session.endTurn();
    expect(judge("accept-edits", bare, session)).toEqual(asked);
  });
});

describe("options", () => {
  const inside = { kind: "edit", locations: [{ path: "inner.txt" }] };
  const lists: [string, PermissionRequest["options"], object][] = [
    ["once before always, in any order", options.toReversed(), allowed],
    ["two allow_once", [...options, { optionId: "b", name: "B", kind: "allow_once" }], asked],
    ["only allow_always", options.filter((option) => option.kind === "allow_always"), asked],
    ["none", [], asked],
  ];
  test.each(lists)("%s", (_what, list, verdict) => {
    using folder = new Folder();
    expect(decided(folder, "accept-edits", request(inside, list))).toEqual(verdict);
  });

  test("a kind of tomorrow is never taken", () => {
    using folder = new Folder();
    const list = JSON.parse('[{"optionId":"p","kind":"allow_persistent","name":"Always (save)"}]');
    expect(decided(folder, "allow-all", request(inside, list))).toEqual(asked);
    expect(decided(folder, "deny-all", request(inside, list))).toEqual({ outcome: "cancelled" });
  });
});

const those = (member: string) => presets.filter((preset) => member in preset).map((preset) => preset.value);

describe("the other presets", () => {
  test("read-only allows reads inside, refuses changes, asks about the rest", () => {
    using folder = new Folder();
    const at = (kind: string, path: string) => decided(folder, "read-only", request({ kind, locations: [{ path }] }));
    expect(at("read", "inner.txt")).toEqual(allowed);
    expect(at("search", "docs")).toEqual(allowed);
    expect(at("read", "notes.txt")).toEqual(asked);
    for (const kind of ["edit", "delete", "move", "execute"]) expect(at(kind, "inner.txt")).toEqual(refused);
    expect(at("fetch", "inner.txt")).toEqual(asked);
  });

  test("ask asks, deny-all refuses, allow-all allows what it knows", () => {
    using folder = new Folder();
    const shell = request({ kind: "execute", rawInput: { command: "python3 -V" } });
    expect(decided(folder, "ask", shell)).toEqual(asked);
    expect(decided(folder, "deny-all", shell)).toEqual(refused);
    expect(decided(folder, "allow-all", shell)).toEqual(allowed);
    expect(decided(folder, "allow-all", request({ kind: "execute", rawInput: undefined }))).toEqual(asked);
  });

  test.each(presets.filter((preset) => preset.value !== "allow-all"))(
    "$value allows no plain command and no write outside",
    ({ value }) => {
      using folder = new Folder();
      const wishes = [
        request({ kind: "execute", rawInput: { command: "python3 -V" } }),
        editOf(join(tmpdir(), "x")),
        editOf(join(homedir(), "x")),
      ];
      for (const wish of wishes) expect(decided(folder, value, wish)).not.toEqual(allowed);
    },
  );

  test("each declares what the router needs to know", () => {
    expect(presets.map((preset) => [preset.value, preset.width])).toEqual([
      ["deny-all", 0],
      ["read-only", 1],
      ["ask", 2],
      ["accept-edits", 3],
      ["allow-all", 4],
    ]);
    expect(those("confirm")).toEqual(["allow-all"]);
    expect(those("refuseWrites")).toEqual(["deny-all", "read-only"]);
    expect(those("refuseAll")).toEqual(["deny-all"]);
  });
});
