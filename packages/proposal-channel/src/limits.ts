// Every number of the proposal channel. Times are milliseconds on a monotonic clock, sizes are bytes.

export const maxPayloadBytes = 8192;

/** Without the line end: a payload whose every byte needs the longest JSON escape, and the rest of the message. */
export const maxFrameBytes = maxPayloadBytes * 6 + 1024;

/** An armed channel whose lease is exactly this old is no longer armed. */
export const leaseMs = 30_000;

/** After the first attempt. */
export const maxRetries = 2;

export const tombstoneMs = 180_000;
export const maxSessionTombstones = 4;
export const maxTombstones = 64;

export const decisionMs = 10_000;
export const cardMs = 10_000;
export const personMs = 600_000;
export const dispatchMs = 10_000;

export const readMs = 5_000;
export const maxConnections = 16;

/** One attempt before each wait and one after the last. */
export const connectDelaysMs: readonly number[] = [20, 50, 100, 200, 500, 1000];

/** Longer ones are cut or refused by the system. */
export const maxSocketPathBytes = 103;

/** In Unicode scalar values. */
export const maxTitleLength = 200;
export const maxRationaleLength = 2000;
export const maxInputLength = 8000;
export const maxChoices = 3;
export const maxActions = 3;
