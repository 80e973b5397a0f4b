// How long a message may be for the shim.

/** Above what the daemon can be configured to take: the daemon's limit is the one that is met and explained. */
export const longestFrame = 300 * 1024 * 1024;
