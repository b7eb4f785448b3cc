import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeFolderLine, typedLine } from "../../../extension/terminals/typed-line.ts";

test.each([
  "npm test",
  "./run --all",
  'A=1 make "$B"',
  "echo 'it is' \"quoted\" | sort && (exit 3)",
  "for i in 1 2; do echo $i; done",
])("%s is typed as it is", (command) => {
  expect(typedLine(command, "bash")).toBe(command);
});

test.each([
  ["several lines", "echo a\necho 'b c'"],
  ["a here-document", "cat <<'E'\n$x\ttab \\n\nE"],
  ["what a history would expand", 'echo "hey!x"'],
  ["a quote that is not closed in a comment", "echo a # it's"],
  ["backslashes and quotes", "printf '%s\\n' \"it's\" \\\n  'a\\b'"],
  ["a subshell at the beginning, of whose end bash tells nothing", "(echo a; exit 3) || echo b"],
  ["the definition of a function", "hello() { echo hello; }; hello"],
  ["a comment", "# nothing"],
  ["a condition", "if (exit 1); then echo yes; else echo no; fi"],
  ["Windows line ends", "echo a\r\necho b"],
])("%s become one line that does the same", (_, command) => {
  const line = typedLine(command, "bash") ?? "";
  expect(line).toMatch(/^eval /);
  expect(line).not.toMatch(/[\n\t!]/);
  const expected = execFileSync("bash", ["-c", command.replaceAll("\r\n", "\n")], { encoding: "utf8" });
  expect(execFileSync("bash", ["-c", line], { encoding: "utf8" })).toBe(expected);
});

test("a shell without that quoting takes single lines only", () => {
  expect(typedLine("ls -l", "fish")).toBe("ls -l");
  expect(typedLine("ls\nls", "fish")).toBeUndefined();
});

test("what is too long for a prompt is not typed", () => {
  expect(typedLine(`echo ${"x".repeat(4_000)}`, "bash")).toBeUndefined();
});

test("any folder can be gone to, whatever cd stands for", () => {
  const folder = join(mkdtempSync(join(tmpdir(), "hermes-typed-")), "it's a -folder");
  mkdirSync(folder);
  const script = `cd() { echo no; }; ${changeFolderLine(folder, "bash")}; pwd`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(`${folder}\n`);
});
