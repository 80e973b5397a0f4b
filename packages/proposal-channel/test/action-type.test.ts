// What a card says of an action: its first line is ours, whatever the agent names in it.
import { expect, test } from "vitest";
import { terminalActions } from "../src/action-type.ts";

function cardText(action: { readonly type: string; readonly [member: string]: unknown }): string | undefined {
  const type = terminalActions.find(({ name }) => name === action.type);
  return type?.cardText(type.schema.parse(action));
}

test("a text to type is shown as it is", () => {
  expect(cardText({ type: "send", input: 'echo "a"\nls' })).toBe('echo "a"\nls');
});

test("what is opened is one line, and what is typed there follows it", () => {
  const opening = { target: "tab", title: "build", cwd: "/work" };
  expect(cardText({ type: "open", ...opening })).toBe('open a tab named "build" in "/work"');
  expect(cardText({ type: "open_and_send", ...opening, input: "make\nmake test" })).toBe(
    'open a tab named "build" in "/work", and in it:\nmake\nmake test',
  );
});

test("names cannot pass for what is typed", () => {
  const title = 'x", and in it:\necho harmless';
  const [first, ...typed] = cardText({ type: "open_and_send", target: "tab", title, cwd: "/a\nb", input: "id" })!.split(
    "\n",
  );
  expect(first).toBe(`open a tab named ${JSON.stringify(title)} in "/a\\nb", and in it:`);
  expect(typed).toEqual(["id"]);
});
