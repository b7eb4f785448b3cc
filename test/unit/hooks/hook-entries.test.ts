// Fields of a hook's entry in Claude Code's settings: which calls it is for, how it runs, and which fields switch it off.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type HookFacts, Hooks } from "../../../agent-core/hooks/hook.ts";
import { HooksWorkspace } from "./support/hooks-workspace.ts";

let workspace: HooksWorkspace;
let cwd: string;
let home: string;
let shown: readonly string[];

beforeEach(() => {
  workspace = new HooksWorkspace();
  ({ cwd, home, shown } = workspace);
});

const put = (...given: Parameters<HooksWorkspace["put"]>): void => workspace.put(...given);
const allowed = (...given: Parameters<HooksWorkspace["allowed"]>) => workspace.allowed(...given);
const never = new AbortController().signal;
const run = (...given: Parameters<HooksWorkspace["run"]>) => workspace.run(...given);

const bash = { tool: "terminal", input: { command: "ls" } };
const group = (matcher: string, command: string) => ({ matcher, hooks: [{ type: "command", command }] });
const seen = () => readFileSync(join(cwd, "seen.json"), "utf8");
const claude = (event: string, ...entries: readonly unknown[]) => ({ hooks: { [event]: entries } });

const terminal = (command: string) => ({ tool: "terminal", input: { command } });
const file = (tool: string, path: string) => ({ tool, input: { path, content: "", mode: "replace" } });

/** Rule of a hook's `if`, calls that it selects, and calls that it leaves alone. */
const rules: readonly (readonly [string, readonly HookFacts[], readonly HookFacts[]])[] = [
  [
    "Bash(rm *)",
    [
      "rm -rf build",
      "rm",
      "CI=1 rm x",
      "cd a && rm b",
      "echo $(rm c)",
      "timeout 5 rm d",
      "echo 'rm",
      "if a; then rm b; fi",
    ].map(terminal),
    ["ls", "rmdir x", "echo rm", 'git commit -m "rm old files"', "npm run rm"].map(terminal),
  ],
  [
    "Bash(git push:*)",
    ["git push", "git push -f origin", "git add . ; git push"].map(terminal),
    ["git pushy", "git pull"].map(terminal),
  ],
  [
    "Bash(npm run test)",
    ["npm run test", "npm  run test"].map(terminal),
    ["npm run test:e2e", "npm run build"].map(terminal),
  ],
  ["Bash(* --force)", ["git push --force", "npm i --force"].map(terminal), ["git push"].map(terminal)],
  [
    "Edit(*.ts)",
    [file("patch", "src/a.ts"), file("write_file", "b.ts")],
    [file("patch", "a.tsx"), file("read_file", "a.ts")],
  ],
  ["Edit(/src/**)", [file("patch", "src/a/b.css")], [file("patch", "lib/a.css"), file("patch", "/etc/hosts")]],
  ["Read(~/.ssh/**)", [file("read_file", join(homedir(), ".ssh/config"))], [file("read_file", ".ssh.md")]],
  ["Read(//etc/passwd)", [file("read_file", "/etc/passwd")], [file("read_file", "/etc/group")]],
  ["mcp__github__*", [{ tool: "mcp__github__delete", input: {} }], [{ tool: "mcp__git__x", input: {} }]],
  [
    "mcp__db__query(sql:DROP *)",
    [{ tool: "mcp__db__query", input: { sql: "DROP TABLE a" } }],
    [{ tool: "mcp__db__query", input: { sql: "SELECT" } }],
  ],
  [
    "WebFetch(domain:example.com)",
    [{ tool: "web_extract", input: { urls: ["https://example.com/a"] } }],
    [{ tool: "web_extract", input: { urls: ["https://example.org/?example.com"] } }],
  ],
];

test.each(rules)(
  "a guard with the if %s judges the calls that it selects, and no others",
  async (rule, selected, others) => {
    const isMatcher = rule.includes("(") && !rule.includes("__"); // people also write it there
    const guard = { type: "command", command: "exit 2", [isMatcher ? "matcher" : "if"]: rule };
    put(".claude/settings.json", claude("PreToolUse", { hooks: [guard] }));
    const hooks = await allowed();
    for (const call of selected)
      expect(await run(hooks, call), JSON.stringify(call)).toMatchObject({ decision: "block" });
    for (const call of others)
      expect(await run(hooks, call), JSON.stringify(call)).toMatchObject({ decision: "continue" });
  },
);

test.each([
  [
    "a type that is no command",
    { type: "http", url: "http://127.0.0.1" },
    "Hermes runs commands, and its type is http",
  ],
  ["an unknown shell", { shell: "zsh" }, "its shell is not valid"],
])("a hook with %s is off, and one line names it", async (_, more, reason) => {
  const hook = { type: "command", command: "exit 2", ...more };
  put(".claude/settings.json", claude("PreToolUse", { matcher: "Bash", hooks: [hook, hook] }));
  const hooks = await allowed();
  expect(shown).toEqual([`.claude/settings.json: a hook for PreToolUse is not used, because ${reason}.`]);
  expect(await run(hooks, bash)).toMatchObject({ decision: "continue" });
});

test.each([
  ["a field of its own that nobody here knows", { priority: 1 }, {}, "priority"],
  ["a field of its group that nobody here knows", {}, { enabled: true }, "enabled"],
  ["two fields that nobody here knows", { retries: 2 }, { continueOnError: false }, 'continueOnError", "retries'],
  ["an if that is no rule", { if: "Bash(rm *) && Read" }, {}, "if"],
  ["an if that is a list", { if: ["Read"] }, {}, "if"],
  ["a matcher that is a list", {}, { matcher: ["Read"] }, "matcher"],
  ["a matcher that is no expression", {}, { matcher: "Read(" }, "matcher"],
  ["a timeout in words", { timeout: "a minute" }, {}, "timeout"],
])("a guard with %s checks each call, and one line names the field", async (_, own, group, field) => {
  const hook = { type: "command", command: "exit 2", ...own };
  put(".claude/settings.json", claude("PreToolUse", { ...group, hooks: [hook] }));
  const hooks = await allowed();
  const line = `.claude/settings.json: a hook for PreToolUse runs without its "${field}", which Hermes does not understand.`;
  expect(shown[0]).toBe(line);
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
});

test("an entry of null stands for nothing, and the guard beside it checks calls", async () => {
  const hook = { type: "command", command: "exit 2" };
  put(".claude/settings.json", claude("PreToolUse", null, { hooks: [null, hook, null] }, { hooks: null }));
  const hooks = await allowed();
  expect(shown).toEqual(["1 hook needs your consent before it runs. /hooks shows the commands."]);
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
});

test("a file of brackets deeper than the stack is named, and its neighbours count", async () => {
  put(".claude/settings.json", `{"hooks":${"[".repeat(50_000)}`);
  put(".claude/settings.local.json", claude("PreToolUse", { hooks: [{ type: "command", command: "exit 2" }] }));
  const hooks = await allowed();
  expect(shown[0]).toBe(
    ".claude/settings.json: its hooks are not used, because the file is not valid at its beginning.",
  );
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
});

/** A variable as a shell writes it with brackets, which a template would fill in. */
const braced = (name: string): string => `$\{${name}}`;
const script = ".claude/hooks/check.sh";

test.each([
  { shell: "bash", command: `"$CLAUDE_PROJECT_DIR"/${script}` },
  { shell: "bash", command: `$CLAUDE_PROJECT_DIR/${script}` },
  { shell: "bash", command: `"${braced("CLAUDE_PROJECT_DIR")}/${script}"` },
  { shell: "bash", command: `"${braced("CLAUDE_PROJECT_DIR")}"/${script}` },
  { shell: "bash", command: `bash "${script}"` },
  { shell: "bash", command: `sh '${script}' && true` },
  { shell: "bash", command: `"$(git rev-parse --show-toplevel)"/${script}` },
  { command: `"${braced("CLAUDE_PROJECT_DIR:-.")}/${script}"` },
  { command: `cd "$PWD"; "$PWD/${script}"` },
  { command: `bash -c 'exec sh "$CLAUDE_PROJECT_DIR"/${script}'` },
  { command: "sh", args: [`${braced("CLAUDE_PROJECT_DIR")}/${script}`] },
  { shell: "bash", command: "sh .claude/the\\ hooks/check" },
  { shell: "bash", command: 'sh "$CLAUDE_PROJECT_DIR/.claude/the hooks/check"' },
  { command: "sh", args: [`${braced("CLAUDE_PROJECT_DIR")}/.claude/the hooks/check`] },
])("the guard %j needs a new consent when its script changes", async (written) => {
  workspace.cwd = join(workspace.cwd, "my work");
  ({ cwd } = workspace);
  for (const path of [script, ".claude/the hooks/check"]) put(path, "exit 0\n");
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ type: "command", ...written }] }));
  const hooks = await allowed();
  for (const path of [script, ".claude/the hooks/check"]) put(path, "exit 0 # changed\n");
  expect(await run(hooks, bash)).toMatchObject({
    decision: "block",
    reasons: [expect.stringContaining("its script has changed")],
  });
});

test("the variable of a hook that names bash is filled in by that bash alone", async () => {
  workspace.cwd = join(workspace.cwd, 'a "$(touch made)" b');
  ({ cwd } = workspace);
  const command = `printf %s "${braced("CLAUDE_PROJECT_DIR")}" >&2; exit 2`;
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ type: "command", shell: "bash", command }] }));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "block", reasons: [cwd] });
  expect(existsSync(join(cwd, "made"))).toBe(false);
});

test("a command with a word longer than a name of a file runs", async () => {
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ command: `: ${"x".repeat(5_000)}; exit 2` }] }));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "block" });
});

test.each([
  ["comments and trailing commas", (text: string) => `// ours\n${text.slice(0, -1)}, /* end */ }`],
  ["a byte order mark", (text: string) => `\ufeff${text}`],
  ["CRLF", (text: string) => text.replaceAll(",", ",\r\n")],
])("a file of hooks with %s is read", async (_, written) => {
  const text = JSON.stringify(claude("PreToolUse", { hooks: [{ type: "command", command: "exit 2" }] }));
  put(".claude/settings.json", written(text));
  put(".github/hooks/a.json", written(text));
  const hooks = await allowed();
  expect([hooks.active.length, shown.length]).toEqual([2, 1]);
  expect(await run(hooks, bash)).toMatchObject({ decision: "block", decidedBy: ["exit 2", "exit 2"] });
});

test.each([
  [true, undefined, 0],
  [undefined, true, 0],
  [true, false, 2],
  [undefined, undefined, 2],
] as const)(
  "disableAllHooks %s in the project and %s in the local file leave %i hooks",
  async (project, local, count) => {
    const entry = claude("PreToolUse", { hooks: [{ type: "command", command: "exit 2" }] });
    put(".claude/settings.json", { ...entry, disableAllHooks: project });
    put(".claude/settings.local.json", { ...entry, disableAllHooks: local });
    expect((await allowed()).active).toHaveLength(count);
  },
);

test("remarks and the fields of a group do not stop a hook", async () => {
  const hook = {
    type: "command",
    command: "exit 2",
    statusMessage: "Checking",
    once: true,
    args: null,
    shell: "",
    rewakeSummary: "z",
    _note: "x",
    description: "y",
  };
  put(".claude/settings.json", claude("PreToolUse", { description: "Guards", if: "Bash(ls)", hooks: [hook] }));
  const hooks = await allowed();
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
  expect(await run(hooks, terminal("pwd"))).toMatchObject({ decision: "continue" });
});

test("a hook with args runs its program without a shell, and needs a new consent when its script changes", async () => {
  put("my hooks/guard.sh", 'printf "%s|" "$@" >&2; exit 2');
  const args = ["$" + "{CLAUDE_PROJECT_DIR}/my hooks/guard.sh", "a b", "$HOME", "`x`", '"q"'];
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ type: "command", command: "sh", args }] }));
  const hooks = await allowed();
  expect(await run(hooks, bash)).toMatchObject({ decision: "block", reasons: ['a b|$HOME|`x`|"q"|'] });
});

test("a hook that names bash runs in it", async () => {
  const command = '[[ "$(cat)" == *\'"Bash"\'* ]] && { echo "in $0" >&2; exit 2; }';
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ type: "command", shell: "bash", command }] }));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "block", reasons: ["in bash"] });
});

test("nobody waits for an async hook, and what it has to say comes with a later event", async () => {
  const hook = {
    type: "command",
    asyncRewake: true,
    command: "while [ ! -e go ]; do :; done; echo tests fail >&2; exit 2",
  };
  put(".claude/settings.json", claude("PreToolUse", { matcher: "Bash", hooks: [hook] }));
  const session = await allowed();
  const ended = Promise.withResolvers<void>();
  const place = { cwd, home, sessionId: "s1", report: () => ended.resolve(), monotonicNow: () => 0 };
  const hooks = new Hooks({ ...place, hooks: () => session.active });
  expect(await hooks.run("pre_tool_call", bash, never)).toMatchObject({ decision: "continue" });
  expect(hooks.has("pre_llm_call")).toBe(false);
  put("go", "");
  await ended.promise;
  expect(await hooks.run("post_tool_call", bash, never)).toMatchObject({ context: ["tests fail"] });
  expect(await hooks.run("pre_llm_call", {}, never)).toMatchObject({ context: [] });
  await hooks.close();
});

const slow = { command: "sleep 20", timeout: 0.1 };
test.each<readonly [string, object, { reason: string; inCopilot: string }]>([
  ["fails", { command: "exit 1" }, { reason: "exit code 1", inCopilot: "block" }],
  ["is missing", { command: "./no-such-guard.sh" }, { reason: "exit code 127", inCopilot: "block" }],
  [
    "prints broken JSON",
    { command: 'echo \'{"decision": "bl\'' },
    { reason: "not a JSON object", inCopilot: "continue" },
  ],
  ["takes too long", slow, { reason: "no answer within 0.1 s", inCopilot: "continue" }],
])("a guard that %s counts as its maker says", async (_, hook, { reason, inCopilot }) => {
  put(".claude/settings.json", claude("PreToolUse", { hooks: [hook] }));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "continue" });
  put(".claude/settings.json", claude("PreToolUse", { hooks: [{ ...hook, onFailure: "block" }] }));
  expect(await run(await allowed(), bash)).toMatchObject({
    decision: "block",
    reasons: [expect.stringContaining(reason)],
  });
  put(".claude/settings.json", {});
  put(".github/hooks/guard.json", { version: 1, hooks: { preToolUse: [hook] } });
  expect(await run(await allowed(), bash)).toMatchObject({ decision: inCopilot });
});

test.each([
  ["PostToolUse", { ok: true, result: "fine" }, '"stdout":"fine"'],
  ["PostToolUseFailure", { ok: false, result: "no such file" }, '"error":"no such file"'],
])("a hook for %s runs after such calls alone, with what they printed", async (name, extra, said) => {
  put(".claude/settings.json", claude(name, group("Bash", "cat > seen.json")));
  const hooks = await allowed();
  await run(hooks, { ...bash, extra: { ...extra, ok: !extra.ok } }, "post_tool_call");
  expect(existsSync(join(cwd, "seen.json"))).toBe(false);
  await run(hooks, { ...bash, extra }, "post_tool_call");
  expect(seen()).toContain(said);
});

test.each([
  ["exit 2 after a prompt", "userPromptSubmitted", { command: "exit 2" }, ["pre_llm_call", "continue"]],
  ["exit 2 at the end of a turn", "agentStop", { command: "exit 2" }, ["on_stop", "continue"]],
  ["a part of a name", "preToolUse", { matcher: "bas", command: "exit 2" }, ["pre_tool_call", "continue"]],
  ["a program with words", "preToolUse", { exec: "sh", args: ["-c", "exit 2"] }, ["pre_tool_call", "block"]],
] as const)("%s means in Copilot's form what it means there", async (_, name, hook, [event, decision]) => {
  put(".github/hooks/a.json", { version: 1, hooks: { [name]: [hook] } });
  const facts = event === "pre_tool_call" ? bash : { extra: { attempt: 0 } };
  expect(await run(await allowed(), facts, event)).toMatchObject({ decision });
});
