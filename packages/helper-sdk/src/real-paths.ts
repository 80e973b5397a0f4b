// Where a path really leads, and whether that is inside some folders. It follows every link in the order in which the
// system would, and says `undefined` when in doubt: no spelling of a path is ever trusted.
import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, sep } from "node:path";

/**
 * The real path of `path`, seen from `cwd`; of a new file, at its nearest existing parent. `undefined` for what may mean
 * something else to the program that uses it: a URI, a leading `~` or `$`, outer spaces, control characters, a dead link.
 */
export function realPath(path: string, cwd: string): string | undefined {
  if (path === "" || path !== path.trim() || isUnclear(path)) return undefined;
  const whole = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const { root } = parse(whole);
  if (root === "") return undefined;
  let current = root;
  let isMissing = false;
  for (const part of whole.slice(root.length).split(sep === "\\" ? /[\\/]/ : "/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (isMissing) return undefined; // the system would fail here; a program that joins texts would not
      current = dirname(current);
    } else if (isMissing) {
      current = join(current, part);
    } else {
      const next = follow(join(current, part));
      if (next === undefined) return undefined;
      ({ path: current, isMissing } = next);
    }
  }
  return current;
}

/** Compares by parts: `/a/bc` is not inside `/a/b`. Both must be real paths. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function isUnclear(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(path) || /^[a-z][a-z0-9+.-]+:/i.test(path) || /^[~$%]/.test(path);
}

function follow(path: string): { path: string; isMissing: boolean } | undefined {
  try {
    return { path: realpathSync.native(path), isMissing: false };
  } catch (error) {
    return isNotFound(error) && !exists(path) ? { path, isMissing: true } : undefined;
  }
}

/** A link that leads nowhere exists, too. */
function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return !isNotFound(error);
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
