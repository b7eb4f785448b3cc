// Hooks in the files of Cursor, Codex and Gemini CLI, and how a command line is built on Windows.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { readForeignHooks } from "../../../agent-core/hooks/foreign-hooks.ts";
import { HooksWorkspace } from "./support/hooks-workspace.ts";

let workspace: HooksWorkspace;
beforeEach(() => {
  workspace = new HooksWorkspace();
});

const bash = { tool: "terminal", input: { command: "touch a" } };
const read = { tool: "read_file", input: { path: "a.txt" } };
const cursor = (event: string, command: string, more = {}) => ({
  version: 1,
  hooks: { [event]: [{ command, ...more }] },
});
const input = () => JSON.parse(readFileSync(join(workspace.cwd, "in.json"), "utf8"));
const runCursor = async (hooks: object, ...rest: [Parameters<HooksWorkspace["run"]>[1], "post_tool_call"?]) => {
  workspace.put(".cursor/hooks.json", hooks);
  return workspace.run(await workspace.allowed(), ...rest);
};

test.each([
  ["denies", 'echo \'{"permission":"deny","agent_message":"no"}\'', { decision: "block", reasons: ["no"] }],
  ["asks", 'echo \'{"permission":"ask"}\'', { decision: "ask" }],
  ["exits with 2", "echo no >&2; exit 2", { decision: "block", reasons: ["no"] }],
  ["changes the input", 'echo \'{"updated_input":{"command":"ls"}}\'', { input: { command: "ls" } }],
])("a hook of Cursor that %s counts", async (_, command, verdict) => {
  expect(await runCursor(cursor("beforeShellExecution", command), bash)).toMatchObject(verdict);
});

test("a failed hook of Cursor lets the call go on, unless it is closed", async () => {
  expect((await runCursor(cursor("beforeShellExecution", "exit 1"), bash)).decision).toBe("continue");
  const closed = cursor("beforeShellExecution", "exit 1", { failClosed: true });
  expect(await runCursor(closed, bash)).toMatchObject({ decision: "block" });
});

test("events of Cursor are of their own calls, and a matcher of theirs is for the command", async () => {
  expect((await runCursor(cursor("beforeReadFile", "exit 2"), bash)).decision).toBe("continue");
  expect(await runCursor(cursor("beforeReadFile", "exit 2"), read)).toMatchObject({ decision: "block" });
  const guard = (matcher: string) => cursor("beforeShellExecution", "exit 2", { matcher });
  expect((await runCursor(guard("^curl"), bash)).decision).toBe("continue");
  expect(await runCursor(guard("curl|touch"), bash)).toMatchObject({ decision: "block" });
  expect(await runCursor(cursor("preToolUse", "exit 2", { matcher: "Shell" }), bash)).toMatchObject({
    decision: "block",
  });
});

test("a matcher of Cursor's events for servers is for the tool's name, and one that no tool has is a problem", async () => {
  const call = { tool: "mcp__a__b", input: { command: "x" } };
  const guard = (matcher: string, event = "beforeMCPExecution") => cursor(event, "exit 2", { matcher });
  for (const hooks of [guard("MCP:b"), guard("b"), guard("^b$"), guard("mcp__a__b"), guard("MCP:b", "preToolUse")])
    expect(await runCursor(hooks, call)).toMatchObject({ decision: "block" });
  expect((await runCursor(guard("MCP:c"), call)).decision).toBe("continue");
  for (const hooks of [guard("a/b"), guard("a:b", "preToolUse")]) {
    workspace.put(".cursor/hooks.json", hooks);
    expect((await readForeignHooks(workspace.cwd)).problems).toEqual([expect.stringContaining("names no tool")]);
  }
  workspace.put(".cursor/hooks.json", guard("Shell|Delete", "preToolUse"));
  expect(await readForeignHooks(workspace.cwd)).toMatchObject({ problems: [], hooks: [{ matcher: "Shell|Delete" }] });
});

test("Gemini CLI gives timeouts in milliseconds, and its settings of hooks are no events", async () => {
  const hooks = [
    { name: "a", command: "exit 2", timeout: 5_000 },
    { command: "b" },
    { name: "c", command: "c", timeout: 5_000 },
  ];
  const settings = { enabled: true, disabled: ["a", "b"], notifications: false };
  const events = { BeforeTool: [{ matcher: "*", hooks }] };
  workspace.put(".gemini/settings.json", { hooks: { ...settings, ...events } });
  const found = await readForeignHooks(workspace.cwd);
  expect(found).toMatchObject({ problems: [], hooks: [{ command: "c", timeoutSeconds: 5 }] });
  workspace.put(".gemini/settings.json", { hooks: { ...events, enabled: false } });
  expect(await readForeignHooks(workspace.cwd)).toMatchObject({ problems: [], hooks: [] });
});

test("hooks of Cursor get its fields", async () => {
  await runCursor(cursor("beforeShellExecution", "cat > in.json"), bash);
  const common = { conversation_id: "s1", workspace_roots: [workspace.cwd] };
  expect(input()).toMatchObject({ ...common, hook_event_name: "beforeShellExecution", command: "touch a" });
  const edit = { tool: "patch", input: { mode: "replace", path: "a.txt", old_string: "x", new_string: "y" } };
  await runCursor(
    cursor("afterFileEdit", "cat > in.json"),
    { ...edit, extra: { ok: true, result: "done" } },
    "post_tool_call",
  );
  expect(input()).toMatchObject({
    file_path: join(workspace.cwd, "a.txt"),
    edits: [{ old_string: "x", new_string: "y" }],
  });
});

test.each([
  [".codex/hooks.json", "PreToolUse", "Bash"],
  [".gemini/settings.json", "BeforeTool", "run_shell_command"],
])("a guard in %s blocks", async (path, event, matcher) => {
  const command = 'echo \'{"decision":"deny","reason":"no"}\'';
  workspace.put(path, { hooks: { [event]: [{ matcher, hooks: [{ type: "command", command }] }] } });
  expect(await workspace.run(await workspace.allowed(), bash)).toMatchObject({ decision: "block", reasons: ["no"] });
  expect(existsSync(join(workspace.cwd, "in.json"))).toBe(false);
});

test("in Copilot's form a guard that asks and fails blocks", async () => {
  const command = 'echo \'{"permissionDecision":"ask"}\'; exit 1';
  workspace.put(".github/hooks/a.json", { version: 1, hooks: { preToolUse: [{ type: "command", bash: command }] } });
  expect(await workspace.run(await workspace.allowed(), bash)).toMatchObject({ decision: "block" });
});

test("JSON of several lines after a log is the answer", async () => {
  const command = 'printf \'loading\\n{\\n "hookSpecificOutput": {\\n "permissionDecision": "deny"\\n }\\n}\\n\'';
  workspace.put(".claude/settings.json", { hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } });
  expect(await workspace.run(await workspace.allowed(), bash)).toMatchObject({ decision: "block" });
});

test.each([
  ["a variable of Unix", { command: 'node "$CLAUDE_PROJECT_DIR/a.js"' }, 'node "%CLAUDE_PROJECT_DIR%/a.js"'],
  ["arguments", { command: "node", args: ["a b", '"c"'] }, String.raw`"node" "a b" "\"c\""`],
  [
    "a line of PowerShell",
    { powershell: "./a.ps1 -x" },
    expect.stringMatching(/^(?:powershell|pwsh) -NoProfile -Command "\.\/a\.ps1 -x"$/),
  ],
  ["a line for Windows", { command: "sh a.sh", windows: "a.cmd" }, "a.cmd"],
])("on Windows a hook with %s has a line for cmd", async (_, handler, line) => {
  const own = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
  onTestFinished(() => void Object.defineProperty(process, "platform", own));
  workspace.put(".claude/settings.json", { hooks: { PreToolUse: [{ hooks: [{ type: "command", ...handler }] }] } });
  Object.defineProperty(process, "platform", { ...own, value: "win32" });
  const { hooks } = await readForeignHooks(workspace.cwd);
  expect(hooks.map(({ command }) => command)).toEqual([line]);
});

const edit = (path: string) => ({ tool: "patch", input: { mode: "replace", path, old_string: "x", new_string: "y" } });
const write = (path: string) => ({ tool: "write_file", input: { path, content: "x" } });
const guarded = (event: string, matcher: string) => {
  workspace.put(".claude/settings.json", {
    hooks: { [event]: [{ matcher, hooks: [{ type: "command", command: "exit 2" }] }] },
  });
};

test.each([
  ["Edit(*.ts)|Write(*.ts)", [edit("src/a.ts"), write("a.ts")], [edit("a.md"), bash]],
  ["Read(*.env), Bash(touch *)", [{ ...read, input: { path: "a.env" } }, bash], [read, edit("a.env")]],
  ["Bash(git *)|Bash(npm *) | Bash(touch *)", [bash], [{ ...bash, input: { command: "ls" } }, read]],
  ["Bash(touch *)", [bash], [{ ...bash, input: { command: "ls" } }, read]],
  ["Bash(echo (a|b)|touch *)", [], [read]],
])("rules in place of a matcher select calls: %s", async (matcher, selected, others) => {
  guarded("PreToolUse", matcher);
  expect((await readForeignHooks(workspace.cwd)).problems).toEqual([]);
  const verdicts = await workspace.allowed();
  for (const call of selected) expect(await workspace.run(verdicts, call)).toMatchObject({ decision: "block" });
  for (const call of others) expect((await workspace.run(verdicts, call)).decision).toBe("continue");
});

test.each(["Edit(*.ts)|Write", "Edit|Write(*.ts)", "Edit(*.ts) or Write(*.ts)", "Edit(*.ts)|MyTool(*.ts)"])(
  "a guard whose matcher %s is no rule runs for all calls, with a warning",
  async (matcher) => {
    guarded("PreToolUse", matcher);
    expect((await readForeignHooks(workspace.cwd)).problems).toEqual([
      expect.stringContaining('without its "matcher"'),
    ]);
    const verdicts = await workspace.allowed();
    for (const call of [edit("a.ts"), write("a.md"), bash])
      expect(await workspace.run(verdicts, call)).toMatchObject({ decision: "block" });
  },
);

test.each(["UserPromptSubmit", "Stop", "SessionStart", "SubagentStop"])(
  "a rule in place of a matcher leaves a hook for %s, which has no tool, as it is",
  async (event) => {
    guarded(event, "Bash(touch .*)");
    const matcher = "Bash(touch .*)";
    expect(await readForeignHooks(workspace.cwd)).toMatchObject({
      problems: [],
      hooks: [{ matcher, rule: undefined }],
    });
  },
);
