// The boundary script must fail on one forbidden import, wherever it is and however it is written.
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "acp-master-boundaries-"));
  for (const folder of ["packages", "apps", "examples", "docs"]) {
    cpSync(join(root, folder), join(copy, folder), {
      recursive: true,
      filter: (path) => !/\/(?:node_modules|dist|test)(?:\/|$)/.test(path.slice(root.length)),
    });
  }
});

afterEach(() => rmSync(copy, { recursive: true, force: true }));

function check(): { code: number | null; errors: string } {
  const script = join(root, "scripts", "check-boundaries.mjs");
  const child = spawnSync(process.execPath, [script, "--check", "--root", copy], { encoding: "utf8" });
  return { code: child.status, errors: child.stderr };
}

test("the tree as it is keeps its boundaries", () => {
  expect(check()).toEqual({ code: 0, errors: "" });
});

test.each([
  ["packages/wire/src/spans.ts", 'import { z } from "zod";', "wire depends on nothing"],
  ["packages/wire/src/peek.ts", 'import "@acp-master/permission-core";', "may import nothing"],
  ["packages/permission-core/src/tickets.ts", 'import type { Span } from "@acp-master/wire";', "may import nothing"],
  ["packages/permission-core/src/tickets.ts", 'import { readFileSync } from "node:fs";', "does no I/O"],
  ["packages/permission-core/src/tickets.ts", "export interface ProposalPayload {}", "names ProposalPayload"],
  ["apps/acp-master/src/router/router.ts", 'import { defineHelper } from "@acp-master/helper-sdk";', "helper-sdk"],
  ["apps/acp-master/src/router/router.ts", 'const sdk = await import("@acp-master/helper-sdk");', "helper-sdk"],
  [
    "apps/acp-master/src/router/router.ts",
    'export * from "../../../../packages/helper-sdk/src/index.ts";',
    "helper-sdk",
  ],
  [
    "apps/acp-master/src/router/router.ts",
    'import { AgentSideConnection } from "@agentclientprotocol/sdk";',
    "run time",
  ],
  ["packages/helper-sdk/src/decide.ts", 'import {} from "../../../apps/acp-master/src/version.ts";', "apps/acp-master"],
])("%s with `%s` fails", (file, line, complaint) => {
  appendFileSync(join(copy, file), `\n${line}\n`);
  const { code, errors } = check();
  expect(errors).toContain(complaint);
  expect(errors).toContain(file);
  expect(code).toBe(1);
});

test("a part that is not in the table fails", () => {
  mkdirSync(join(copy, "packages", "stray", "src"), { recursive: true });
  writeFileSync(join(copy, "packages", "stray", "package.json"), '{"name":"@acp-master/stray"}');
  const { code, errors } = check();
  expect(errors).toContain("packages/stray: not in the table");
  expect(code).toBe(1);
});

test("a package graph in the docs that is out of date fails", () => {
  appendFileSync(
    join(copy, "packages/helper-sdk/src/decide.ts"),
    '\nimport type { Span as _Unused } from "@acp-master/wire";\n',
  );
  expect(check().errors).toContain("out of date");
});
