// Opens a private regular file. It follows no link, and opens no pipe and no device.

import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, type Stats } from "node:fs";

/** Something else stands where a file or a folder of ours should be; it is left alone. */
export class InTheWayError extends Error {
  readonly code = "in_the_way";
}

export const READ = constants.O_RDONLY;
export const READ_WRITE = constants.O_RDWR | constants.O_CREAT;
export const APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
/** For a file that must not be there yet. */
export const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

const CAREFUL = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const OTHERS = 0o077;

/** Throws the system's error, or InTheWayError. A file that is made is 0600, and one that others may read becomes so. */
export function openRegular(path: string, access: number): { readonly descriptor: number; readonly stat: Stats } {
  // Looked at first: opening a pipe or a device can block or have effects.
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new InTheWayError(`${path} is not a regular file`);
  const descriptor = openSync(path, access | CAREFUL, 0o600);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new InTheWayError(`${path} is not a regular file`);
    if (access !== READ && (stat.mode & OTHERS) !== 0) fchmodSync(descriptor, 0o600);
    return { descriptor, stat };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
