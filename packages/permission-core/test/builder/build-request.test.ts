// Requests that we raise ourselves, field by field.
import { describe, expect, it } from "vitest";
import { buildRequest, buildToolCall } from "../../src/builder/build-request.ts";
import type { DescribedCall } from "../../src/builder/build-request.ts";
import { ToolCallIds } from "../../src/builder/tool-call-ids.ts";

const call = (described: DescribedCall): ReturnType<typeof buildToolCall> => buildToolCall(described, "id");

describe("buildRequest", () => {
  it("builds the whole request", () => {
    const request = buildRequest(
      {
        sessionId: "s",
        toolsName: "local_shell",
        toolName: "local_shell",
        args: { command: "python3 -V" },
        policyName: "p",
        matchedRule: 0,
      },
      new ToolCallIds(),
    );
    const _meta = {
      "acp-master": { toolsName: "local_shell", toolName: "local_shell", policyName: "p", matchedRule: 0 },
    };
    expect(request).toEqual({
      sessionId: "s",
      toolCall: {
        toolCallId: "local_shell.local_shell",
        title: "local_shell.local_shell: python3 -V",
        kind: "execute",
        status: "pending",
        rawInput: { command: "python3 -V" },
        content: [{ type: "content", content: { type: "text", text: "python3 -V" } }],
        _meta,
      },
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "deny", name: "Deny", kind: "reject_once" },
      ],
      _meta,
    });
  });

  it("once before always: nothing but one-time options unless the caller gives its own", () => {
    const own = [{ optionId: "x", name: "X", kind: "allow_always" }] as const;
    expect(buildRequest({ sessionId: "s" }, new ToolCallIds()).options.map(({ kind }) => kind)).toEqual([
      "allow_once",
      "reject_once",
    ]);
    expect(buildRequest({ sessionId: "s", options: own }, new ToolCallIds()).options).toEqual(own);
  });

  it("leaves out every key that has nothing to hold", () => {
    expect(buildRequest({ sessionId: "s" }, new ToolCallIds())).toEqual({
      sessionId: "s",
      toolCall: { toolCallId: "tool_call", title: "Tool call", kind: "other", status: "pending" },
      options: expect.any(Array),
    });
  });
});

describe("title", () => {
  it.each([
    [{ toolsName: "a", toolName: "b" }, "a.b"],
    [{ toolsName: "a" }, "a"],
    [{ toolName: "b" }, "b"],
    [{}, "Tool call"],
    [{ toolName: "read_file", args: { path: "x" } }, "read_file: x"],
    [{ toolName: "read_file", args: { path: "read" } }, "read_file"],
    [{ args: { path: "x" } }, "Tool call: x"],
  ])("of %o is %s", (described, title) => {
    expect(call(described).title).toBe(title);
  });
});

describe("rawInput", () => {
  it("is absent when the arguments are empty or cannot be written as JSON", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const args of [undefined, {}, cycle, { big: 1n }]) expect(call({ args })).not.toHaveProperty("rawInput");
    expect(call({ args: { a: null } }).rawInput).toEqual({ a: null });
  });
});

describe("locations", () => {
  it("is the path of the diff, else the trimmed path of the arguments", () => {
    expect(call({ args: { path: " a " } }).locations).toEqual([{ path: "a" }]);
    expect(call({ args: { path: "a" }, diffPath: " d " }).locations).toEqual([{ path: "d" }]);
    expect(call({ args: { path: " " } })).not.toHaveProperty("locations");
    expect(call({ args: { path: 7 } })).not.toHaveProperty("locations");
  });
});

describe("content", () => {
  const path = { args: { path: "a" } };

  it("a changed file is a diff", () => {
    expect(call({ ...path, diffOld: "x", diffNew: "y", diff: "unified" }).content).toEqual([
      { type: "diff", path: "a", oldText: "x", newText: "y" },
    ]);
  });

  it("a new file has no old text, an emptied one has an empty new text", () => {
    expect(call({ ...path, diffNew: "y" }).content).toEqual([{ type: "diff", path: "a", newText: "y" }]);
    expect(call({ ...path, diffOld: "x", diffNew: "" }).content).toEqual([
      { type: "diff", path: "a", oldText: "x", newText: "" },
    ]);
  });

  it.each([
    ["nothing changes", { ...path, diffOld: "x", diffNew: "x", diff: "unified" }],
    ["both are empty", { ...path, diffOld: "", diffNew: "", diff: "unified" }],
    ["there is no path", { args: { path: " " }, diffOld: "x", diffNew: "y", diff: "unified" }],
  ])("where %s the unified diff is shown", (_, described) => {
    expect(call(described).content).toEqual([{ type: "content", content: { type: "text", text: "unified" } }]);
  });

  it("a blank diff gives way to the summary, and no summary to no content", () => {
    expect(call({ args: { path: "a" }, diff: " \n" }).content).toEqual([
      { type: "content", content: { type: "text", text: "a" } },
    ]);
    expect(call({ diff: " \n" })).not.toHaveProperty("content");
  });
});

describe("_meta", () => {
  it("holds what is set, an empty text and rule 0 included, and is the same on request and call", () => {
    const request = buildRequest({ sessionId: "s", diffOld: "", matchedRule: 0 }, new ToolCallIds());
    expect(request._meta).toEqual({ "acp-master": { diffOld: "", matchedRule: 0 } });
    expect(request.toolCall._meta).toEqual(request._meta);
  });
});
