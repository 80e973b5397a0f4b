// The comparison itself, on transcripts of a few lines: whatever is tampered with is found, and named.
import { describe, expect, it } from "vitest";
import { type Allowed, judge } from "./allowed.ts";
import { compare } from "./compare.ts";
import type { Direction, Recorded } from "./recording.ts";

const line = (direction: Direction, message: object): Recorded => ({ direction, text: JSON.stringify(message) });
const toAgent = (message: object): Recorded => line("to agent", message);
const toClient = (message: object): Recorded => line("to client", message);
const say = (text: string): Recorded =>
  toClient({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: { text } } });

/** Ids as one side numbers them. */
const conversation = (ids: { prompt: unknown; mode: unknown; permission: unknown }): Recorded[] => [
  toAgent({ jsonrpc: "2.0", id: ids.prompt, method: "session/prompt", params: { sessionId: "s" } }),
  say("one"),
  toClient({ jsonrpc: "2.0", id: ids.permission, method: "session/request_permission", params: { sessionId: "s" } }),
  toAgent({ jsonrpc: "2.0", id: ids.mode, method: "session/set_mode", params: { modeId: "m" } }),
  toAgent({ jsonrpc: "2.0", id: ids.permission, result: { outcome: {} } }),
  say("two"),
  toClient({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: ids.permission } }),
  toClient({ jsonrpc: "2.0", id: ids.mode, result: {} }),
  toClient({ jsonrpc: "2.0", id: ids.prompt, result: { stopReason: "end_turn" } }),
];
const direct = conversation({ prompt: 0, mode: 1, permission: 0 });
const through = conversation({ prompt: 7, mode: "8", permission: "9f-1" });

const found = (tampered: readonly Recorded[]): string[] =>
  compare(direct, tampered).map(({ direction, kind, message, path }) =>
    [direction, kind, message, path].filter((each) => each !== "").join(" · "),
  );
const retold = (index: number, change: (text: string) => string): Recorded[] =>
  through.with(index, { ...through[index]!, text: change(through[index]!.text) });

describe("compare", () => {
  it("takes transcripts that differ only in their ids for the same", () => {
    expect(found(through)).toEqual([]);
  });

  it("finds a changed member", () => {
    const tampered = retold(8, (text) => text.replace("end_turn", "refusal"));
    expect(found(tampered)).toEqual(["to client · changed · answer to session/prompt · /result/stopReason"]);
  });

  it("finds a member too many, and one of another type", () => {
    expect(found(retold(7, (text) => text.replace("{}", '{"a":null}')))).toEqual([
      "to client · changed · answer to session/set_mode · /result/a",
    ]);
    expect(found(retold(4, (text) => text.replace('"outcome":{}', '"outcome":[]')))).toEqual([
      "to agent · changed · answer to session/request_permission · /result/outcome",
    ]);
  });

  it("finds an error in the place of a result", () => {
    const tampered = retold(7, (text) => text.replace('"result":{}', '"error":{"code":1}'));
    expect(found(tampered)).toHaveLength(2);
  });

  it("finds a message that is missing, wherever it is", () => {
    for (const index of through.keys()) {
      expect(found(through.toSpliced(index, 1)).join(), `without message ${index}`).toContain("missing");
    }
  });

  it("finds a message that came twice, wherever it is", () => {
    for (const [index, recorded] of through.entries()) {
      expect(found(through.toSpliced(index, 0, recorded)).join(), `message ${index} twice`).toContain("extra");
    }
  });

  it("finds two messages that changed places", () => {
    const tampered = through.with(1, through[5]!).with(5, through[1]!);
    expect(found(tampered).join()).toContain("changed · session/update");
    const late = [...through.toSpliced(7, 1), through[7]!];
    expect(found(late)).toEqual([expect.stringMatching(/^to client · moved · answer to session\/(prompt|set_mode)$/)]);
  });

  it("finds an answer to another request than was asked", () => {
    const tampered = retold(7, (text) => text.replace('"8"', "7")).with(8, {
      direction: "to client",
      text: through[8]!.text.replace(":7,", ':"8",'),
    });
    expect(found(tampered).length).toBeGreaterThan(0);
  });

  it("finds an answer under an id of another type, or of nobody", () => {
    expect(found(retold(7, (text) => text.replace('"8"', "8"))).join()).toContain("missing");
    expect(found(retold(6, (text) => text.replace("9f-1", "9f-2")))).toEqual([
      "to client · changed · $/cancel_request · /params/requestId",
    ]);
  });

  it("finds other bytes beside a member that was put in", () => {
    const put = retold(8, (text) => text.replace('"end_turn"', '"end_turn","more":[{}]'));
    expect(found(put)).toEqual(["to client · changed · answer to session/prompt · /result/more"]);
    const respelled = retold(8, (text) => text.replace('"end_turn"', '"end\\u005fturn","more":[{}]'));
    expect(found(respelled)).toEqual([
      "to client · changed · answer to session/prompt · /result/more",
      "to client · spelled · answer to session/prompt",
    ]);
  });

  it("finds equal JSON in other bytes", () => {
    expect(found(retold(5, (text) => text.replace('"two"', '"tw\\u006f"')))).toEqual([
      "to client · spelled · session/update",
    ]);
    expect(found(retold(0, (text) => text.replace('"id":7,', "").replace("}}", '},"id":7}'))).join()).toContain(
      "spelled",
    );
  });
});

const entry = (name: string, covers: Allowed["covers"]): Allowed => ({
  name,
  reason: "because",
  views: ["client"],
  pairs: ["a"],
  covers,
});

describe("judge", () => {
  const differences = compare(
    direct,
    retold(8, (text) => text.replace("end_turn", "refusal")),
  );
  const at = { view: "client", pair: "a" } as const;
  const fits = entry("fits", (difference) => difference.path === "/result/stopReason");

  it("lets a listed difference pass", () => {
    expect(judge(differences, at, [fits])).toEqual({ unlisted: [], ambiguous: [], stale: [] });
  });

  it("tells of a difference that is not listed", () => {
    expect(judge(differences, at, []).unlisted).toEqual(differences);
    expect(judge(differences, { ...at, view: "agent" }, [fits]).unlisted).toEqual(differences);
    expect(judge(differences, { ...at, pair: "b" }, [fits]).unlisted).toEqual(differences);
  });

  it("tells of an entry that does not occur", () => {
    expect(judge(differences, at, [fits, entry("old", () => false)]).stale).toEqual(["old"]);
  });

  it("tells of two entries that claim the same difference", () => {
    expect(judge(differences, at, [fits, entry("wide", () => true)]).ambiguous).toEqual(differences);
  });
});
