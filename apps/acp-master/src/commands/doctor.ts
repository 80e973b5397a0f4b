// `acp-master doctor`: looks at everything that a working installation needs. It repairs nothing; each line is ok or says what to do.
import type { Command } from "commander";
import { painter } from "../display/colour.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly found: string;
  /** What to do; only when it is not ok. */
  readonly next?: string;
}

export function registerDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check paths, rights, socket, version, agents, helper and record; each line is ok or what to do")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master doctor", "acp-master doctor --json"))
    .action(finish(doctor));
}

async function doctor(options: JsonOption): Promise<ExitCode> {
  const { examine } = await import("./doctor-checks.ts");
  const findings = await examine(process.env);
  const healthy = findings.every((finding) => finding.ok);
  if (options.json === true) process.stdout.write(`${visibleJson({ ok: healthy, checks: findings }, 2)}\n`);
  else process.stdout.write(findings.map(line).join(""));
  return healthy ? exitCodes.done : exitCodes.failed;
}

function line({ check, ok, found, next }: Finding): string {
  const paint = painter(process.stdout);
  const mark = ok ? paint("green", "ok ") : paint("red", "BAD");
  const remedy = next === undefined ? "" : `\n      ${visibleLine(next)}`;
  return `${mark} ${visibleLine(check)}: ${visibleLine(found)}${remedy}\n`;
}
