// The version that `--version` prints; it is the product's.

export const VERSION = "0.1.0";
