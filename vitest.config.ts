import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * Tests that measure the memory of their process, and tests that mock a module of the core: in a shared worker
 * others may have loaded its importers with the real one.
 */
const ALONE = [
  "test/unit/tools/terminal/many-commands.test.ts",
  "test/unit/learning/consolidation.test.ts",
  "test/unit/learning/distillation/distillation.test.ts",
  "test/unit/learning/report/report.test.ts",
];

export default defineConfig({
  define: { __VERSION__: JSON.stringify("0.0.0-test") },
  // The real module exists only inside VS Code. Modules that need no more of it than its texts are tested with these.
  resolve: { alias: { vscode: fileURLToPath(new URL("test/support/vscode-texts.ts", import.meta.url)) } },
  test: {
    // Limits for what hangs: a busy machine of two cores may take ten times as long as a quiet one.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    // The default leaves one of two cores unused, and most tests wait for processes.
    maxWorkers: 2,
    projects: [
      // A worker for each file would load every module again.
      { extends: true, test: { name: "shared", include: ["test/unit/**/*.test.{ts,tsx}"], exclude: ALONE, isolate: false } },
      { extends: true, test: { name: "alone", include: ALONE } },
    ],
    globalSetup: ["test/support/global-setup.ts"],
    expect: { poll: { timeout: 60_000 } },
  },
});
