import { expect, test } from "vitest";
import { idFromStart } from "../../src/client/id-start.ts";
import { CommandError, exitCodes } from "../../src/display/errors.ts";

const ids = ["3f0c-1111", "3f0c-2222", "3f0c", "abcdef", "abcxyz"];
const find = (given: string): string =>
  idFromStart({ given, ids, what: "session", none: () => new CommandError(exitCodes.notFound, "none", "Look.") });

test("a whole id is itself, also where others begin with it", () => {
  expect(find("3f0c")).toBe("3f0c");
});

test("a beginning that only one has is that one", () => {
  expect(find("3f0c-1")).toBe("3f0c-1111");
  expect(find("abcd")).toBe("abcdef");
});

test("a beginning of several is refused and names them", () => {
  expect(() => find("3f0c-")).toThrow("3f0c- begins more than one session");
  expect(() => find("3f0c-")).toThrow(expect.objectContaining({ exitCode: 2 }));
});

test("less than four characters, and what nobody begins with, is nobody's", () => {
  for (const given of ["abc", "", "zzzz", "3F0C-1"]) expect(() => find(given)).toThrow("none");
});
