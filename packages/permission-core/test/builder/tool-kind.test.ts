// The kind table, row by row.
import { expect, it } from "vitest";
import { toolKind } from "../../src/builder/tool-kind.ts";

it.each([
  // 1
  ["local_shell", "read_file", "execute"],
  ["webtools", "write", "fetch"],
  // 2
  ["local_fs", "read_file", "read"],
  ["local_fs", "list_dir", "read"],
  ["local_fs", "grep", "read"],
  ["local_fs", "find", "read"],
  ["local_fs", "stat_file", "read"],
  ["local_fs", "write_file", "edit"],
  ["local_fs", "sed", "edit"],
  ["local_fs", "edit_file", "edit"],
  ["local_fs", "patch", "edit"],
  ["local_fs", "move_file", "move"],
  ["local_fs", "rename", "move"],
  ["local_fs", "delete_file", "delete"],
  ["local_fs", "remove", "delete"],
  ["local_fs", "remove_file", "delete"],
  ["local_fs", "move_or_remove", "move"],
  ["local_fs", "rm", "delete"],
  ["local_fs", "touch", "edit"],
  ["local_fs", undefined, "edit"],
  ["local_fs", "write_after_read", "read"],
  ["local_fs", "rename_and_patch", "edit"],
  // 3 to 6
  [undefined, "read_file", "read"],
  [undefined, "fs.stat", "read"],
  ["other", "fs.list.write", "read"],
  [undefined, "grep", "read"],
  [undefined, "find_all", "read"],
  [undefined, "write_file", "edit"],
  [undefined, "edit", "edit"],
  [undefined, "patch_it", "edit"],
  [undefined, "sed", "edit"],
  [undefined, "delete_file", "delete"],
  [undefined, "remove", "delete"],
  [undefined, "fs.rm", "delete"],
  [undefined, "move", "move"],
  [undefined, "rename", "move"],
  [undefined, "fetch_url", "fetch"],
  [undefined, "http_get", "fetch"],
  [undefined, "local_shell.anything", "execute"],
  [undefined, "exec", "execute"],
  [undefined, "tools.run_tests", "execute"],
  // 7
  [undefined, "sediment", "other"],
  [undefined, "rmdir", "other"],
  [undefined, "constructor", "other"],
  [undefined, "search", "other"],
  [undefined, "think", "other"],
  [undefined, "", "other"],
  [undefined, undefined, "other"],
])("%s / %s is %s", (toolsName, toolName, kind) => {
  expect(toolKind({ toolsName, toolName })).toBe(kind);
});
