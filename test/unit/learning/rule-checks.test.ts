// Rules of the user as checks of tool calls: what each of them reads, and which patterns are refused.
import { expect, test } from "vitest";
import { breaks, checkOfValue, checkSchema, partsOf, placesKept } from "../../../agent-core/learning/rule-checks.ts";

const judged = (check: unknown, input: object, isNew = true): boolean | undefined =>
  breaks(
    checkSchema.parse(check),
    partsOf(input, "/project", () => isNew),
  );

test.each([
  [{ on: "commit", require: "^chg:" }, { command: 'cd x && git add -A && git commit -qm "chg: one" -m body' }, false],
  [{ on: "commit", require: "^chg:" }, { command: "if true; then git -C a commit --message='upd: one'; fi" }, true],
  [{ on: "commit", require: "^chg:" }, { command: "echo git commit -m upd" }, undefined],
  [{ on: "commit", require: "^chg:" }, { command: "git commit -m \"$(cat <<'EOF'\nchg: one\n\nbody\nEOF\n)\"" }, false],
  [{ on: "commit", require: "^chg:" }, { command: 'git commit -m "$MESSAGE"' }, undefined],
  [{ on: "new_file", require: "^#", except: ["config/*.conf"] }, { path: "config/a.conf", content: "x" }, undefined],
  [{ on: "new_file", require: "^#", except: ["config/*.conf"] }, { path: "notes/a.conf", content: "x" }, true],
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

test("a rule about files is not about the places of edits that break it and that the user kept", () => {
  const calls = [
    { path: "config/a.conf", content: "port=1" },
    { path: "notes/a.txt", content: "one" },
    { path: "notes/a.txt", content: "# one" },
    { path: "src/b.ts", content: "one" },
  ];
  const kept = new Set(["/project/config/a.conf", "/project/notes/a.txt"]);
  const places = (check: unknown) => placesKept(checkSchema.parse(check), calls, { cwd: "/project", kept });
  expect(places({ on: "new_file", require: "^#" })).toEqual(["config/*.conf"]);
  expect(places({ on: "path", forbid: "^config/" })).toEqual([]);
});

const PORT = { subject: "billing", attribute: "port", value: "8417" };
const TESTS = { subject: "tests", attribute: "command", value: "bin/check smoke" };

test.each([
  [PORT, { path: "a.conf", content: "service=billing\nport=8080" }, true],
  [PORT, { path: "a.env", content: "BILLING_PORT=8080" }, true],
  [PORT, { path: "config/billing.yml", new_string: "port: 8080" }, true],
  [PORT, { path: "config/billing.yml", new_string: "port: 8417" }, false],
  [PORT, { path: "a.conf", content: "service=mailer\nport=8080" }, undefined],
  [PORT, { path: "notes.md", content: "Ask Anna about billing." }, undefined],
  [{ subject: "账单", attribute: "端口", value: "8417" }, { path: "a.md", content: "账单 端口 8080" }, true],
  [TESTS, { command: "cd src && bin/check all | tee log" }, true],
  [TESTS, { command: "bin/check smoke --fast" }, false],
  [TESTS, { command: "cat bin/check" }, undefined],
  [{ ...TESTS, value: "npm run test:unit" }, { command: "npm run build" }, undefined],
  [{ ...TESTS, value: "pytest -q tests" }, { command: "pytest" }, true],
  [{ ...PORT, attribute: "" }, { path: "a.conf", content: "service=billing\nport=8080" }, undefined],
])("the value of %j judges %j as broken: %j", (fact, input, expected) => {
  const check = checkOfValue(fact);
  expect(check && judged(check, input)).toBe(expected);
});
