// The Helper of five presets. It judges by kind and by where the paths of a call really lead; titles and labels, and
// anything an agent may write about itself, decide nothing.
import type { Preset } from "@acp-master/permission-core";
import { defineHelper } from "../define-helper.ts";
import type { HelperSession } from "../helper-session.ts";
import { allowOnce, ask, reject, type PermissionRequest, type Verdict } from "../verdict.ts";

export const presets = [
  {
    value: "deny-all",
    name: "Deny all",
    description: "Every request is refused.",
    width: 0,
    refuseWrites: true,
    refuseAll: true,
  },
  {
    value: "read-only",
    name: "Read only",
    description: "Reads inside the session's folders are allowed; changes and commands are refused.",
    width: 1,
    refuseWrites: true,
  },
  { value: "ask", name: "Ask", description: "Every request is put to you.", width: 2 },
  {
    value: "accept-edits",
    name: "Accept edits",
    description: "Edits inside the session's folders are allowed; all else is put to you.",
    width: 3,
  },
  {
    value: "allow-all",
    name: "Allow all",
    description: "Every request with known input is allowed.",
    width: 4,
    confirm: true,
  },
] as const satisfies readonly Preset[];

type PresetName = (typeof presets)[number]["value"];

const reads = new Set(["read", "search"]);
const changes = new Set(["edit", "delete", "move", "execute"]);
/** Members by which an edit tool also runs something. */
const commandMembers = ["command", "commands", "cmd"];

export const presetsHelper = defineHelper({
  name: "presets",
  presets,
  announced: true,
  permission: (request, session) => judge(nameOf(session.preset), request, session),
});

export function judge(preset: PresetName, request: PermissionRequest, session: HelperSession): Verdict {
  const { kind, argsKnown, args, locations } = session.read(request);
  const isPlaced = argsKnown && locations.length > 0 && session.inside(request);
  switch (preset) {
    case "deny-all":
      return reject(request);
    case "read-only":
      if (kind !== undefined && changes.has(kind)) return reject(request);
      return kind !== undefined && reads.has(kind) && isPlaced ? allowOnce(request) : ask();
    case "ask":
      return ask();
    case "accept-edits":
      return kind === "edit" && isPlaced && !runsSomething(args) ? allowOnce(request) : ask();
    case "allow-all":
      return argsKnown ? allowOnce(request) : ask();
  }
  return preset satisfies never;
}

function runsSomething(args: Readonly<Record<string, unknown>>): boolean {
  return commandMembers.some((member) => Object.hasOwn(args, member));
}

/** A name that is none of ours gives the least. */
function nameOf(value: string): PresetName {
  return presets.find((preset) => preset.value === value)?.value ?? "deny-all";
}
