// The Helper protocol's messages: what passes, what does not, and the schema made from them.
import { describe, expect, it } from "vitest";
import {
  PROTOCOL_VERSION,
  answeredVersion,
  busyParams,
  fromHelper,
  helperMethods,
  helperProtocolSchema,
  initializeResult,
  isHook,
  masterMethods,
  narrowestPreset,
  requestPermissionParams,
  requestPermissionResult,
  sessionChangedParams,
  sessionStartResult,
  toHelper,
  toolCallParams,
  toolCallResult,
} from "../../src/index.ts";

describe("messages", () => {
  it("every method has a schema, and only requests have results", () => {
    expect(Object.keys(toHelper).toSorted()).toEqual(Object.values(helperMethods).toSorted());
    expect(Object.keys(fromHelper).toSorted()).toEqual(Object.values(masterMethods).toSorted());
    for (const message of Object.values(toHelper)) expect("result" in message).toBe(message.kind === "request");
  });

  it("a permission request passes with everything the agent put into it", () => {
    const params = {
      sessionId: "s",
      toolCall: { toolCallId: "", rawInput: [1], _meta: { theirs: true } },
      options: [{ optionId: "", kind: "surprise", name: "x", _meta: {} }],
      _meta: { "acp-master": { approvalId: "a", askedAt: 1 }, theirs: 1 },
    };
    expect(requestPermissionParams.parse(params)).toEqual(params);
  });

  it.each([
    [{ outcome: { outcome: "selected", optionId: "a" } }, true],
    [{ outcome: { outcome: "selected", optionId: "" } }, true],
    [{ outcome: { outcome: "cancelled", more: 1 } }, true],
    [{ outcome: { outcome: "ask" } }, true],
    [{ outcome: { outcome: "selected" } }, false],
    [{ outcome: { outcome: "selected", optionId: 1 } }, false],
    [{ outcome: { outcome: "allow" } }, false],
    [{ outcome: "ask" }, false],
    [{ outcome: "selected", optionId: "a" }, false],
    [{}, false],
    [null, false],
    ["ask", false],
  ])("the answer %o is %s", (answer, valid) => {
    expect(requestPermissionResult.safeParse(answer).success).toBe(valid);
  });

  it("a Helper of another version is known by its version alone", () => {
    expect(answeredVersion({ protocolVersion: 2, all: "else" })).toBe(2);
    for (const none of [{}, null, { protocolVersion: "1" }, { protocolVersion: 1.5 }]) {
      expect(answeredVersion(none)).toBeUndefined();
    }
    expect(PROTOCOL_VERSION).toBe(1);
  });

  it("hooks of later versions pass and are told apart", () => {
    const helper = { name: "h", version: "1" };
    const parsed = initializeResult.parse({ protocolVersion: 1, helper, hooks: ["turn", "later"] });
    expect(parsed.hooks.filter(isHook)).toEqual(["turn"]);
  });

  it("a wrong shape is refused", () => {
    expect(toolCallResult.safeParse({ verdict: "drop" }).success).toBe(false);
    expect(sessionStartResult.safeParse({ presets: [{ value: "", name: "x", width: 0 }] }).success).toBe(false);
    expect(sessionChangedParams.safeParse({ sessionId: "s", change: "other" }).success).toBe(false);
    expect(busyParams.safeParse({ sessionId: "s", busy: 1 }).success).toBe(false);
    expect(
      toolCallParams.safeParse({ sessionId: "s", update: { sessionUpdate: "plan", toolCallId: "t" } }).success,
    ).toBe(false);
  });
});

describe("narrowestPreset", () => {
  it("is the first entry of least width", () => {
    const presets = [2, 0, 0, 4].map((width, n) => ({ value: `p${n}`, name: "", width }));
    expect(narrowestPreset(presets)?.value).toBe("p1");
    expect(narrowestPreset([])).toBeUndefined();
  });
});

describe("helperProtocolSchema", () => {
  it("is plain JSON with every message in it", () => {
    const schema: unknown = JSON.parse(JSON.stringify(helperProtocolSchema()));
    expect(schema).toMatchObject({
      protocolVersion: 1,
      toHelper: {
        "helper/tool_call": { kind: "request", result: { properties: { verdict: { enum: ["pass", "hide"] } } } },
      },
      fromHelper: { "helper/busy": { kind: "notification", params: { required: ["sessionId", "busy"] } } },
    });
  });
});
