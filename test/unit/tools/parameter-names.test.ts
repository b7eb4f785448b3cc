import { describe, expect, test } from "vitest";
import { resolveCall } from "../../../agent-core/agent/resolve-call.ts";
import { tools as browser } from "../../../agent-core/tools/browser.ts";
import { tool as cronjob } from "../../../agent-core/tools/cronjob.ts";
import { tool as delegate } from "../../../agent-core/tools/delegate-task.ts";
import { tool as executeCode } from "../../../agent-core/tools/execute-code.ts";
import { tool as memory } from "../../../agent-core/tools/memory.ts";
import { renamed } from "../../../agent-core/tools/parameter-names.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as process } from "../../../agent-core/tools/process.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as searchFiles } from "../../../agent-core/tools/search-files.ts";
import { tool as sessionSearch } from "../../../agent-core/tools/session-search.ts";
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

test.each<[string, object, object]>([["a plural with one item", { paths: ["a"] }, { path: "a" }]])(
  "%s is read",
  (_, written, meant) => {
    expect(run(readFile, written)).toMatchObject(meant);
  },
);

const typing = browser.find(({ name }) => name === "browser_type") ?? terminal;
const edit = { path: "a", old_string: "a", new_string: "b" };
test.each<[Tool, object, readonly object[]]>([
  [
    terminal,
    { command: "ls" },
    [
      { sandboxed: true },
      ...[{ no_network: true }, { disable_network: true }, { block_network: true }],
      ...[{ timeout_ms: 5_000 }, { timeout_minutes: 5 }, { no_background: true }, { old_workdir: "b" }],
    ],
  ],
  [
    searchFiles,
    { pattern: "x" },
    [{ exclude_path: "a" }, { ignore_paths: "a" }, { exclude_file_glob: "*.ts" }, { file_type: "ts" }],
  ],
  [patch, edit, [{ no_replace_all: true }, { replacements: 1 }]],
  [
    delegate,
    { goal: "x" },
    [
      ...[{ exclude_toolsets: ["web"] }, { disabled_toolsets: ["web"] }],
      ...[{ context_files: "a" }, { no_context: "a" }],
    ],
  ],
  [delegate, { tasks: [{ goal: "x" }] }, [{ description: "y" }, { prompt: "y" }]],
  [sessionSearch, { query: "x" }, [{ exclude_session_id: "1" }]],
  [typing, { ref: "e1", text: "x" }, [{ no_submit: true }]],
  [executeCode, { code: "1" }, [{ no_reset: true }]],
  [cronjob, { action: "list" }, [{ fallback_model: "a:b" }]],
  [
    readFile,
    { path: "a" },
    [
      ...[{ endpoint: "x9" }, { date_range: "2024-01" }],
      { should_read_entire_file: true, start_line_one_indexed: 1, end_line_one_indexed_inclusive: 1 },
    ],
  ],
])("a valid call of $name takes no parameter from a name that only shares a word with it", (tool, written, others) => {
  for (const other of others) expect(run(tool, { ...written, ...other })).toEqual({ ...written, ...other });
});

test.each<[readonly string[], string, string]>([
  [["path", "fileName"], "file_name", "fileName"],
  [["limit", "maxResults"], "max_results", "maxResults"],
  [["path", "targetFile"], "target_file", "targetFile"],
  [["content", "newContent"], "new_content", "newContent"],
  [["url", "uri"], "Uri", "uri"],
  [["offset", "startLine"], "start_line", "startLine"],
  [["data", "text"], "Text", "text"],
  [["workdir", "workingDirectory"], "working_directory", "workingDirectory"],
  [["goal", "description"], "Description", "description"],
])("a parameter out of %j is meant by %s when it is spelt alike", (known, written, meant) => {
  expect(renamed({ [written]: "x" }, known)).toEqual({ [meant]: "x" });
});

test("the text of a note to remove is its old text", () => {
  expect(run(memory, { action: "remove", text: "x" })).toEqual({ action: "remove", old_text: "x" });
});
