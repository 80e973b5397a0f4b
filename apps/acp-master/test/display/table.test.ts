import { describe, expect, test } from "vitest";
import { table } from "../../src/display/table.ts";

const columns = [
  { title: "Name", value: (row: { name: string; at: string }) => row.name },
  { title: "Asked at", value: (row: { name: string; at: string }) => row.at, shown: () => "3 min ago" },
];
const rows = [{ name: "a\tb\u202e", at: "2026-01-01T00:00:00.000Z" }];

describe("table", () => {
  test("prints tab-separated lines with a header where there is no terminal", async () => {
    expect(await table(columns, rows, { surface: {}, empty: "None." })).toBe(
      "name\tasked_at\na\\u{9}b\\u{202E}\t2026-01-01T00:00:00.000Z\n",
    );
    expect(await table(columns, [], { surface: {}, empty: "None." })).toBe("name\tasked_at\n");
  });

  test("prints aligned columns with the cells for people on a terminal", async () => {
    const surface = { isTTY: true };
    const text = await table(columns, rows, { surface, empty: "None." });
    expect(text.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", "")).toBe(
      "Name             Asked at\na\\u{9}b\\u{202E}  3 min ago\n",
    );
    expect(await table(columns, [], { surface, empty: "None." })).toBe("None.\n");
  });
});
