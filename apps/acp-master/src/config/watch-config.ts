// Watches config.json and reports each change as a loaded configuration. It touches neither the file nor its folder.
import { type FSWatcher, lstatSync, readFileSync, realpathSync, statSync, watch } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorCode } from "./error-code.ts";
import { type LoadedConfig, loadConfig } from "./load-config.ts";

/** Editors write in several steps; a file that is gone for less than this was being replaced. */
const settleMs = 150;
/** Where the system has no watch left to give, it is asked again this much later. */
const withoutWatchMs = 5000;

/**
 * Calls `onChange` after the content changed, valid or not, and never for the content that stood there at the call.
 * Follows files that are replaced by renaming, made later (with their folders), removed, or reached by a symlink.
 */
export function watchConfig(file: string, onChange: (loaded: LoadedConfig) => void): Disposable {
  return new ConfigWatch(resolve(file), onChange);
}

class ConfigWatch implements Disposable {
  readonly #file: string;
  readonly #onChange: (loaded: LoadedConfig) => void;
  #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #content: string;
  #disposed = false;

  constructor(file: string, onChange: (loaded: LoadedConfig) => void) {
    this.#file = file;
    this.#onChange = onChange;
    this.#content = fingerprint(file);
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** A folder is known by its inode, so that one that was replaced is watched anew. */
  #arm(): void {
    const wanted = new Map(foldersOf(this.#file).map((folder) => [identity(folder), folder]));
    for (const [known, watcher] of this.#watchers) {
      if (wanted.has(known)) continue;
      watcher.close();
      this.#watchers.delete(known);
    }
    for (const [key, folder] of wanted) {
      if (this.#watchers.has(key)) continue;
      const watcher = watchFolder(folder, () => this.#touched());
      if (watcher !== undefined) this.#watchers.set(key, watcher);
    }
    clearTimeout(this.#again);
    if (this.#watchers.size === wanted.size) return;
    this.#again = setTimeout(() => this.#touched(), withoutWatchMs);
    this.#again.unref();
  }

  #touched(): void {
    if (this.#disposed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settled(), settleMs);
    this.#timer.unref();
  }

  #settled(): void {
    const before = [...this.#watchers.keys()].join();
    this.#arm();
    // A folder that was made since may hold the file already, or the next folder.
    if ([...this.#watchers.keys()].join() !== before) this.#touched();
    const content = fingerprint(this.#file);
    if (content === this.#content) return;
    this.#content = content;
    this.#onChange(loadConfig(this.#file));
  }
}

function watchFolder(folder: string, touched: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, touched);
    watcher.on("error", touched);
    return watcher;
  } catch {
    // Gone in between, or no watches left: the next change of a folder above arms again.
    return undefined;
  }
}

/** The nearest folder above the file that exists, and that of a symlink's target. */
function foldersOf(file: string): string[] {
  const folders = [nearestFolder(dirname(file))];
  try {
    if (lstatSync(file).isSymbolicLink()) folders.push(dirname(realpathSync(file)));
  } catch {
    // No file, or a link to nothing: its folder tells when that changes.
  }
  return folders;
}

function nearestFolder(folder: string): string {
  const above = dirname(folder);
  return above === folder || isFolder(folder) ? folder : nearestFolder(above);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // not there
  }
}

function identity(folder: string): string {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return folder; // gone in between
  }
}

function fingerprint(file: string): string {
  try {
    return `text ${readFileSync(file, "latin1")}`;
  } catch (error) {
    return `no text ${errorCode(error)}`;
  }
}
