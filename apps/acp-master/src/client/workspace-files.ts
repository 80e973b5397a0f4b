// Serves an agent's file requests inside given folders, by real path. Nothing outside them is read or written, links included.
import { constants } from "node:fs";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { errorCode } from "../config/error-code.ts";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";

export type FileProblem = "not_absolute" | "outside" | "not_found" | "not_a_file" | "too_large" | "failed";

export class WorkspaceFileError extends Error {
  readonly problem: FileProblem;

  constructor(problem: FileProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "WorkspaceFileError";
    this.problem = problem;
  }
}

/** In the protocol's words: some agents know a file that is still to be made by them, not by the code. */
const NO_FILE = "Resource not found: there is no such file";
const largestFileBytes = 16 * 1024 * 1024;

export class WorkspaceFiles {
  readonly #roots: readonly [string, ...string[]];

  private constructor(roots: readonly [string, ...string[]]) {
    this.#roots = roots;
  }

  /** The first folder must exist; of the others one that does not gives no access and takes none away. */
  static async open(first: string, ...others: readonly string[]): Promise<WorkspaceFiles> {
    const root = await realpath(first).catch((error: unknown) => fail("not_found", "the folder is gone", error));
    const more = await Promise.allSettled(others.map((folder) => realpath(folder)));
    return new WorkspaceFiles([root, ...more.flatMap((found) => (found.status === "fulfilled" ? [found.value] : []))]);
  }

  /** The real path of a folder inside; the first root when none is named. */
  async folder(path: string | undefined): Promise<string> {
    return path === undefined ? this.#roots[0] : await this.#inside(path);
  }

  /** `line` counts from 1; `limit` is a number of lines. */
  async read(path: string, part: { line?: number | null; limit?: number | null } = {}): Promise<string> {
    const real = await this.#inside(path);
    const info = await stat(real).catch((error: unknown) => fail("not_found", NO_FILE, error));
    if (!info.isFile()) return fail("not_a_file", "this is not a regular file");
    if (info.size > largestFileBytes) return fail("too_large", `the file is longer than ${largestFileBytes} bytes`);
    await using file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) =>
      fail("failed", "the file cannot be read", error),
    );
    const text = await file.readFile("utf8");
    const { line, limit } = part;
    if ((line === undefined || line === null) && (limit === undefined || limit === null)) return text;
    const first = Math.max(0, (line ?? 1) - 1);
    return text
      .split(/(?<=\n)/)
      .slice(first, limit === undefined || limit === null ? undefined : first + limit)
      .join("");
  }

  /** Makes missing folders on the way and replaces the file's content. */
  async write(path: string, content: string): Promise<void> {
    const real = await this.#inside(path);
    await mkdir(dirname(real), { recursive: true });
    // Again, now that every folder on the way exists: what was just resolved must still be inside.
    const settled = await this.#inside(real);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    await using file = await open(settled, flags).catch((error: unknown) =>
      fail("failed", "the file cannot be written", error),
    );
    await file.writeFile(content, "utf8");
  }

  /** The real path, resolved at the nearest folder that exists. */
  async #inside(path: string): Promise<string> {
    if (!isAbsolute(path)) return fail("not_absolute", "the path is not absolute");
    const real = await nearestReal(path);
    if (this.#roots.some((root) => isInside(root, real))) return real;
    return fail("outside", "the path is outside the folders of this session");
  }
}

function isInside(root: string, real: string): boolean {
  const from = relative(root, real);
  return from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from);
}

async function nearestReal(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") return fail("failed", "the path cannot be resolved", error);
    const parent = dirname(path);
    return parent === path ? path : join(await nearestReal(parent), basename(path));
  }
}

function fail(problem: FileProblem, message: string, cause?: unknown): never {
  throw new WorkspaceFileError(problem, message, cause);
}
