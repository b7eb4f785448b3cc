import { defineConfig } from "vitest/config";

// One real VS Code and one browser at a time: they need both cores of a small machine.
export default defineConfig({
  test: {
    // A window of VS Code on a busy machine takes its time.
    expect: { poll: { timeout: 20_000 } },
    include: ["test/e2e/**/*.test.ts"],
    globalSetup: ["test/support/run-folder.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
