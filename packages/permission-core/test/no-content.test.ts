// The routing half cannot hold content: the compiler is asked, once about the code as it is and once about a field too many.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { recording, threeOptions } from "./recording-ports.ts";

const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

async function compile(project: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  const path = fileURLToPath(new URL(`no-content/tsconfig.${project}.json`, import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", path]);
    return { ok: true, text: stdout };
  } catch (error) {
    const text = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
    return { ok: false, text };
  }
}

it("every field of tickets, events, effects and decisions is on the list of ids, kinds, numbers and times", async () => {
  expect(await compile("proof")).toEqual({ ok: true, text: "" });
});

it("a field that could hold content does not compile", async () => {
  const { ok, text } = await compile("with-title");
  expect(ok).toBe(false);
  expect(text).toContain("proof.ts");
});

it("what a caller's object carries besides is neither kept nor shown", () => {
  const { tickets, opening } = recording();
  const marked = { ...opening(), title: "canary", options: threeOptions.map((each) => ({ ...each, name: "canary" })) };
  tickets.open(marked);
  expect(JSON.stringify(tickets.tickets())).not.toContain("canary");
});
