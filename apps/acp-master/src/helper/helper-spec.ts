// Which program decides for a session: the built-in Helpers, a module run by the SDK's runner, or any command. It only
// names the program; it never imports one.
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface HelperSpec {
  readonly kind: "builtin" | "module" | "command";
  readonly argv: readonly string[];
  readonly isolation: "session" | "shared";
  readonly decideSeconds: number;
  readonly idleSeconds: number;
  /** The folder the program starts in; the daemon's own when absent. */
  readonly cwd?: string;
}

/** What a configuration says about a Helper, defaults resolved. */
export interface HelperChoice {
  readonly use: string | { readonly module: string } | { readonly command: readonly string[] };
  readonly isolation: "session" | "shared";
  readonly decideSeconds: number;
  readonly idleSeconds: number;
  /** The tmux server of `terminal`: the name or the path of its socket. */
  readonly tmux: string;
}

export interface HelperPlaces {
  /** The folder of the configuration file: relative paths in it start there. */
  readonly configDir: string;
  /** The folder of the bundled programs; by default the one this code runs from. */
  readonly programDir?: string;
}

export function resolveHelperSpec(choice: HelperChoice, places: HelperPlaces): HelperSpec {
  const programs = places.programDir ?? dirname(fileURLToPath(import.meta.url));
  const { isolation, decideSeconds, idleSeconds } = choice;
  const terms = { isolation, decideSeconds, idleSeconds };
  if (typeof choice.use === "string") {
    const program = join(programs, `helper-${choice.use}.js`);
    return { kind: "builtin", argv: [process.execPath, program, ...builtinArguments(choice, places)], ...terms };
  }
  if ("module" in choice.use) {
    const module = resolve(places.configDir, choice.use.module);
    const argv = [process.execPath, join(programs, "helper-run.js"), module];
    return { kind: "module", argv, cwd: places.configDir, ...terms };
  }
  const [command = "", ...args] = choice.use.command;
  // A bare name is looked up on PATH; a path with a folder in it belongs to the configuration's folder.
  const program = /[\\/]/.test(command) && !isAbsolute(command) ? resolve(places.configDir, command) : command;
  return { kind: "command", argv: [program, ...args], cwd: places.configDir, ...terms };
}

function builtinArguments({ use, tmux }: HelperChoice, { configDir }: HelperPlaces): string[] {
  if (use === "policy-file") return [join(configDir, "policy.json")];
  return use === "terminal" ? [`--tmux=${tmux}`] : [];
}

/** Whether two specs start the same program in the same way; deadlines alone need no other process. */
export function isSameProgram(a: HelperSpec, b: HelperSpec): boolean {
  return (
    a.kind === b.kind &&
    a.isolation === b.isolation &&
    a.cwd === b.cwd &&
    a.argv.length === b.argv.length &&
    a.argv.every((part, index) => part === b.argv[index])
  );
}
