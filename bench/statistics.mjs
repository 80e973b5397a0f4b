// Medians and spread. Nothing else is quoted.
export const median = (values) => quantile(values, 0.5);

export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = Math.floor(at);
  const above = Math.ceil(at);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

/** Half the distance between the quartiles, as a part of the median. */
export const spread = (values) => (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median(values);

/** Of the last quarter, by least squares: how much a value grows from one sample to the next. */
export function lastQuarterSlope(values) {
  const last = values.slice(-Math.max(2, Math.floor(values.length / 4)));
  const meanAt = (last.length - 1) / 2;
  const mean = last.reduce((sum, value) => sum + value, 0) / last.length;
  let above = 0;
  let below = 0;
  for (const [at, value] of last.entries()) {
    above += (at - meanAt) * (value - mean);
    below += (at - meanAt) ** 2;
  }
  return above / below;
}
