// Results of a test stage, read from its report.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { projectFolder } from "./project.ts";

export type StageResults = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One for each failed test or test file: its name, and the first lines of its message. */
  readonly failures: readonly string[];
};

/** Report of test/vscode/index.ts. */
type SuiteReport = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped?: number;
  readonly failures: readonly { readonly title: string; readonly message: string }[];
};

/** Part of vitest's JSON report. */
type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
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

/** @throws when there is no report, or half of one. */
export function readStageResults(file: string): StageResults {
  const report: SuiteReport | VitestReport = JSON.parse(readFileSync(file, "utf8"));
  if (!("testResults" in report)) {
    return { skipped: 0, ...report, failures: report.failures.map(({ title, message }) => shortened(title, message)) };
  }
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const path = relative(projectFolder, name);
    const failed = assertionResults.filter((test) => test.status === "failed");
    // A file that does not load, or whose hook fails, has a message of its own and no failed test.
    if (failed.length === 0) return status === "failed" ? [shortened(path, message ?? "")] : [];
    return failed.map((test) => shortened(`${path} ${test.fullName}`, (test.failureMessages ?? []).join("\n")));
  });
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report;
  return { passed, failed, skipped, failures };
}

/** The name, and below it the first lines of the message without empty ones and stack frames in libraries. */
function shortened(name: string, message: string): string {
  const lines = message.split("\n").filter((line) => line.trim() !== "" && !line.includes("/node_modules/"));
  return [name, ...lines.slice(0, MESSAGE_LINES)].join("\n");
}
