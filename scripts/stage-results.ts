// What a stage's report says: how many tests passed and failed, and which failed with what words.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { projectFolder } from "./project.ts";

export type StageResults = {
  readonly passed: number;
  readonly failed: number;
  /** One for each test, or test file, that failed: its name, and the first lines of what was wrong. */
  readonly failures: readonly string[];
};

/** What test/vscode/index.ts leaves. */
type SuiteReport = {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly { readonly title: string; readonly message: string }[];
};

/** The part of vitest's JSON report that is read here. */
type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
};

const MESSAGE_LINES = 12;

/**
 * Reads either report.
 * @throws when the stage left no report, or half of one.
 */
export function readStageResults(file: string): StageResults {
  const report: SuiteReport | VitestReport = JSON.parse(readFileSync(file, "utf8"));
  if (!("testResults" in report)) {
    return { ...report, failures: report.failures.map(({ title, message }) => shortened(title, message)) };
  }
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const path = relative(projectFolder, name);
    const failed = assertionResults.filter((test) => test.status === "failed");
    // A file that could not be loaded, or whose hook failed, has a message of its own and no test that says why.
    if (failed.length === 0) return status === "failed" ? [shortened(path, message ?? "")] : [];
    return failed.map((test) => shortened(`${path} ${test.fullName}`, (test.failureMessages ?? []).join("\n")));
  });
  return { passed: report.numPassedTests, failed: report.numFailedTests, failures };
}

/** A name, and below it the first lines of a message that are neither empty nor a place inside a library. */
function shortened(name: string, message: string): string {
  const lines = message.split("\n").filter((line) => line.trim() !== "" && !line.includes("/node_modules/"));
  return [name, ...lines.slice(0, MESSAGE_LINES)].join("\n");
}
