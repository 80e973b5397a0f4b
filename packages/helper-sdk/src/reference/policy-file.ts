// The Helper that follows a file of rules: by kind and by folder, the first rule that fits decides. It guesses nothing: a
// rule that cannot be checked does not allow, and a file that cannot be read decides nothing at all.
import { readFileSync } from "node:fs";
import * as z from "zod";
import { defineHelper, type HelperDefinition } from "../define-helper.ts";
import type { HelperSession } from "../helper-session.ts";
import { allowOnce, ask, reject, type PermissionRequest, type Verdict } from "../verdict.ts";

const kinds = z.array(z.string().min(1)).min(1);
const paths = z.array(z.string().min(1)).min(1);

const rule = z.strictObject({
  /** ACP tool kinds, spelled exactly. A rule without fits any call, one that names no kind included. */
  kinds: kinds.optional(),
  /** Folders or files; relative ones start at the session's cwd. */
  paths: paths.optional(),
  answer: z.enum(["allow", "ask", "refuse"]),
  /** For people who read the file. */
  why: z.string().optional(),
});

const policy = z.strictObject({
  rules: z.array(
    rule.refine((each) => each.answer !== "allow" || each.kinds !== undefined, "an allow must name its kinds"),
  ),
  otherwise: z.enum(["ask", "refuse"]).default("ask"),
});

type Rule = z.infer<typeof rule>;
export type Policy = z.infer<typeof policy>;

export type ReadPolicy =
  { readonly ok: true; readonly policy: Policy } | { readonly ok: false; readonly problem: string };

export function readPolicy(file: string): ReadPolicy {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : "it cannot be read";
    return {
      ok: false,
      problem: `The policy file ${file} is not used: ${reason}. Every request is refused until it is mended.`,
    };
  }
  const read = policy.safeParse(value);
  if (read.success) return { ok: true, policy: read.data };
  const [issue] = read.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "its top level" : issue.path.join(".");
  return {
    ok: false,
    problem: `The policy file ${file} is not used: ${place}: ${issue?.message ?? "wrong"}. Every request is refused until it is mended.`,
  };
}

/** The file is read for each request, so that a change counts from the next one on. */
export function policyFileHelper(file: string): HelperDefinition {
  return defineHelper({
    name: "policy-file",
    announced: true,
    sessionStart: (session) => {
      const read = readPolicy(file);
      if (!read.ok) session.voice.log("error", read.problem);
    },
    permission: (request, session) => {
      const read = readPolicy(file);
      if (read.ok) return apply(read.policy, request, session);
      session.voice.log("error", read.problem);
      throw new Error(read.problem);
    },
  });
}

export function apply(policy: Policy, request: PermissionRequest, session: HelperSession): Verdict {
  const answer = policy.rules.find((each) => fits(each, request, session))?.answer ?? policy.otherwise;
  switch (answer) {
    case "allow":
      return allowOnce(request);
    case "refuse":
      return reject(request);
    case "ask":
      return ask();
  }
  return answer satisfies never;
}

/** An allow fits only if every path of the call is in its places; a restriction as soon as one may be. */
function fits(rule: Rule, request: PermissionRequest, session: HelperSession): boolean {
  const { kind, argsKnown } = session.read(request);
  if (rule.kinds !== undefined && (kind === undefined || !rule.kinds.includes(kind))) return false;
  if (rule.answer === "allow" && !argsKnown) return false;
  if (rule.paths === undefined) return true;
  return rule.answer === "allow" ? session.inside(request, rule.paths) : session.touches(request, rule.paths);
}
