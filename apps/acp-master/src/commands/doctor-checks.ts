// The checks of `doctor`. Each looks at one thing and returns what it found; none changes anything or throws for what it may find.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findExecutable } from "../agents/find-executable.ts";
import { verifyAudit } from "../audit/verify-audit.ts";
import type { StatusAnswer } from "../client/answers.ts";
import { ClientError } from "../client/client-error.ts";
import { openMaster } from "../client/open-master.ts";
import { loadConfig } from "../config/load-config.ts";
import { resolvePlaces, type Places } from "../config/places.ts";
import type { Config } from "../config/schema.ts";
import { checkPrivateFolder } from "../daemon/private-folder.ts";
import { obstacleAt } from "../daemon/probe-socket.ts";
import { explain } from "../display/errors.ts";
import { resolveHelperSpec } from "../helper/helper-spec.ts";
import { VERSION } from "../version.ts";
import { demoAgentFile, localAgentRows } from "./agent-rows.ts";
import type { Finding } from "./doctor.ts";
import { impairments } from "./status.ts";

const ok = (check: string, found: string): Finding => ({ check, ok: true, found });
const bad = (check: string, found: string, next: string): Finding => ({ check, ok: false, found, next });

export async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const places = resolvePlaces(env);
  const loaded = loadConfig(places.configFile);
  return [
    checkNode(),
    loaded.ok
      ? ok(
          "configuration",
          existsSync(places.configFile) ? places.configFile : `${places.configFile} is not there: defaults`,
        )
      : bad("configuration", loaded.message, "Correct it and run `acp-master config check`."),
    checkFolder("run folder", places.runDir),
    checkFolder("state folder", places.stateDir),
    checkFolder("log folder", places.logDir),
    checkSocket(places),
    ...(await checkDaemon()),
    ...(loaded.ok ? await checkAgents(loaded.config) : []),
    ...(loaded.ok ? [checkHelper(loaded.config, places, env), ...checkTmux(loaded.config, env)] : []),
    checkRecord(places.stateDir),
  ];
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const found = `${process.version} at ${process.execPath}`;
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? ok("node", found) : bad("node", found, "Install Node.js 20.19 or newer.");
}

function checkFolder(check: string, folder: string): Finding {
  if (!existsSync(folder)) return checkCreatable(check, folder);
  const isPrivate = checkPrivateFolder(folder);
  if (!isPrivate.ok) return bad(check, folder, isPrivate.message);
  return mayWrite(folder)
    ? ok(check, folder)
    : bad(check, `${folder} cannot be written`, `Run: chmod u+rwx '${folder}'`);
}

function checkCreatable(check: string, folder: string): Finding {
  let above = dirname(folder);
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  return mayWrite(above) && statSync(above).isDirectory()
    ? ok(check, `${folder} (made at the first start)`)
    : bad(check, `${folder} cannot be made: ${above} cannot be written`, "Check its rights, or set ACP_MASTER_HOME.");
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function checkSocket({ socketPath }: Places): Finding {
  const obstacle = process.platform === "win32" ? undefined : obstacleAt(socketPath);
  switch (obstacle?.state) {
    case undefined:
      return ok("socket", socketPath);
    case "absent":
      return ok("socket", `${socketPath} (made when a daemon starts)`);
    case "in_the_way":
    case "unclear":
      return bad("socket", socketPath, obstacle.message);
    case "stale":
    case "crowded":
    default:
      return ok("socket", socketPath);
  }
}

async function checkDaemon(): Promise<Finding[]> {
  try {
    await using master = await openMaster({ name: "acp-master doctor" });
    const status = await master.request<StatusAnswer>("_acp-master/status", {});
    const running = ok("daemon", `version ${status.version}, pid ${status.pid}`);
    const { problem } = status.config;
    const inForce =
      problem === undefined
        ? []
        : [bad("daemon configuration", `an older one is in force: ${problem}`, "Run `acp-master config check`.")];
    const unrecorded =
      status.record === undefined
        ? []
        : [
            bad(
              "daemon record",
              `decisions cannot be written: ${status.record.problem}`,
              "Free the disk and check the rights of the state folder; until then nothing is allowed.",
            ),
          ];
    const unkept = (status.journals?.problems ?? []).map((found) =>
      bad("daemon sessions", found, "What was not written by the end of the daemon is lost."),
    );
    const impaired = impairments(status).map((reason) =>
      bad("daemon helper", reason, "Correct that and run `acp-master restart`; decisions are not touched by it."),
    );
    return [running, ...inForce, ...unrecorded, ...unkept, ...impaired];
  } catch (error) {
    if (error instanceof ClientError && error.kind === "no_daemon") {
      return [ok("daemon", `none runs; this program is version ${VERSION}`)];
    }
    return [bad("daemon", "it does not serve this program", explain(error).line)];
  }
}

function checkRecord(stateDir: string): Finding {
  if (!existsSync(stateDir)) return ok("record", "none yet (made at the first start)");
  const { ok: whole, records, problems } = verifyAudit(stateDir);
  const [first] = problems;
  if (whole || first === undefined) return ok("record", `${records} records in ${stateDir}`);
  const found = `${first.file}:${first.line}: ${first.what}`;
  return bad("record", found, "Run `acp-master audit verify` to see all of it, and keep a copy of the folder.");
}

async function checkAgents(config: Config): Promise<Finding[]> {
  const rows = await localAgentRows();
  const ready = rows.filter((row) => row.ready).map((row) => row.name);
  const chosen = rows.find((row) => row.name === config.defaultAgent);
  const byDefault =
    chosen?.ready === true
      ? ok("default agent", `${chosen.name} (${chosen.how ?? "ready"})`)
      : bad(
          "default agent",
          `${config.defaultAgent} is not ready`,
          chosen?.why ?? "Set `defaultAgent` to one of `acp-master agents`.",
        );
  const demo = demoAgentFile();
  return [
    ready.length > 0
      ? ok("agents", `ready: ${ready.join(", ")}`)
      : bad("agents", "none is ready", "Run `acp-master agents`."),
    byDefault,
    existsSync(demo)
      ? ok("demo agent", demo)
      : bad("demo agent", `${demo} is missing`, "Install or build acp-master again."),
  ];
}

function checkHelper(config: Config, places: Places, environment: NodeJS.ProcessEnv): Finding {
  const { kind, argv } = resolveHelperSpec(config.helper, { configDir: dirname(places.configFile) });
  const [program = "", ...files] = argv;
  const check = "helper";
  if (findExecutable(program, { environment }) === undefined) {
    return bad(
      check,
      `the program ${program} was not found`,
      "Install it, or correct `helper.use` in the configuration.",
    );
  }
  const missing = kind === "command" ? undefined : files.find((file) => !file.startsWith("--") && !existsSync(file));
  if (missing === undefined) return ok(check, files.length === 0 ? program : argv.join(" "));
  const next =
    missing === files.at(-1) && kind === "module"
      ? "Correct `helper.use.module` in the configuration."
      : "Install or build acp-master again.";
  return bad(check, `${missing} is missing`, next);
}

/** Only where a Helper works with it. */
function checkTmux({ helper, agents }: Config, environment: NodeJS.ProcessEnv): Finding[] {
  const helpers = [helper, ...Object.values(agents).flatMap((agent) => agent.helper ?? [])];
  const servers = new Set(helpers.filter(({ use }) => use === "terminal").map(({ tmux }) => tmux));
  if (servers.size === 0) return [];
  const program = findExecutable("tmux", { environment });
  const next = "Install tmux 3.2 or newer; until then agents cannot propose anything for your terminal.";
  if (program === undefined) return [bad("tmux", "not found", next)];
  const { stdout } = spawnSync(program, ["-V"], { encoding: "utf8", env: environment, timeout: 5000 });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const found = `${stdout.trim()} at ${program}`;
  const isEnough = Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 2);
  if (!isEnough) return [bad("tmux", found, next)];
  return [ok("tmux", found), ...[...servers].map((server) => checkTmuxServer(program, server, environment))];
}

function checkTmuxServer(program: string, server: string, env: NodeJS.ProcessEnv): Finding {
  const named = [server.includes("/") ? "-S" : "-L", server];
  const { status } = spawnSync(program, [...named, "list-sessions"], { stdio: "ignore", env, timeout: 5000 });
  const command = `tmux ${named.join(" ")}`;
  return status === 0
    ? ok("tmux server", command)
    : bad(
        "tmux server",
        `none answers on \`${command}\`, so agents are not told how to propose`,
        `Start it with \`${command}\`, or set \`helper.tmux\` to the server you work in.`,
      );
}
