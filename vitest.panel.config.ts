import { defineConfig } from "vitest/config";

// The panel in a browser page, with the packaged extension and its agent in this process.
export default defineConfig({
  test: {
    expect: { poll: { timeout: 60_000 } },
    include: ["test/panel/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    isolate: false, // each worker has one browser for all its files
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
