// Rows as the page gets them: what a person reads comes from the agent's request, and what is too long is cut with a mark.
import { expect, it } from "vitest";
import { approvalRow, longestParams, sessionRow } from "../src/daemon/rows.ts";

const options = [
  { optionId: "a", kind: "allow_once" },
  { optionId: "b", kind: "reject_once" },
];
const row = (params: object): object => ({ approvalId: "1", options, params });

it("takes the labels from the request, by place where two options share an id", () => {
  const named = {
    options: [
      { optionId: "a", name: "First" },
      { optionId: "b", name: "Second" },
      { optionId: "a", name: "Third" },
    ],
  };
  expect(approvalRow(row(named)).options.map(({ name }) => name)).toEqual(["First", "Second"]);
  const same = [...options, { optionId: "a", kind: "allow_always" }];
  expect(approvalRow({ ...row(named), options: same }).options).toEqual([
    { optionId: "a", name: "First", kind: "allow_once" },
    { optionId: "b", name: "Second", kind: "reject_once" },
    { optionId: "a", name: "Third", kind: "allow_always" },
  ]);
  expect(approvalRow(row({ options: "none" })).options.map(({ name }) => name)).toEqual(["", ""]);
});

it("cuts texts until the row is short enough, marks it, and leaves what is short", () => {
  const long = "x".repeat(longestParams);
  const cut = approvalRow(row({ short: "y", deep: [{ long }] }));
  expect(cut).toMatchObject({ cutAt: 16_384, params: { short: "y", deep: [{ long: `${"x".repeat(16_384)}…` }] } });
  const many = approvalRow(row({ many: Array.from({ length: 200 }, () => "z".repeat(2_000)) }));
  expect(many.cutAt).toBe(256);
  expect(JSON.stringify(many).length).toBeLessThan(longestParams + 2_000);
  const numbers = approvalRow(row({ many: Array.from({ length: longestParams }, () => 1) }));
  expect(numbers).toMatchObject({ cutAt: 0, params: {} });
  expect(approvalRow(row({ long }), true)).toMatchObject({ params: { long } });
  expect(approvalRow(row({ long }), true)).not.toHaveProperty("cutAt");
});

it("makes a row of whatever comes", () => {
  for (const value of [null, 1, "x", [], {}]) {
    expect(sessionRow(value)).toMatchObject({ sessionId: "", state: "lost", clients: [], approvals: 0, review: false });
    expect(approvalRow(value)).toMatchObject({ approvalId: "", options: [], params: {} });
  }
});
