// How long to wait before the page tries to reach the console again.

const firstMs = 500;
const longestMs = 10_000;

/**
 * Doubles with every failure up to ten seconds; anywhere in the upper half of that, so that many pages do not come at once.
 *
 *     waitMs(0, 1)     // 500
 *     waitMs(1, 0)     // 500
 *     waitMs(20, 0.5)  // 7500
 */
export function waitMs(failures: number, random: number): number {
  const cap = Math.min(longestMs, firstMs * 2 ** failures);
  return cap / 2 + (cap / 2) * random;
}
