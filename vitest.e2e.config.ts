import { defineConfig } from "vitest/config";

// One VS Code server and one browser for all files, and one window at a time: it needs both cores of a small machine.
export default defineConfig({
  test: {
    // A window of VS Code on a busy machine takes its time.
    expect: { poll: { timeout: 60_000 } },
    include: ["test/e2e/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts", "test/support/shared-vscode.ts"],
    pool: "forks",
    fileParallelism: false,
    isolate: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
