import { expect, test } from "vitest";
import { WrittenParts } from "../../../../agent-core/providers/dialect/written-parts.ts";
import type { ModelEvent, ToolSchema } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, joined } from "../../../conformance/collect.ts";

function read(text: string, chars: number, tools: readonly ToolSchema[]): readonly ModelEvent[] {
  const parts = new WrittenParts({ tools, allowsBareJson: true });
  const pieces = text.match(new RegExp(`[^]{1,${chars}}`, "gu")) ?? [];
  const events = pieces.flatMap((piece) => parts.take({ type: "text-delta", text: piece }));
  return [...events, ...parts.finish({ type: "finish", reason: "stop", usage: undefined })];
}

const listTool = { name: "mcp__files__list_dir", description: "", parameters: { type: "object", properties: {} } };
test.each(["files.list_dir", "files/list_dir", "mcp_files_list_dir", "mcp__files__list_dir", "ListDir", "list_dir"])(
  "a call of a server's tool as %s runs without arguments",
  (name) => {
    const wrote = [
      `{"name": "${name}"}`,
      `{"name": "${name}", "arguments": null}`,
      `{"name": "${name}", "arguments": {}}`,
    ];
    for (const json of wrote)
      for (const chars of [1, 9, 1_000])
        expect(callsOf(read(`<tool_call>${json}</tool_call>`, chars, [listTool]))).toEqual([
          ["mcp__files__list_dir", "{}"],
        ]);
  },
);

test.each([
  ["Claude Code", '<invoke name="Bash">\n<parameter name="command">ls</parameter>\n</invoke>', "Bash"],
  ["Qwen", '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>', "bash"],
  ["Cline", "<function=execute_command>\n<parameter=command>ls</parameter>\n</function>", "execute_command"],
  ["Codex", '<tool_call>{"name": "shell", "arguments": {"command": "ls"}}</tool_call>', "shell"],
  ["Copilot", '[TOOL_CALLS]run_in_terminal_command[ARGS]{"command": "ls"}', "run_in_terminal_command"],
])("a call of a tool of %s keeps its name, so that the answer names ours", (_, text, name) => {
  const terminal = { ...listTool, name: "terminal", parameters: { type: "object", properties: { command: {} } } };
  for (const chars of [1, 9, 1_000])
    expect(callsOf(read(text, chars, [terminal]))).toEqual([[name, '{"command":"ls"}']]);
});

test.each([
  '{"action": "create", "input": {"title": "x"}}',
  '{"name": "findUser", "parameters": {"id": "string"}}',
  '{"name": "ls", "type": "function"}',
  '{"name": "Bash", "arguments": {"command": "ls"}}',
  '{"name": "save", "args": ["a"]}',
  '{"tools": [{"name": "view", "parameters": {"path": "a"}}]}',
  '[{"name": "grep", "parameters": {"type": "object", "properties": {"a": {}}}}]',
  '```json\n{"name": "list_directory", "parameters": {"type": "object"}}\n```',
  '<input name="find">x</input>',
])("an answer in JSON with the name of another agent's tool is text: %s", (text) => {
  const tools = ["terminal", "search_files", "patch", "read_file", "write_file"].map((name) => ({ ...listTool, name }));
  for (const chars of [1, 9, 1_000]) {
    const events = read(text, chars, tools);
    expect(callsOf(events)).toEqual([]);
    expect(joined(events, "text-delta")).toBe(text);
  }
});

test("a server's tool is known by its own name where no other tool has it", () => {
  const owned = { ...listTool, name: "mcp__files__list" };
  const written =
    '<use_mcp_tool>\n<server_name>files</server_name>\n<tool_name>list</tool_name>\n<arguments>\n{"depth": 2}\n</arguments>\n</use_mcp_tool>';
  expect(callsOf(read(written, 3, [owned]))).toEqual([["mcp__files__list", '{"depth":2}']]);
});
