import { expect, test } from "vitest";
import { type Ask, sessionRow, sessionRows } from "../../src/client/session-rows.ts";

/** A daemon that answers every page from a function. */
const daemon =
  (page: (params: { cursor?: string }) => object): Ask =>
  async (_method, params) =>
    JSON.parse(JSON.stringify(page(params)));

test("reads all pages with the same filter", async () => {
  const asked: object[] = [];
  const ask = daemon((params) => {
    asked.push(params);
    return params.cursor === undefined
      ? { sessions: [{ sessionId: "a" }], nextCursor: "second" }
      : { sessions: [{ sessionId: "b" }], nextCursor: null };
  });
  expect((await sessionRows(ask, { cwd: "/w" })).map((row) => row.sessionId)).toEqual(["a", "b"]);
  expect(asked).toEqual([{ cwd: "/w" }, { cwd: "/w", cursor: "second" }]);
});

test("a daemon that repeats a cursor ends the reading", async () => {
  const repeating = daemon(() => ({ sessions: [{ sessionId: "a" }], nextCursor: "same" }));
  expect(await sessionRows(repeating)).toHaveLength(2);
});

test("an unknown session is exit code 4", async () => {
  const ask = daemon(() => ({ sessions: [{ sessionId: "b" }] }));
  await expect(sessionRow(ask, "b")).resolves.toEqual({ sessionId: "b" });
  await expect(sessionRow(ask, "c")).rejects.toMatchObject({ exitCode: 4 });
});
