// Rules of the user as checks of tool calls: what each of them reads, and which patterns are refused.
import { expect, test } from "vitest";
import { breaks, checkSchema, partsOf } from "../../../agent-core/learning/rule-checks.ts";

const judged = (check: unknown, input: object, isNew = true): boolean | undefined =>
  breaks(
    checkSchema.parse(check),
    partsOf(input, "/project", () => isNew),
  );

test.each([
  [{ on: "commit", require: "^chg:" }, { command: 'cd x && git add -A && git commit -qm "chg: one" -m body' }, false],
  [{ on: "commit", require: "^chg:" }, { command: "if true; then git -C a commit --message='upd: one'; fi" }, true],
  [{ on: "commit", require: "^chg:" }, { command: "echo git commit -m upd" }, undefined],
  [{ on: "path", forbid: "^vendor/" }, { path: "vendor/a.ts", content: "x" }, true],
  [{ on: "path", forbid: "^vendor/" }, { path: "/project/src/../vendor/a.ts", old_string: "", new_string: "x" }, true],
  [{ on: "path", forbid: "^vendor/" }, { mode: "patch", patch: "*** Update File: vendor/a.ts\n@@\n+x" }, true],
  [{ on: "path", forbid: "^vendor/" }, { path: "vendor/a.ts" }, undefined],
  [{ on: "new_file", require: "^# Contoso" }, { path: "a.txt", content: "# Contoso\n" }, false],
  [{ on: "new_file", require: "^# Contoso" }, { path: "a.txt", content: "one\n" }, true],
  [{ on: "text", forbid: "\\bvar " }, { path: "a.ts", old_string: "let a", new_string: "var a" }, true],
  [{ on: "command", forbid: "^npm " }, { command: "npm test" }, true],
])("the check %j judges %j as broken: %j", (check, input, expected) => {
  expect(judged(check, input)).toBe(expected);
});

test("a rule about new files does not read the whole text of a file that exists", () => {
  expect(judged({ on: "new_file", require: "^#" }, { path: "a.txt", content: "one" }, false)).toBeUndefined();
});

test("a pattern that is no regular expression, or that may never end, is no check", () => {
  for (const pattern of ["(", "(a+)+$", "", "x".repeat(201)]) {
    expect(checkSchema.safeParse({ on: "text", forbid: pattern }).success).toBe(false);
  }
});
