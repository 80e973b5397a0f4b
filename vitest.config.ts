import { defineConfig } from "vitest/config";

// Unit tests read the workspace's sources; the end-to-end tests in test/ run the built programs.
const source = (name: string) => new URL(`./packages/${name}/src/index.ts`, import.meta.url).pathname;

export default defineConfig({
  resolve: {
    alias: {
      "@acp-master/wire": source("wire"),
      "@acp-master/permission-core": source("permission-core"),
      "@acp-master/proposal-channel/line-buffer": new URL(
        "./packages/proposal-channel/src/line-buffer.ts",
        import.meta.url,
      ).pathname,
      "@acp-master/proposal-channel": source("proposal-channel"),
      "@acp-master/helper-sdk/review": new URL("./packages/helper-sdk/src/proposals/review-client.ts", import.meta.url)
        .pathname,
      "@acp-master/helper-sdk": source("helper-sdk"),
    },
  },
  test: {
    include: [
      "packages/*/test/**/*.test.ts",
      "apps/*/test/**/*.test.ts",
      "examples/*/test/**/*.test.ts",
      "test/**/*.test.ts",
      "scripts/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "test/{agents,load,terminal,console}/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // Much of the end-to-end time is waiting: a third worker on two cores.
    maxWorkers: 3,
  },
});
