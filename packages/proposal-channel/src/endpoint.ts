// Where the proposal socket is, and the proof that only its owner reaches it. It repairs nothing; what it cannot prove is off.
import { chmodSync, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HelperInstance } from "./channel.ts";
import { maxSocketPathBytes } from "./limits.ts";

export type Endpoint = { readonly ok: true; readonly path: string } | Unsafe;
export interface Unsafe {
  readonly ok: false;
  readonly message: string;
}

/** How a platform names and guards the endpoint. */
export interface EndpointPlace {
  path(folder: string, instance: HelperInstance): Endpoint;
  /** Before anything is bound. */
  checkFolder(folder: string): { readonly ok: true } | Unsafe;
  /** Runs the binding so that what it makes is never open to others, even for an instant. */
  bindPrivately(bind: () => void): void;
  /** Once it listens. */
  checkSocket(path: string): { readonly ok: true } | Unsafe;
}

export const posixPlace: EndpointPlace = {
  path(folder, instance) {
    if (folder === "") return unsafe("No folder for the proposal socket was given.");
    const path = join(folder, `${instance}.sock`);
    const bytes = Buffer.byteLength(path);
    if (bytes <= maxSocketPathBytes) return { ok: true, path };
    return unsafe(
      `The path of the proposal socket in ${folder} would have ${bytes} bytes; at most ${maxSocketPathBytes} work. Use a shorter folder.`,
    );
  },
  checkFolder(folder) {
    const found = attempt(() => lstatSync(folder));
    if (!found.ok) return unsafe(`Cannot read the folder ${folder} (${found.code}). Make it with mode 0700.`);
    const stat = found.value;
    if (stat.isSymbolicLink()) return unsafe(`${folder} is a symbolic link. Put a real folder there.`);
    if (!stat.isDirectory()) return unsafe(`${folder} is not a folder. Put a folder with mode 0700 there.`);
    if (stat.uid !== ownUser()) return unsafe(`${folder} belongs to user ${stat.uid}, not to this one.`);
    if ((stat.mode & 0o777) !== 0o700)
      return unsafe(`${folder} has mode ${octal(stat.mode)}. Run: chmod 700 '${folder}'`);
    return checkFoldersAbove(folder);
  },
  bindPrivately(bind) {
    const before = process.umask(0o077);
    try {
      bind();
    } finally {
      process.umask(before);
    }
  },
  checkSocket(path) {
    const found = attempt(() => {
      chmodSync(path, 0o600);
      return lstatSync(path);
    });
    if (!found.ok) return unsafe(`Cannot read the proposal socket ${path} (${found.code}).`);
    const stat = found.value;
    if (!stat.isSocket() || stat.uid !== ownUser()) return unsafe(`${path} is not the socket that was made there.`);
    if ((stat.mode & 0o777) !== 0o600) return unsafe(`${path} has mode ${octal(stat.mode)} and cannot be made 0600.`);
    return { ok: true };
  },
};

/** Untested, and off: a named pipe's rights cannot be established from here. */
export const windowsPlace: EndpointPlace = {
  path: (_folder, instance) => ({ ok: true, path: `\\\\.\\pipe\\acp-propose-${instance}` }),
  checkFolder: () => unsafe("Proposals are not available on Windows: the pipe's rights cannot be checked."),
  bindPrivately: (bind) => bind(),
  checkSocket: () => unsafe("Proposals are not available on Windows: the pipe's rights cannot be checked."),
};

export function platformPlace(platform: NodeJS.Platform = process.platform): EndpointPlace {
  return platform === "win32" ? windowsPlace : posixPlace;
}

/** Whoever can write a folder above can put another one in this one's place, unless the sticky bit forbids it. */
function checkFoldersAbove(folder: string): { readonly ok: true } | Unsafe {
  const real = attempt(() => realpathSync(folder));
  if (!real.ok) return unsafe(`Cannot resolve ${folder} (${real.code}). Check its rights.`);
  for (let above = dirname(real.value); ; above = dirname(above)) {
    const stat = attempt(() => statSync(above));
    if (!stat.ok) return unsafe(`Cannot read the folder ${above} (${stat.code}). Check its rights.`);
    if ((stat.value.mode & 0o002) !== 0 && (stat.value.mode & 0o1000) === 0) {
      return unsafe(`Any user can write ${above}, so ${folder} is not safe there. Run: chmod o-w '${above}'`);
    }
    if (above === dirname(above)) return { ok: true };
  }
}

function ownUser(): number | undefined {
  return process.getuid?.();
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

function unsafe(message: string): Unsafe {
  return { ok: false, message };
}

function attempt<Value>(step: () => Value): { ok: true; value: Value } | { ok: false; code: string } {
  try {
    return { ok: true, value: step() };
  } catch (error) {
    return { ok: false, code: error instanceof Error && "code" in error ? String(error.code) : "unknown error" };
  }
}
