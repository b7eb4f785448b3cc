import { defineConfig } from "vitest/config";

// Against the built bundles, as a foreign editor would start them.
export default defineConfig({
  define: { __VERSION__: JSON.stringify("0.0.0-test") },
  test: {
    include: ["test/acp/**/*.test.ts"],
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // The default leaves one of two cores unused, and most tests wait for processes.
    maxWorkers: 2,
    // A worker for each file would load every module again.
    isolate: false,
    globalSetup: ["test/support/global-setup.ts", "test/support/build-core.ts"],
  },
});
