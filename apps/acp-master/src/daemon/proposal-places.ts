// Where the sockets of direct proposals are, and what agents and Helpers are told of it: the program that proposes, a
// folder for its sockets, and a folder for user interfaces that only Helpers are told of. The master opens none of them.
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, rmSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { findExecutable } from "../agents/find-executable.ts";
import { longestSocketPath, type Places, realPathOf } from "../config/places.ts";
import { checkPrivateFolder, ensurePrivateFolder } from "./private-folder.ts";

export interface ProposalPlaces extends Disposable {
  /** Empty while there are no proposals. Made anew when something has removed it. */
  readonly socketDir: () => string;
  readonly agentEnvironment: Readonly<Record<string, string>>;
  readonly helperEnvironment: Readonly<Record<string, string>>;
  /** Why there were no proposals when last asked, for people. */
  readonly problem: string | undefined;
}

/** A socket's name in these folders: 32 digits and `.sock`, after a slash. */
const socketNameBytes = 38;

/**
 * Takes over what a killed daemon of the same installation left. `program` is what agents are to run; the folders are
 * outside of the daemon's own, which agents are not told of.
 */
export function openProposalPlaces(places: Places, program: string, environment: NodeJS.ProcessEnv): ProposalPlaces {
  if (process.platform === "win32") return none("Direct proposals are not available on Windows.");
  try {
    accessSync(program, constants.X_OK);
  } catch {
    return none(`The program ${program} is not there or cannot be run. Build or install acp-master again.`);
  }
  if (findExecutable("node", { environment }) === undefined) {
    return none(`There is no node on the daemon's PATH, so agents cannot run ${program}. Put it there and restart.`);
  }
  const problems: string[] = [];
  for (const base of [environment["TMPDIR"], "/tmp", environment["XDG_RUNTIME_DIR"]]) {
    if (base === undefined || !isAbsolute(base) || !existsSync(base)) continue;
    const root = join(base, `acp-propose-${process.getuid?.() ?? "user"}-${digest(realPathOf(places.runDir))}`);
    const problem = unfitness(root, base, places) ?? cleared(root);
    if (problem === undefined) return opened(root, program);
    problems.push(problem);
  }
  return none(problems.join(" ") || "There is no folder for temporary sockets.");
}

function opened(root: string, program: string): ProposalPlaces {
  const [socketDir, reviewDir] = [join(root, "p"), join(root, "r")];
  let problem: string | undefined;
  return {
    socketDir: () => {
      problem = unmade(root, socketDir, reviewDir);
      return problem === undefined ? socketDir : "";
    },
    agentEnvironment: { ACP_PROPOSE: program, ACP_PROPOSE_DIR: socketDir },
    helperEnvironment: { ACP_PROPOSE: program, ACP_MASTER_REVIEW_DIR: reviewDir },
    get problem() {
      return problem;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function none(problem: string): ProposalPlaces {
  return { socketDir: () => "", agentEnvironment: {}, helperEnvironment: {}, problem, [Symbol.dispose]: () => {} };
}

function unfitness(root: string, base: string, { homeOverride }: Places): string | undefined {
  if (Buffer.byteLength(join(root, "p")) + socketNameBytes > longestSocketPath) return `${base} is too long a path.`;
  const way = homeOverride === undefined ? ".." : relative(realPathOf(homeOverride), realPathOf(base));
  return way === ".." || way.startsWith(`..${sep}`) ? undefined : `${base} is inside of ACP_MASTER_HOME.`;
}

/** Whoever calls is the one daemon of this installation, so what is there belongs to no other that runs. */
function cleared(root: string): string | undefined {
  try {
    if (existsSync(root)) {
      const found = checkPrivateFolder(root);
      if (!found.ok) return found.message;
      rmSync(root, { recursive: true });
    }
    const folder = ensurePrivateFolder(root);
    return folder.ok ? undefined : folder.message;
  } catch {
    return `What is at ${root} cannot be removed.`;
  }
}

/** Why these folders are not there, or not private. */
function unmade(...folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const found = ensurePrivateFolder(folder);
    if (!found.ok) return found.message;
  }
  return undefined;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
