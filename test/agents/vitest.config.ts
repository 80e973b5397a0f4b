// The tests with programs from the npm registry. `npm run test:agents` installs those and runs this.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/agents/**/*.test.ts"],
    // Real agents take seconds to start, more on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 1,
  },
});
