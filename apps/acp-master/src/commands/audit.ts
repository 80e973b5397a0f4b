// `acp-master audit verify`: checks the decision record on disk, with or without a daemon. It repairs nothing.
import type { Command } from "commander";
import type { Finding } from "../audit/verify-audit.ts";
import { resolvePlaces } from "../config/places.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

export function registerAudit(program: Command): void {
  const audit = program.command("audit").description("check the record of decisions");
  audit
    .command("verify")
    .description("find every record that was changed, cut, moved or removed")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master audit verify", "acp-master audit verify --json | jq .problems"))
    .action(finish(verify));
}

async function verify(options: JsonOption): Promise<ExitCode> {
  const { verifyAudit } = await import("../audit/verify-audit.ts");
  const { stateDir } = resolvePlaces(process.env);
  const found = verifyAudit(stateDir);
  if (options.json === true) {
    process.stdout.write(`${visibleJson(found, 2)}\n`);
    return found.ok ? exitCodes.done : exitCodes.failed;
  }
  process.stdout.write(found.notices.map((notice) => `note  ${place(notice)}\n`).join(""));
  if (found.ok) {
    process.stdout.write(
      `ok  ${count(found.records, "record")} in ${count(found.files, "file")}, ${visibleLine(stateDir)}\n`,
    );
    return exitCodes.done;
  }
  const problems = found.problems.map((problem) => `${place(problem)}\n`).join("");
  const summary = `${count(found.problems.length, "problem")}, ${count(found.records, "record")} read`;
  process.stderr.write(
    `${problems}acp-master: ${summary}. Keep a copy of ${visibleLine(stateDir)}; the daemon goes on recording behind it.\n`,
  );
  return exitCodes.failed;
}

function place({ file, line, what }: Finding): string {
  return `${visibleLine(line > 0 ? `${file}:${line}` : file)}: ${what}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
