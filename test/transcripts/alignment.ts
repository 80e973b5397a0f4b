// Which message of one sequence is which of the other: the pairing that keeps both orders and fits best.

export interface Likeness<T> {
  /** Only things of equal kind are paired. */
  kind(thing: T): string;
  /** Among those, equal content is preferred. */
  content(thing: T): string;
  /** Whether there is only one of this kind. Then nothing else is the same one, whatever became of its content. */
  isUnique(thing: T): boolean;
}

export interface Pairing<T> {
  readonly direct: T | undefined;
  readonly through: T | undefined;
}

/** In order; a side that is undefined has no counterpart. */
export function align<T>(direct: readonly T[], through: readonly T[], like: Likeness<T>): Pairing<T>[] {
  const width = through.length + 1;
  const seen = (thing: T) => ({
    kind: like.kind(thing),
    content: like.content(thing),
    weight: like.isUnique(thing) ? 5 : 1,
  });
  const left = direct.map(seen);
  const right = through.map(seen);
  // best[i, j]: the best that can be made of what follows direct[i] and through[j], both included.
  const best = new Int32Array((direct.length + 1) * width);
  const fit = (i: number, j: number): number => {
    const a = left[i]!;
    const b = right[j]!;
    if (a.kind !== b.kind) return 0;
    return a.weight + (a.content === b.content ? 3 : 0);
  };
  for (let i = direct.length - 1; i >= 0; i--) {
    for (let j = through.length - 1; j >= 0; j--) {
      const points = fit(i, j);
      const paired = points === 0 ? 0 : points + best[(i + 1) * width + j + 1]!;
      best[i * width + j] = Math.max(paired, best[(i + 1) * width + j]!, best[i * width + j + 1]!);
    }
  }
  const pairs: Pairing<T>[] = [];
  let i = 0;
  let j = 0;
  while (i < direct.length || j < through.length) {
    const here = best[i * width + j]!;
    const points = i < direct.length && j < through.length ? fit(i, j) : 0;
    if (points > 0 && here === points + best[(i + 1) * width + j + 1]!) {
      pairs.push({ direct: direct[i++], through: through[j++] });
    } else if (i < direct.length && here === best[(i + 1) * width + j]!) {
      pairs.push({ direct: direct[i++], through: undefined });
    } else {
      pairs.push({ direct: undefined, through: through[j++] });
    }
  }
  return pairs;
}
