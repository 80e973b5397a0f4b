// Makes and checks folders that only this user may enter. It repairs nothing: wrong rights are reported with the remedy.
import { lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../config/error-code.ts";

export type PrivateFolder =
  { readonly ok: true } | { readonly ok: false; readonly reason: "in_the_way" | "rights"; readonly message: string };

/**
 * Makes the folder (and missing ones above it) 0700, then proves that it is a real folder of this user, closed to
 * others, and that nobody else can replace it. On Windows the folder of the user's profile is trusted.
 */
export function ensurePrivateFolder(folder: string): PrivateFolder {
  const made = withUmask(0o077, () => attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 })));
  if (!made.ok && made.code !== "EEXIST") {
    return refused("rights", `Cannot make the folder ${folder} (${made.code}). Make it yourself with mode 0700.`);
  }
  return checkPrivateFolder(folder);
}

export function checkPrivateFolder(folder: string): PrivateFolder {
  const found = attempt(() => lstatSync(folder));
  if (!found.ok) return refused("rights", `Cannot read the folder ${folder} (${found.code}). Check its rights.`);
  const stat = found.value;
  if (stat.isSymbolicLink()) {
    return refused("in_the_way", `${folder} is a symbolic link. Put a real folder there; nothing was changed.`);
  }
  if (!stat.isDirectory()) {
    return refused("in_the_way", `${folder} is not a folder. Move it away; nothing was changed.`);
  }
  if (process.platform === "win32") return { ok: true };
  if (stat.uid !== process.getuid?.()) {
    return refused(
      "rights",
      `${folder} belongs to user ${stat.uid}, not to you. Remove it or use another ACP_MASTER_HOME.`,
    );
  }
  if ((stat.mode & 0o077) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(4, "0");
    return refused("rights", `${folder} is open to other users (mode ${mode}). Run: chmod 700 '${folder}'`);
  }
  return checkFoldersAbove(folder);
}

/** Whoever can write a folder above can put another one in this one's place, unless the sticky bit forbids it. */
function checkFoldersAbove(folder: string): PrivateFolder {
  const real = attempt(() => realpathSync(folder));
  if (!real.ok) return refused("rights", `Cannot resolve ${folder} (${real.code}). Check its rights.`);
  for (let above = dirname(real.value); ; above = dirname(above)) {
    const stat = attempt(() => statSync(above));
    if (!stat.ok) return refused("rights", `Cannot read the folder ${above} (${stat.code}). Check its rights.`);
    if ((stat.value.mode & 0o002) !== 0 && (stat.value.mode & 0o1000) === 0) {
      return refused(
        "rights",
        `Any user can write ${above}, so ${folder} is not safe there. Run: chmod o-w '${above}'`,
      );
    }
    if (above === dirname(above)) return { ok: true };
  }
}

function refused(reason: "in_the_way" | "rights", message: string): PrivateFolder {
  return { ok: false, reason, message };
}

/** Runs one synchronous step under another file mode mask, so that what it makes is never wider, even for an instant. */
export function withUmask<Result>(mask: number, step: () => Result): Result {
  const before = process.umask(mask);
  try {
    return step();
  } finally {
    process.umask(before);
  }
}

function attempt<Value>(step: () => Value): { ok: true; value: Value } | { ok: false; code: string } {
  try {
    return { ok: true, value: step() };
  } catch (error) {
    return { ok: false, code: errorCode(error) };
  }
}
