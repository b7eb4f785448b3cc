import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { changeFolderLine, preparingLine, typedLine as typed } from "../../../extension/terminals/typed-line.ts";
import { hasPrograms } from "../../support/programs.ts";

function typedLine(line: string, shell: string, language: "sh" | "powershell" = "sh"): string | undefined {
  return typed({ line, language, env: {} }, { kind: shell, reportsWholeLine: true });
}

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

test("a shell of another language than the command was judged as takes nothing", () => {
  expect(typedLine("ls -l", "pwsh")).toBeUndefined();
  expect(typedLine("ls -l", "nu")).toBeUndefined();
  expect(typedLine("ls -l", "bash", "powershell")).toBeUndefined();
  expect(typedLine("Get-ChildItem | Sort-Object", "pwsh", "powershell")).toBe("Get-ChildItem | Sort-Object");
});

describe.each([
  ["bash", "export ONE=x TWO=x", "$?"],
  ["zsh", "export ONE=x TWO=x", "$?"],
  ["fish", "set -gx ONE x; set -gx TWO x", "$status"],
] as const)("%s", (shell, set, status) => {
  test.runIf(shell === "bash" || hasPrograms(shell))("passes no removed variable to its programs", () => {
    const script = `${set}; ${preparingLine(["ONE", "TWO", "THREE"], shell)}; echo ended ${status}; env`;
    const output = execFileSync(shell, ["-c", script], { encoding: "utf8" });
    expect(output).toMatch(/^ended 0$/m);
    expect(output).not.toMatch(/^(?:ONE|TWO|THREE)=/m);
  });
});

test("fish needs no preparing where nothing is kept from it", () => {
  expect(preparingLine([], "fish")).toBe("");
});

test.each(["echo one; echo two", "ls", "echo 'it is' \"quoted!\" \\\\ 'a\\b'\necho \ttwo\necho '50%'"])(
  "where bash tells of a first command only, %j becomes a single one that it tells of as it is typed",
  (command) => {
    const line = typed({ line: command, language: "sh", env: {} }, { kind: "bash", reportsWholeLine: false }) ?? "";
    const traced = execFileSync("bash", ["-c", `trap 'echo "[$BASH_COMMAND]"; trap - DEBUG' DEBUG\n${line}`], {
      encoding: "utf8",
    });
    expect(traced).toBe(`[${line}]\n${execFileSync("bash", ["-c", command], { encoding: "utf8" })}`);
  },
);

test("what is too long for a prompt is not typed", () => {
  expect(typedLine(`echo ${"x".repeat(4_000)}`, "bash")).toBeUndefined();
});

test("any folder can be gone to, whatever cd stands for", () => {
  const folder = join(mkdtempSync(join(tmpdir(), "hermes-typed-")), "it's a -folder");
  mkdirSync(folder);
  const script = `cd() { echo no; }; ${changeFolderLine(folder, "bash")}; pwd`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(`${folder}\n`);
});
