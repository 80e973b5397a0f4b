// Ids for calls that bring none.
import { expect, it } from "vitest";
import { ToolCallIds } from "../../src/builder/tool-call-ids.ts";

it("a given id is kept, a blank one is not an id", () => {
  const ids = new ToolCallIds();
  expect(ids.start({ toolCallId: "given", toolName: "x" })).toBe("given");
  expect(ids.start({ toolCallId: " ", toolName: "x" })).toBe("x");
});

it("unnamed repeats get distinct ids", () => {
  const ids = new ToolCallIds();
  expect([ids.start({}), ids.start({}), ids.start({})]).toEqual(["tool_call", "tool_call#2", "tool_call#3"]);
});

it("is made from the names that are there", () => {
  const ids = new ToolCallIds();
  expect(ids.start({ toolsName: "local_fs", toolName: "write_file" })).toBe("local_fs.write_file");
  expect(ids.start({ toolsName: "local_fs" })).toBe("local_fs");
  expect(ids.start({ toolName: "write_file" })).toBe("write_file");
});

it("is unique also beside a given id that looks like a made one", () => {
  const ids = new ToolCallIds();
  ids.start({ toolCallId: "x#2" });
  expect([ids.start({ toolName: "x" }), ids.start({ toolName: "x" })]).toEqual(["x", "x#3"]);
});

it("an end gets the id of its start, the oldest first", () => {
  const ids = new ToolCallIds();
  const names = { toolsName: "a", toolName: "b" };
  ids.start(names);
  ids.start(names);
  expect([ids.end(names), ids.end(names), ids.end(names)]).toEqual(["a.b", "a.b#2", undefined]);
  expect(ids.end({ toolCallId: "given" })).toBe("given");
});
