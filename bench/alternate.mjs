// Side by side: each round measures every target once, so that a machine whose speed drifts drifts for all of them.

/** @param targets name → () => Promise<number>. Resolves to name → samples. The first round warms up and is not kept. */
export async function alternate(rounds, targets) {
  const samples = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(targets)) {
      const value = await measure();
      if (round > 0) samples[name].push(value);
    }
  }
  return samples;
}
