// The page of states and events is made from the code and stands in the docs as it is made.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ticketTable } from "../src/state-table.ts";

it("docs/ticket-states.md is up to date", () => {
  const page = readFileSync(new URL("../../../docs/ticket-states.md", import.meta.url), "utf8");
  expect(ticketTable(), "run node scripts/generate-ticket-table.mjs").toBe(page);
});

it("no event lets an allow out that its own words do not give", () => {
  const allows = ticketTable()
    .split("\n")
    .filter((line) => /→ `(allow|always)`/u.test(line))
    .map((line) => line.split("|")[1]?.trim() ?? "");
  expect(new Set(allows)).toEqual(new Set(["Helper: the only `allow_once`", "client A: an allow", "by id: an allow"]));
});
