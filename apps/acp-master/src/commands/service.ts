// `acp-master service install|uninstall|status`: starts the daemon with the user's login. It writes one file, removes only that file, and runs no service manager to change anything.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type Command, Option } from "commander";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";
import { launchdLabel, launchdPlist, marker, systemdUnit, type ServiceProgram } from "./service-files.ts";
import { serviceState } from "./service-state.ts";

interface ServiceOptions {
  readonly platform: string;
  readonly dryRun?: boolean;
}

const platform = () => new Option("--platform <platform>").default(process.platform).hideHelp();

interface ServiceKind {
  readonly file: string;
  readonly text: (program: ServiceProgram) => string;
  /** What the user runs after the file was written, and before it is removed. */
  readonly start: readonly string[];
  readonly remove: readonly string[];
}

export function registerService(program: Command): void {
  const service = program
    .command("service")
    .description("start the daemon with your login: systemd user unit (Linux), launchd agent (macOS)");
  service
    .command("install")
    .description("write the service file and say how to start it")
    .option("--dry-run", "print the file instead of writing it")
    .addOption(platform())
    .addHelpText("after", examples("acp-master service install", "acp-master service install --dry-run"))
    .action(finish(install));
  service
    .command("uninstall")
    .description("remove the service file, if `service install` wrote it")
    .option("--dry-run", "only say what would be removed")
    .addOption(platform())
    .action(finish(uninstall));
  service
    .command("status")
    .description("say whether the service is installed and runs")
    .addOption(platform())
    .action(finish(status));
}

function serviceKind(platform: string): ServiceKind {
  if (platform === "linux") {
    const configHome = process.env.XDG_CONFIG_HOME;
    const base = configHome !== undefined && configHome.startsWith("/") ? configHome : join(homedir(), ".config");
    return {
      file: join(base, "systemd", "user", "acp-master.service"),
      text: systemdUnit,
      start: ["systemctl --user daemon-reload", "systemctl --user enable --now acp-master.service"],
      remove: ["systemctl --user disable --now acp-master.service", "systemctl --user daemon-reload"],
    };
  }
  if (platform === "darwin") {
    const file = join(homedir(), "Library", "LaunchAgents", `${launchdLabel}.plist`);
    return {
      file,
      text: launchdPlist,
      start: [`launchctl bootstrap gui/$(id -u) ${shellWord(file)}`],
      remove: [`launchctl bootout gui/$(id -u)/${launchdLabel}`],
    };
  }
  throw new CommandError(
    exitCodes.failed,
    `there is no service support on ${platform}`,
    "Start the daemon at login with `acp-master serve` by the means of this system.",
  );
}

function shellWord(text: string): string {
  return /^[\w/.~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function thisProgram(): ServiceProgram {
  const { PATH, ACP_MASTER_HOME } = process.env;
  return {
    node: process.execPath,
    script: realpathSync(process.argv[1] ?? ""),
    environment: {
      // A login service has a short PATH of its own; agents are found on this one.
      ...(PATH === undefined ? {} : { PATH }),
      ...(ACP_MASTER_HOME === undefined || ACP_MASTER_HOME === "" ? {} : { ACP_MASTER_HOME }),
    },
  };
}

function install(options: ServiceOptions): ExitCode {
  const kind = serviceKind(options.platform);
  const text = kind.text(thisProgram());
  if (options.dryRun === true) {
    process.stdout.write(text);
    process.stderr.write(`Not written: ${visibleLine(kind.file)}\n`);
    return exitCodes.done;
  }
  if (existsSync(kind.file)) assertOurs(kind.file);
  mkdirSync(dirname(kind.file), { recursive: true });
  writeFileSync(kind.file, text, { mode: 0o644 });
  process.stdout.write(`Wrote ${visibleLine(kind.file)}\nNext:\n${kind.start.map((line) => `  ${line}\n`).join("")}`);
  const { manager } = serviceState(options.platform);
  if (manager !== undefined) process.stdout.write(`(${manager})\n`);
  return exitCodes.done;
}

function uninstall(options: ServiceOptions): ExitCode {
  const kind = serviceKind(options.platform);
  if (!existsSync(kind.file)) {
    process.stdout.write(`Not installed: there is no ${visibleLine(kind.file)}\n`);
    return exitCodes.done;
  }
  assertOurs(kind.file);
  if (options.dryRun !== true) rmSync(kind.file);
  const did = options.dryRun === true ? "Would remove" : "Removed";
  process.stdout.write(
    `${did} ${visibleLine(kind.file)}\nIf the service runs, end it:\n${kind.remove.map((line) => `  ${line}\n`).join("")}`,
  );
  return exitCodes.done;
}

function status(options: ServiceOptions): ExitCode {
  const { file } = serviceKind(options.platform);
  const installed = existsSync(file);
  const { active, manager } = serviceState(options.platform);
  process.stdout.write(
    `${installed ? `installed   ${visibleLine(file)}${isOurs(file) ? "" : " (not written by acp-master)"}` : `not installed (${visibleLine(file)}); run \`acp-master service install\``}\n` +
      `running     ${active === undefined ? `unknown: ${manager ?? "the service manager did not say"}` : active}\n`,
  );
  return installed ? exitCodes.done : exitCodes.failed;
}

function isOurs(file: string): boolean {
  return readFileSync(file, "utf8")
    .split("\n", 3)
    .some((line) => line.includes(marker));
}

function assertOurs(file: string): void {
  if (isOurs(file)) return;
  throw new CommandError(
    exitCodes.failed,
    `${file} was not written by this program and stays as it is`,
    "Move it away yourself, then run the command again.",
  );
}
