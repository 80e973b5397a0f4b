// Finds out which file a command name means, as the operating system will. It never runs anything.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, extname, isAbsolute, join } from "node:path";

export interface SearchPlace {
  readonly environment: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

/** The path of the file, or undefined. A command with a folder in it is taken as it is, others are looked up on PATH. */
export function findExecutable(command: string, place: SearchPlace): string | undefined {
  const platform = place.platform ?? process.platform;
  const names = platform === "win32" ? windowsNames(command, place.environment) : [command];
  const folders = hasFolder(command, platform) ? [undefined] : pathFolders(place.environment);
  for (const folder of folders) {
    for (const name of names) {
      const file = folder === undefined ? name : join(folder, name);
      if (isExecutable(file, platform)) return file;
    }
  }
  return undefined;
}

/** The value of PATH, however the platform spells its name. */
export function searchPath(environment: NodeJS.ProcessEnv): string {
  const name = Object.keys(environment).find((key) => key.toUpperCase() === "PATH");
  return environment["PATH"] ?? (name === undefined ? "" : (environment[name] ?? ""));
}

function hasFolder(command: string, platform: NodeJS.Platform): boolean {
  return command.includes("/") || (platform === "win32" && /[\\:]/.test(command));
}

// A relative entry of PATH would mean another folder for the agent than for us.
function pathFolders(environment: NodeJS.ProcessEnv): string[] {
  return searchPath(environment)
    .split(delimiter)
    .filter((folder) => isAbsolute(folder));
}

function windowsNames(command: string, environment: NodeJS.ProcessEnv): string[] {
  const extensions = (environment["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";").filter(Boolean);
  const own = extname(command).toLowerCase();
  if (extensions.some((extension) => extension.toLowerCase() === own)) return [command];
  return extensions.map((extension) => command + extension.toLowerCase());
}

function isExecutable(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    if (platform !== "win32") accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
