// What a row has to show. A goal reads medians of one run and says by how much it is met.
import { median } from "./statistics.mjs";

const judge = (value, { least = -Infinity, most = Infinity }) => value >= least && value <= most;

/** One target's median over another's. */
export const ratio = (what, target, base, bounds) => ({
  what: `${what}: ${target} / ${base}`,
  bounds,
  of(samples) {
    const value = median(samples[target]) / median(samples[base]);
    return { value, unit: "×", met: judge(value, bounds) };
  },
});

/** A median, or what `of` makes of the samples. */
export const value = (what, unit, of, bounds) => ({
  what,
  bounds,
  of(samples) {
    const found = of(samples);
    return { value: found, unit, met: judge(found, bounds) };
  },
});

export const sayBounds = ({ least, most }) =>
  [least === undefined ? "" : `≥ ${least}`, most === undefined ? "" : `≤ ${most}`].filter(Boolean).join(" and ");
