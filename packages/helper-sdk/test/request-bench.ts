// Requests and sessions as the tests of policies need them, in a real folder with real links.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HelperSession } from "../src/helper-session.ts";
import type { PermissionRequest } from "../src/verdict.ts";

export const options: PermissionRequest["options"] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
];

export const allowed = { outcome: "selected", optionId: "allow" };
export const refused = { outcome: "selected", optionId: "deny" };
export const asked = { outcome: "ask" };

export function request(
  toolCall: Omit<Partial<PermissionRequest["toolCall"]>, "kind"> & { readonly kind?: unknown },
  of: PermissionRequest["options"] = options,
): PermissionRequest {
  const whole = {
    sessionId: "s",
    toolCall: { toolCallId: "t", title: "Edit file", rawInput: { path: "a" }, ...toolCall },
    options: of,
    _meta: { "acp-master": { approvalId: "a" } },
  };
  return JSON.parse(JSON.stringify(whole));
}

/** A cwd with neighbours: a sibling whose name begins like it, and links that lead out. */
export class Folder implements Disposable {
  readonly top = realpathSync(mkdtempSync(join(tmpdir(), "acp-policy-")));
  readonly cwd = join(this.top, "cwd");

  constructor() {
    for (const folder of ["cwd/docs", "cwd-sibling", "outside/deep"])
      mkdirSync(join(this.top, folder), { recursive: true });
    writeFileSync(join(this.top, "outside/key"), "");
    writeFileSync(join(this.cwd, "inner.txt"), "");
    symlinkSync(join(this.top, "outside/key"), join(this.cwd, "notes.txt"));
    symlinkSync(join(this.top, "outside/deep"), join(this.cwd, "linked"));
    symlinkSync(join(this.top, "nowhere"), join(this.cwd, "dead"));
    symlinkSync(join(this.cwd, "docs"), join(this.top, "way-in"));
  }

  session(preset: string, roots: readonly string[] = []): HelperSession {
    const voice = { log: () => {}, busy: () => {}, unavailable: () => {}, impaired: () => {} };
    const start = {
      sessionId: "s",
      agent: { name: "demo" },
      cwd: this.cwd,
      roots: [...roots],
      preset,
      arming: "required" as const,
    };
    return new HelperSession(start, voice);
  }

  [Symbol.dispose](): void {
    rmSync(this.top, { recursive: true, force: true });
  }
}
