// The command line as a whole: every command, its help, and how a wrong line ends. The commands themselves are one file each.
import { Command, CommanderError } from "commander";
import { exitCodes } from "../display/errors.ts";
import { VERSION } from "../version.ts";
import { registerAgents } from "./agents.ts";
import { registerApprovals } from "./approvals.ts";
import { registerApprove } from "./approve.ts";
import { registerAudit } from "./audit.ts";
import { registerCancel } from "./cancel.ts";
import { registerClose } from "./close.ts";
import { registerConfig } from "./config.ts";
import { registerConnect } from "./connect.ts";
import { registerConsole } from "./console.ts";
import { registerDeny } from "./deny.ts";
import { registerDoctor } from "./doctor.ts";
import { examples } from "./finish.ts";
import { registerLogs } from "./logs.ts";
import { registerPreset } from "./preset.ts";
import { registerRestart } from "./restart.ts";
import { registerReview } from "./review.ts";
import { registerRun } from "./run.ts";
import { registerServe } from "./serve.ts";
import { registerService } from "./service.ts";
import { registerSessions } from "./sessions.ts";
import { registerStatus } from "./status.ts";
import { registerStop } from "./stop.ts";
import { registerTail } from "./tail.ts";

const groups: readonly { readonly heading: string; readonly commands: readonly ((program: Command) => void)[] }[] = [
  { heading: "Work with agents:", commands: [registerConnect, registerRun, registerTail, registerConsole] },
  {
    heading: "Sessions and approvals:",
    commands: [
      registerSessions,
      registerApprovals,
      registerApprove,
      registerDeny,
      registerPreset,
      registerReview,
      registerAudit,
      registerCancel,
      registerClose,
    ],
  },
  { heading: "The daemon:", commands: [registerServe, registerStatus, registerStop, registerRestart, registerLogs] },
  { heading: "Set-up:", commands: [registerAgents, registerDoctor, registerConfig, registerService] },
];

const programHelp = `
Exit codes: 0 done, 1 failed, 2 usage, 3 no daemon, 4 no such session, approval or agent, 5 permission refused, 130 interrupted
${examples(
  "acp-master connect claude            # what an editor runs",
  'acp-master run demo "say hello"',
  "acp-master approvals",
)}`;

export function buildProgram(): Command {
  const program = new Command("acp-master")
    .description("One daemon owns your coding agents; editors, terminals and scripts attach to the same sessions.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText("after", programHelp);
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const register of commands) register(program);
  }
  return program;
}

/** Runs one command line and sets the exit code; a wrong line is 2. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  try {
    const program = buildProgram();
    const [first = "-"] = argv;
    const isKnown = first.startsWith("-") || first === "help" || program.commands.some((one) => one.name() === first);
    // Else `nope --help` would print the help of the whole and be no error.
    await program.parseAsync(isKnown ? argv : [first], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (error.exitCode !== 0 && error.code !== "commander.help") {
      process.stderr.write("Run `acp-master help` to see the commands and their options.\n");
    }
  }
}
