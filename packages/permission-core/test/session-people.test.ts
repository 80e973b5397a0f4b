// Who is attached to a session.
import { expect, it } from "vitest";
import { SessionPeople } from "../src/session-people.ts";

it("keeps each session's controllers in the order in which they attached", () => {
  const people = new SessionPeople();
  people.add("s1", "b", "console");
  people.add("s1", "a", "editor");
  people.add("s2", "c", "cli");
  people.add("s1", "b", "console 2");
  expect(people.ids("s1")).toEqual(["b", "a"]);
  expect(people.nameOf("s1", "b")).toBe("console 2");
  people.remove("s1", "b");
  people.remove("s1", "unknown");
  expect(people.ids("s1")).toEqual(["a"]);
  expect(people.nameOf("s1", "b")).toBe("b");
});
