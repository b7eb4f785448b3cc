import { defineConfig } from "vitest/config";

export default defineConfig({
  define: { __VERSION__: JSON.stringify("0.0.0-test") },
  test: {
    include: ["test/unit/**/*.test.{ts,tsx}"],
    // Limits for what hangs: a busy machine of two cores may take ten times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default leaves one of two cores unused, and most tests wait for processes.
    maxWorkers: 2,
    // A worker for each file would load every module again.
    isolate: false,
    globalSetup: ["test/support/global-setup.ts"],
    expect: { poll: { timeout: 30_000 } },
  },
});
