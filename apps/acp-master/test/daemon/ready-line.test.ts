import { expect, it } from "vitest";
import { readyLine } from "../../src/daemon/ready-line.ts";

const facts = { pid: 7, socket: "/run/master.sock", version: "0.1.0" };

it("readyLine() is one line, for programs a JSON object", () => {
  expect(JSON.parse(readyLine(facts, true))).toEqual({ ready: true, ...facts });
  for (const json of [true, false]) expect(readyLine(facts, json).split("\n")).toEqual([expect.any(String), ""]);
  expect(readyLine(facts, false)).toContain(facts.socket);
});
