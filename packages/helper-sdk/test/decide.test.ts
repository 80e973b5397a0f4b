// Whatever an author's decision does, only a valid choice comes out.
import { expect, test } from "vitest";
import { decide, type HelperFault } from "../src/decide.ts";
import { defineHelper, type HelperDefinition } from "../src/define-helper.ts";
import { allowOnce } from "../src/verdict.ts";
import { allowed, asked, Folder, options, request } from "./request-bench.ts";

async function decided(
  permission: HelperDefinition["permission"],
  asks = request({}),
  signal = new AbortController().signal,
) {
  using folder = new Folder();
  const helper = defineHelper({ name: "h", deadlineMs: 50, permission });
  return decide(helper, asks, folder.session("ask"), signal).catch((error: unknown) => error);
}

const fault = (kind: HelperFault["kind"]) => expect.objectContaining({ kind });

test("a valid choice passes, later answers too", async () => {
  expect(await decided(allowOnce)).toEqual(allowed);
  expect(await decided(async (asks) => allowOnce(asks))).toEqual(allowed);
});

test("unknown input is asked about, whatever the author says", async () => {
  expect(await decided(allowOnce, request({ rawInput: undefined }))).toEqual(asked);
  expect(await decided(allowOnce, request({ rawInput: [] }))).toEqual(asked);
});

test.each([
  ["an option that was not offered", "other"],
  ["an always", "always"],
])("%s is a fault", async (_what, optionId) => {
  expect(await decided(() => ({ outcome: "selected", optionId }))).toEqual(fault("bad_choice"));
});

test("one of two equal options is a fault", async () => {
  const two = [...options, { optionId: "b", name: "B", kind: "allow_once" as const }];
  expect(await decided(() => ({ outcome: "selected", optionId: "b" }), request({}, two))).toEqual(fault("bad_choice"));
});

test("a throw is a fault that repeats nothing", async () => {
  const thrown = await decided(() => {
    throw new Error("CANARY");
  });
  expect(thrown).toEqual(fault("threw"));
  expect(String(thrown)).not.toContain("CANARY");
});

test.each([undefined, null, "allow", {}, { outcome: "allow" }, { outcome: "selected" }])(
  "%j is no verdict",
  async (answer) => {
    const wrong = JSON.parse(JSON.stringify({ answer }));
    expect(await decided(() => wrong.answer)).toEqual(fault("wrong_shape"));
  },
);

test("a missed deadline is a fault, and the author's signal says so", async () => {
  let isAborted = false;
  const end = await decided(
    (_asks, _session, signal) => new Promise(() => signal.addEventListener("abort", () => (isAborted = true))),
  );
  expect(end).toEqual(fault("deadline"));
  expect(isAborted).toBe(true);
});

test("a caller that gives up is answered at once", async () => {
  const controller = new AbortController();
  const end = decided(() => new Promise(() => {}), request({}), controller.signal);
  controller.abort();
  expect(await end).toEqual(fault("cancelled"));
});

test.each([
  ["nothing", undefined, "expected an object"],
  ["no name", { permission: allowOnce }, "name"],
  ["no decision", { name: "h" }, "permission"],
  [
    "the same preset twice",
    { name: "h", permission: allowOnce, presets: [{ value: "a" }, { value: "a" }] },
    "same value",
  ],
])("%s is no Helper", (_what, definition, word) => {
  const define: (value: never) => unknown = defineHelper;
  expect(() => Reflect.apply(define, undefined, [definition])).toThrow(word);
});
