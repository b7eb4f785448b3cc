import { describe, expect, test } from "vitest";
import { resolveCall } from "../../../agent-core/agent/resolve-call.ts";
import { tool as process } from "../../../agent-core/tools/process.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as searchFiles } from "../../../agent-core/tools/search-files.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import type { Tool } from "../../../agent-core/tools/tool.ts";

/** The arguments that run, for those that a model wrote. */
function run(tool: Tool, written: object): unknown {
  const call = {
    id: "1",
    type: "function",
    function: { name: tool.name, arguments: JSON.stringify(written) },
  } as const;
  const shell = { folder: "/w", process: () => undefined };
  const resolved = resolveCall(call, { tools: [tool], withheld: () => undefined, shell, cwd: "/w" });
  return resolved.ok ? resolved.input : resolved.text;
}

describe("a call with the optional parameters of another agent's tool", () => {
  test.each<[string, Tool, object, object]>([
    ["Claude Code's Bash", terminal, { command: "ls", run_in_background: true }, { command: "ls", background: true }],
    ["Cursor's terminal", terminal, { command: "ls", is_background: true }, { command: "ls", background: true }],
    ["Gemini CLI's shell", terminal, { command: "ls", dir_path: "src" }, { command: "ls", workdir: "src" }],
    ["a terminal with cwd", terminal, { command: "ls", cwd: "src" }, { command: "ls", workdir: "src" }],
    ["Claude Code's Grep", searchFiles, { pattern: "x", glob: "*.ts" }, { pattern: "x", file_glob: "*.ts" }],
    ["opencode's grep", searchFiles, { pattern: "x", include: "*.ts" }, { pattern: "x", file_glob: "*.ts" }],
    ["Cline's search", searchFiles, { regex: "x", file_pattern: "*.ts" }, { pattern: "x", file_glob: "*.ts" }],
    ["Copilot's search", searchFiles, { query: "x", includePattern: "*.ts" }, { pattern: "x", file_glob: "*.ts" }],
    ["Copilot's read", readFile, { filePath: "a", startLine: 10, endLine: 20 }, { path: "a", offset: 10, limit: 11 }],
    ["Cline's read", readFile, { path: "a", start_line: "10", end_line: "20" }, { path: "a", offset: 10, limit: 11 }],
    ["Anthropic's editor", readFile, { path: "a", view_range: [10, 20] }, { path: "a", offset: 10, limit: 11 }],
    ["its end of a file", readFile, { path: "a", view_range: [10, -1] }, { path: "a", offset: 10 }],
    ["a range as text", readFile, { path: "a", lines: "10-20" }, { path: "a", offset: 10, limit: 11 }],
    [
      "Cursor's read",
      readFile,
      { target_file: "a", start_line_one_indexed: 10, end_line_one_indexed_inclusive: 20 },
      { path: "a", offset: 10, limit: 11 },
    ],
    ["Claude Code's KillShell", process, { action: "kill", shell_id: "p1" }, { action: "kill", id: "p1" }],
  ])("runs with them: %s", (_, tool, written, meant) => {
    expect(run(tool, written)).toEqual(meant);
  });

  test("keeps names that mean nothing here, and its own", () => {
    const written = { command: "ls", description: "Lists", workdir: "a", cwd: "b" };
    expect(run(terminal, written)).toEqual(written);
  });
});

test.each<[string, object, object]>([
  [
    "numbers with signs between thousands",
    { path: "a", offset: "1,200", limit: "1_000" },
    { offset: 1_200, limit: 1_000 },
  ],
  ["a plural with one item", { paths: ["a"] }, { path: "a" }],
])("%s are read", (_, written, meant) => {
  expect(run(readFile, written)).toMatchObject(meant);
});
