// What a policy may use of a request, its own and a foreign one.
import type { RequestPermissionRequest, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { buildRequest } from "../../src/builder/build-request.ts";
import { readRequest } from "../../src/builder/read-request.ts";
import { ToolCallIds } from "../../src/builder/tool-call-ids.ts";
import { refuse } from "../../src/choice.ts";

function request(toolCall: Partial<ToolCallUpdate>, meta?: Record<string, unknown>): RequestPermissionRequest {
  return {
    sessionId: "s",
    toolCall: { toolCallId: "t", ...toolCall },
    options: [],
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

describe("readRequest", () => {
  it("round trip: what was described comes back", () => {
    const described = {
      sessionId: "s",
      toolCallId: "t",
      toolsName: "local_fs",
      toolName: "write_file",
      args: { path: "/w/a.txt", text: "y" },
      diff: "unified",
      diffOld: "x",
      diffNew: "y",
      policyName: "p",
      policyPath: "/p",
      matchedRule: 2,
      detail: "d",
    };
    const read = readRequest(buildRequest(described, new ToolCallIds()));
    const { sessionId, toolCallId, args, ...details } = described;
    expect(read).toEqual({
      sessionId,
      toolCallId,
      details,
      named: true,
      argsKnown: true,
      args,
      kind: "edit",
      locations: [{ path: "/w/a.txt" }],
      content: [{ type: "diff", path: "/w/a.txt", oldText: "x", newText: "y" }],
      completed: false,
    });
  });

  it("foreign is unnamed, whatever its title and id look like", () => {
    const read = readRequest(request({ toolCallId: "local_fs.write_file", title: "local_fs.write_file: a" }));
    expect(read).toMatchObject({ named: false, details: {} });
  });

  it("partial meta names nothing", () => {
    for (const partial of [{ toolName: "x" }, { toolsName: "x" }, { toolsName: "x", toolName: " " }]) {
      expect(readRequest(request({}, { "acp-master": partial })).named).toBe(false);
    }
  });

  it("args known only for objects", () => {
    for (const rawInput of [null, [], [{}], "x", 7, true, undefined]) {
      expect(readRequest(request({ rawInput }))).toMatchObject({ argsKnown: false, args: {} });
    }
    expect(readRequest(request({}))).toMatchObject({ argsKnown: false, args: {} });
    expect(readRequest(request({ rawInput: {} })).argsKnown).toBe(true);
  });

  it("meta from either level, and the request's if it says anything", () => {
    const names = { toolsName: "a", toolName: "b" };
    const ofCall = { "acp-master": names };
    expect(readRequest(request({ _meta: ofCall })).named).toBe(true);
    expect(readRequest(request({ _meta: ofCall }, { "acp-master": {} })).named).toBe(true);
    expect(readRequest(request({ _meta: ofCall }, { "acp-master": "x" })).named).toBe(true);
    expect(readRequest(request({ _meta: ofCall }, { "acp-master": { detail: "d" } }))).toMatchObject({
      named: false,
      details: { detail: "d" },
    });
  });

  it("members of the wrong type are no details", () => {
    const meta = { "acp-master": { toolsName: 7, toolName: null, matchedRule: -1, detail: ["x"], more: "x" } };
    expect(readRequest(request({}, meta)).details).toEqual({});
  });
});

describe("completion", () => {
  const announced: ToolCallUpdate = {
    toolCallId: "t",
    kind: "edit",
    title: "announced",
    rawInput: { path: "a" },
    locations: [{ path: "a" }],
    _meta: { "acp-master": { toolsName: "a", toolName: "b" } },
  };

  it("a request with only an id is completed from the announced call, but not named by it", () => {
    expect(readRequest(request({}), announced)).toMatchObject({
      kind: "edit",
      argsKnown: true,
      args: { path: "a" },
      locations: [{ path: "a" }],
      completed: true,
      named: false,
    });
  });

  it("the request's own fields win, an input that is null included", () => {
    const read = readRequest(request({ kind: "delete", rawInput: null, locations: [] }), announced);
    expect(read).toMatchObject({ kind: "delete", argsKnown: false, locations: [] });
  });

  it("another id and the empty id are not completed", () => {
    expect(readRequest(request({ toolCallId: "other" }), announced).completed).toBe(false);
    const empty = { ...announced, toolCallId: "" };
    expect(readRequest(request({ toolCallId: "" }), empty).completed).toBe(false);
  });
});

it("degrades to cancelled: a request without a reject option has no other refusal", () => {
  const own = [{ optionId: "x", name: "X", kind: "allow_once" }] as const;
  expect(refuse(buildRequest({ sessionId: "s", options: own }, new ToolCallIds()).options)).toEqual({
    outcome: "cancelled",
  });
});
