// Side by side: each round measures every target once, so that a machine whose speed drifts drifts for all of them.

/** @param targets name → () => Promise<number>. Resolves to name → samples. The first rounds warm up and are not kept. */
export async function alternate(rounds, targets, warmUps = 1) {
  const samples = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  for (let round = 1 - warmUps; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(targets)) {
      const value = await measure();
      if (round > 0) samples[name].push(value);
    }
  }
  return samples;
}
