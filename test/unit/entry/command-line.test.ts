import { expect, test } from "vitest";
import { parseCommandLine } from "../../../agent-core/entry/command-line.ts";
import { parseJobsLine } from "../../../agent-core/entry/jobs-command.ts";

test.each([
  ["plugins", "foo"],
  ["plugins", "list", "a", "b"],
  ["skills", "foo"],
  ["mcp", "foo"],
])("a command with unknown words is an error that lists its commands: %s %s", (...words) => {
  expect(parseCommandLine(words)).toMatchObject({
    kind: "invalid",
    message: expect.stringMatching(/has no command ".*"\. Available: list, .*\. Put a prompt into quotes\.$/),
  });
});

test.each([
  ["cron", "foo"],
  ["cron", "list", "foo"],
  ["learning", "foo"],
  ["learning", "forget", "a", "b"],
])("so is one of planned jobs and of learning: %s %s", (...words) => {
  expect(() => parseJobsLine(words)).toThrow(/has no command ".*"\. Available: /);
});

test("doctor takes no argument, and options follow cron and learning", () => {
  expect(parseCommandLine(["doctor", "x"])).toMatchObject({ kind: "invalid" });
  expect(parseCommandLine(["--json", "cron", "list"])).toMatchObject({ kind: "invalid" });
  expect(parseJobsLine(["cron", "--help"])).toBeUndefined();
});

test("quoted words are a prompt, whatever they begin with", () => {
  expect(parseCommandLine(["cron jobs fail, why?"])).toMatchObject({ kind: "run" });
  expect(parseCommandLine(["explain", "plugins"])).toMatchObject({
    kind: "run",
    options: { prompt: "explain plugins" },
  });
});
