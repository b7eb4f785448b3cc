import { expect, test } from "vitest";
import { exitNote } from "../../../../agent-core/tools/terminal/output-text.ts";

const exit = (exitCode: number | null, signal: string | null = null) => ({ exitCode, signal });

test.each([
  ["true", exit(0), "exit code 0"],
  ["make", exit(2), "exit code 2"],
  ["grep x file", exit(1), "exit code 1: no match"],
  ["cd a; LC_ALL=C grep x file | grep y", exit(1), "exit code 1: no match"],
  ["grep 'a && b' file", exit(1), "exit code 1: no match"],
  ["make && grep x file", exit(1), "exit code 1"],
  ["diff a b", exit(1), "exit code 1: they differ"],
  ["[ -e x ]", exit(1), "exit code 1: the condition is false"],
  ["timeout 5 make", exit(124), "exit code 124: the time given to `timeout` ran out"],
  ["nope", exit(127), "exit code 127: command not found"],
  ["eat-memory", exit(137), "exit code 137: killed, often for lack of memory"],
  ["x", exit(null, "SIGSEGV"), "ended by signal SIGSEGV"],
  ["x", exit(null), "exit code unknown"],
])("%s", (command, how, note) => {
  expect(exitNote(command, how)).toBe(note);
});
