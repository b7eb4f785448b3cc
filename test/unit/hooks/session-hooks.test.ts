// Hooks of config.yaml and of a workspace: what runs, after which consent, and in which format.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Hooks } from "../../../agent-core/hooks/hook.ts";
import { hooksExtension } from "../../../agent-core/hooks/hooks-extension.ts";
import { HooksWorkspace } from "./support/hooks-workspace.ts";

let workspace: HooksWorkspace;
let cwd: string;
let home: string;
let shown: string[];

beforeEach(() => {
  workspace = new HooksWorkspace();
  ({ cwd, home, shown } = workspace);
});

const put = (...given: Parameters<HooksWorkspace["put"]>): void => workspace.put(...given);
const session = (...given: Parameters<HooksWorkspace["session"]>) => workspace.session(...given);
const allowed = (...given: Parameters<HooksWorkspace["allowed"]>) => workspace.allowed(...given);
const never = new AbortController().signal;
const run = (...given: Parameters<HooksWorkspace["run"]>) => workspace.run(...given);

const bash = { tool: "terminal", input: { command: "ls", timeout: 3 } };
const claude = (event: string, ...entries: readonly unknown[]) => ({ hooks: { [event]: entries } });
const group = (matcher: string, command: string) => ({ matcher, hooks: [{ type: "command", command }] });
const seen = (file = "seen.json") => JSON.parse(readFileSync(join(cwd, file), "utf8"));

test("a hook of config.yaml runs after one consent, which other sessions and the original find in the home", async () => {
  const section = { pre_tool_call: [{ matcher: "terminal|patch", command: "exit 2" }] };
  const hooks = await session({ section });
  expect(hooks.active).toHaveLength(0);
  expect(shown).toEqual(["1 hook needs your consent before it runs. /hooks shows the commands."]);
  expect(await hooks.command("")).toContain(
    "1. **Needs your consent** · pre_tool_call terminal|patch · config.yaml\n   `exit 2`",
  );
  expect(await hooks.command("allow 1")).toBe("Allowed: `exit 2`.");
  expect(JSON.parse(readFileSync(join(home, "shell-hooks-allowlist.json"), "utf8"))).toEqual({
    approvals: [{ event: "pre_tool_call", command: "exit 2" }],
  });
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
  expect(await run(hooks, { tool: "terminal_x" })).toMatchObject({ decision: "continue" });
  expect((await session({ section })).active).toHaveLength(1);
});

test("a damaged list of consents is not replaced: nothing is allowed, and one line says why", async () => {
  const path = join(home, "shell-hooks-allowlist.json");
  writeFileSync(path, '{"approvals": [{"event": "pre_tool_call", "comm');
  const hooks = await session({ section: { pre_tool_call: { command: "exit 2" } } });
  await expect(hooks.command("allow 1").catch((error: Error) => error.message)).resolves.toMatch(
    /is damaged, .* delete it/,
  );
  expect(readFileSync(path, "utf8")).toContain('"comm');
  expect(hooks.active).toHaveLength(0);
});

test("hooks_auto_accept runs them at once, and they can be switched off and on, for all sessions", async () => {
  const accepted = { section: { pre_tool_call: { command: "exit 2" } }, autoAccept: true };
  const hooks = await session(accepted);
  expect(hooks.active).toHaveLength(1);
  expect(await hooks.command("disable 1")).toBe("Off, in all sessions: `exit 2`.");
  expect(hooks.active).toHaveLength(0);
  const other = await session(accepted);
  expect(other.active).toHaveLength(0);
  expect(other.items()).toMatchObject([{ state: "off", actions: ["enable"] }]);
  expect(await hooks.command("enable 1")).toBe("On: `exit 2`.");
  await other.refresh();
  expect(other.active).toHaveLength(1);
  expect(hooks.active).toHaveLength(1);
  await expect(hooks.command("allow 7")).rejects.toThrow("There is no hook 7.");
});

test("several hooks are allowed and switched at once, and unknown words are answered", async () => {
  const hooks = await session({
    section: { pre_tool_call: [{ command: "exit 2" }, { command: "exit 3" }], post_tool_call: { command: "true" } },
  });
  expect(await hooks.command("allow 1 3")).toBe("Allowed: `exit 2`.\n\nAllowed: `true`.");
  expect(hooks.active).toHaveLength(2);
  expect(await hooks.command("allow all")).toBe("Allowed: `exit 3`.");
  expect(await hooks.command("allow all")).toMatch(/^There is no hook to allow\./);
  await hooks.command("disable 1, 2");
  expect(hooks.active).toHaveLength(1);
  await hooks.command("enable all");
  expect(hooks.active).toHaveLength(3);
  await expect(hooks.command("disable 2 9")).rejects.toThrow(/^There is no hook 9\./);
  expect(hooks.active).toHaveLength(3);
  await expect(hooks.command("allow")).rejects.toThrow(/^Type `\/hooks allow N`: N is a number in the list\./);
  await expect(hooks.command("remove 1")).rejects.toThrow(/^There is no `\/hooks remove 1`\./);
});

test("entries that cannot be used are named, and do not affect the others", async () => {
  const section = { pre_tool_cal: [{ command: "a" }], post_tool_call: [{ timeout: "x" }, { command: "true" }] };
  const hooks = await session({ section });
  expect(hooks.items()).toHaveLength(1);
  expect(shown.slice(0, 2)).toEqual([
    "config.yaml: hooks.pre_tool_cal is not an event of this version. Did you mean pre_tool_call?",
    expect.stringContaining("config.yaml: hooks.post_tool_call[0] is not used. command:"),
  ]);
});

test("a failure is shown in the list", async () => {
  const hooks = await session({ section: { pre_tool_call: [{ command: "exit 3" }] }, autoAccept: true });
  await run(hooks, bash);
  expect(await hooks.command("")).toContain("Last failure: it ended with exit code 3");
});

test("a guard of .claude/settings.json gets Claude Code's input, and denies", async () => {
  put(
    ".claude/settings.json",
    claude("PreToolUse", group("Bash", `cat > seen.json; echo "not $CLAUDE_PROJECT_DIR" >&2; exit 2`)),
  );
  const hooks = await allowed();
  expect(await run(hooks, bash)).toMatchObject({ decision: "block", reasons: [`not ${cwd}`] });
  expect(seen()).toEqual({
    session_id: "s1",
    cwd,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_use_id: "c1",
    tool_name: "Bash",
    tool_input: { command: "ls", timeout: 3000, run_in_background: false },
  });
  expect(await run(hooks, { tool: "read_file", input: { path: "a" } })).toMatchObject({ decision: "continue" });
});

test.each([
  ["Edit|Write", "patch", { mode: "replace", path: "a.ts", old_string: "a", new_string: "b" }, "Edit"],
  ["MultiEdit", "patch", { mode: "replace", path: "a.ts", old_string: "a", new_string: "b" }, "Edit"],
  ["Write", "write_file", { path: "a.ts", content: "b" }, "Write"],
  ["Read", "read_file", { path: "a.ts" }, "Read"],
  ["Grep", "search_files", { pattern: "x", target: "content" }, "Grep"],
  ["Glob", "search_files", { pattern: "*.ts", target: "files" }, "Glob"],
  ["mcp__memory__.*", "mcp__memory__add", { text: "x" }, "mcp__memory__add"],
  ["*", "clarify", { question: "x" }, "clarify"],
] as const)("the matcher %s covers %s", async (matcher, tool, input, name) => {
  put(".claude/settings.local.json", claude("PreToolUse", group(matcher, "cat > seen.json; exit 2")));
  expect(await run(await allowed(), { tool, input })).toMatchObject({ decision: "block" });
  expect(seen()).toMatchObject({ tool_name: name });
  if ("path" in input) expect(seen().tool_input.file_path).toBe(join(cwd, "a.ts"));
});

test("a guard of one file sees every file of a patch", async () => {
  const script = `grep -q 'file_path":"[^"]*secret.env' && exit 2; echo '{}'`;
  put(".claude/settings.json", claude("PreToolUse", group("Edit", script)));
  const patch = "*** Begin Patch\n*** Update File: a.ts\n-a\n+b\n*** Update File: secret.env\n-a\n+b\n*** End Patch";
  const hooks = await allowed();
  expect(await run(hooks, { tool: "patch", input: { mode: "patch", patch } })).toMatchObject({ decision: "block" });
  const harmless = patch.replace("secret.env", "b.ts");
  expect(await run(hooks, { tool: "patch", input: { mode: "patch", patch: harmless } })).toMatchObject({
    decision: "continue",
  });
});

test("a workspace can ask and amend, and its allow has no effect", async () => {
  const say = (output: unknown) => `echo '${JSON.stringify({ hookSpecificOutput: output })}'`;
  put(
    ".claude/settings.json",
    claude(
      "PreToolUse",
      group("Read", say({ permissionDecision: "ask", permissionDecisionReason: "Sure?" })),
      group("Write", say({ permissionDecision: "allow", updatedInput: { file_path: "/x/b", content: "c" } })),
    ),
  );
  const hooks = await allowed();
  const read = await run(hooks, { tool: "read_file", input: { path: "a" } });
  expect(read).toMatchObject({ decision: "ask", reasons: ["Sure?"] });
  const write = await run(hooks, { tool: "write_file", input: { path: "a", content: "b" } });
  expect(write).toMatchObject({ decision: "continue", input: { path: "/x/b", content: "c" } });
});

test.each([
  ["a word", "echo checked"],
  ["a line with a colon", "echo 'lint: ok'"],
  ["a list", "echo '[]'"],
  ["several lines", "printf 'one\\ntwo\\n'"],
  ["a number", "echo 0"],
])("a guard that prints %s and ends well lets the call pass, as in Claude Code", async (_, command) => {
  put(".claude/settings.json", claude("PreToolUse", group("*", command)));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "continue" });
});

test.each([
  ["mcp__.*__write", "mcp__fs__write_file"],
  ["^mcp__fs", "mcp__fs__write_file"],
  ["Edit, Write", "write_file"],
  ["Edit | Write", "write_file"],
  ["NotebookEdit|Bash", "terminal"],
])("a pattern %s of Claude Code covers %s, and no other tool", async (matcher, tool) => {
  put(".claude/settings.json", claude("PreToolUse", group(matcher, "exit 2")));
  const hooks = await allowed();
  expect(await run(hooks, { tool, input: { path: "a.ts", command: "ls" } })).toMatchObject({ decision: "block" });
  expect(await run(hooks, { tool: "read_file", input: { path: "a.ts" } })).toMatchObject({ decision: "continue" });
  expect(await run(hooks, { tool: "mcp__memory__read", input: {} })).toMatchObject({ decision: "continue" });
});

test("a name of a server alone covers none of its tools, as in Claude Code", async () => {
  put(".claude/settings.json", claude("PreToolUse", group("mcp__fs", "exit 2")));
  expect(await run(await allowed(), { tool: "mcp__fs__write_file", input: {} })).toMatchObject({
    decision: "continue",
  });
});

test("a hook that prints the log of a test suite runs to its end, and the model gets both ends of its errors", async () => {
  const log = `node -e "process.stdout.write('line of a test run\\n'.repeat(20000))"`;
  put(".claude/settings.json", {
    hooks: {
      PreToolUse: [group("Bash", log)],
      Stop: [group("", `echo FIRST >&2; ${log} >&2; echo LAST >&2; exit 2`)],
    },
  });
  const hooks = await allowed();
  expect(await run(hooks, bash)).toMatchObject({ decision: "continue" });
  const { decision, reasons } = await run(hooks, { extra: { attempt: 0 } }, "on_stop");
  expect(decision).toBe("block");
  expect(reasons[0]).toMatch(/^FIRST\n[\s\S]*\nLAST$/);
  expect(reasons[0]?.length).toBeLessThan(10_100);
});

test.each([
  ["a timeout of zero", { timeout: 0 }],
  ["a timeout as text", { timeout: "30" }],
  ["a number among its variables", { env: { LEVEL: 2 } }],
])("a guard with %s guards", async (_, more) => {
  const hook = { type: "command", command: "exit 2", ...more };
  put(".claude/settings.json", claude("PreToolUse", { matcher: "Bash", hooks: [hook] }));
  expect(await run(await allowed(), bash)).toMatchObject({ decision: "block" });
});

test("an entry that is not valid is named, and affects neither the other hooks nor the tools", async () => {
  put(".claude/settings.json", {
    hooks: {
      PreToolUse: { matcher: "Bash", hooks: [{ type: "command", command: "exit 2" }] },
      Stop: [{ hooks: [{ type: "command", command: 5 }] }],
    },
  });
  const hooks = await allowed();
  expect(shown[0]).toBe(".claude/settings.json: a hook for Stop is not used, because its command is not valid.");
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
  expect(await run(hooks, { tool: "read_file", input: { path: "a" } })).toMatchObject({ decision: "continue" });
});

test("plain output of other hooks is context, or nothing", async () => {
  put(".claude/settings.json", {
    hooks: {
      SessionStart: [{ matcher: "startup", hooks: [{ type: "command", command: "echo on branch main" }] }],
      PostToolUse: [group("Edit", "echo formatted 1 file")],
    },
  });
  const hooks = await allowed();
  const start = (source: string) => run(hooks, { extra: { source } }, "on_session_start");
  expect(await start("startup")).toMatchObject({ context: ["on branch main"] });
  expect(await start("resume")).toMatchObject({ context: [] });
  expect(await run(hooks, { tool: "patch", input: {} }, "post_tool_call")).toMatchObject({ decision: "continue" });
});

test("hooks of .github/hooks work in both spellings", async () => {
  put(".github/hooks/guard.json", {
    version: 1,
    hooks: {
      preToolUse: [{ type: "command", bash: "cat > seen.json; cat deny.json", cwd: "sub", timeoutSec: 5 }],
      PreToolUse: [{ type: "command", command: "cat > claude.json" }],
    },
  });
  put("sub/deny.json", { permissionDecision: "deny", permissionDecisionReason: "Not here." });
  const verdict = await run(await allowed(), { tool: "write_file", input: { path: "a.ts", content: "b" } });
  expect(verdict).toMatchObject({ decision: "block", reasons: ["Not here."] });
  expect(seen("sub/seen.json")).toMatchObject({ sessionId: "s1", toolName: "create" });
  expect(JSON.parse(seen("sub/seen.json").toolArgs)).toMatchObject({ path: join(cwd, "a.ts"), content: "b" });
  expect(seen("claude.json")).toMatchObject({ tool_name: "Write" });
});

test("a workspace's hook needs a new consent when its settings or its script change", async () => {
  put("guard.sh", "exit 0");
  put(".claude/settings.json", claude("PreToolUse", group("Bash", 'sh "$CLAUDE_PROJECT_DIR"/guard.sh')));
  const hooks = await allowed();
  expect(await run(hooks, bash)).toMatchObject({ decision: "continue" });
  put("guard.sh", "touch stolen; exit 0");
  const changed = await run(hooks, bash);
  expect(changed).toMatchObject({
    decision: "block",
    reasons: [expect.stringContaining("changed since you allowed it")],
  });
  await hooks.refresh();
  expect(hooks.items()).toMatchObject([{ state: "needs-consent", actions: ["allow", "disable"] }]);
  expect(await run(hooks, bash)).toMatchObject({ decision: "block" });
  expect(await run(await session(), bash)).toMatchObject({ decision: "block" });
  put(".claude/settings.json", claude("PreToolUse", group("Bash", "sh guard.sh; true")));
  expect((await session()).active).toHaveLength(0);
  expect(existsSync(join(cwd, "stolen"))).toBe(false);
});

test("nothing of an untrusted workspace is read, offered or run, until the user trusts it", async () => {
  put(".claude/settings.json", claude("PreToolUse", group("Bash", "exit 2")));
  let trusted = false;
  const hooks = await session({ trusted: () => trusted });
  expect([hooks.items(), hooks.active, shown]).toEqual([[], [], []]);
  trusted = true;
  await hooks.refresh();
  expect(hooks.items()).toHaveLength(1);
});

test("files that cannot be used are named", async () => {
  put(".claude/settings.json", '{"hooks": ');
  put(".github/hooks/a.json", { hooks: { PreCompact: [group("", "x")], PreToolUse: [{ type: "prompt" }] } });
  await session();
  expect(shown).toEqual([
    ".claude/settings.json: its hooks are not used, because the file is not valid at its beginning.",
    ".github/hooks/a.json: hooks for PreCompact have no effect in this version.",
    ".github/hooks/a.json: a hook for PreToolUse is not used, because Hermes runs commands, and its type is prompt.",
  ]);
});

test("without hooks /hooks says where to add them, and finds one that was added later; an agent inside a hook has none", async () => {
  const none = { cwd, home, withheld: [], autoAccept: false, trusted: () => true, onDefect: () => undefined };
  expect(hooksExtension({ ...none, section: {}, environment: { HERMES_IN_HOOK: "1" } })).toBeUndefined();
  const extension = hooksExtension({ ...none, section: {}, environment: {} });
  extension?.begin({ status: ({ message }) => shown.push(message) });
  await extension?.attach();
  const [command] = extension?.commands() ?? [];
  expect(await command?.run("")).toContain("There are no hooks. A hook is a command of yours");
  expect([extension?.items(), shown]).toEqual([[], []]);
  put(".claude/settings.json", claude("PreToolUse", group("Bash", "exit 2")));
  await extension?.attach();
  expect(extension?.items()).toHaveLength(1);
  expect(shown).toEqual(["1 hook needs your consent before it runs. /hooks shows the commands."]);
});

test("while hooks cannot be read no tool runs, and the next turn tries again", async () => {
  let isBroken = true as boolean;
  const trusted = (): boolean => {
    if (isBroken) throw new Error("EACCES");
    return true;
  };
  const place = { cwd, home, withheld: [], autoAccept: true, onDefect: () => undefined, environment: {} };
  const section = { pre_tool_call: [{ matcher: "patch", command: "exit 2" }] };
  const extension = hooksExtension({ ...place, section, trusted });
  extension?.begin({ status: ({ message }) => shown.push(message) });
  const verdict = () => {
    const hooks = new Hooks({
      cwd,
      home,
      sessionId: "s1",
      report: () => undefined,
      monotonicNow: () => 0,
      hooks: () => extension?.hooks() ?? [],
    });
    return hooks.run("pre_tool_call", { callId: "c1", ...bash }, never);
  };
  await expect(extension?.attach()).rejects.toThrow("EACCES");
  expect(await verdict()).toMatchObject({
    decision: "block",
    reasons: ["The hooks could not be read (EACCES), so no tool runs. Correct this, or remove the hooks."],
  });
  isBroken = false;
  await extension?.attach();
  expect(await verdict()).toMatchObject({ decision: "continue" });
});

test("a command runs in bash where there is one, as in Claude Code", async () => {
  const lines = ["a=(x y); [[ $a == x ]] && echo arrays", "read -r b < <(echo streams); echo $b", "source ./lib.sh"];
  put("lib.sh", "echo sources\n");
  put(".claude/settings.json", {
    hooks: { UserPromptSubmit: [{ hooks: lines.map((command) => ({ type: "command", command })) }] },
  });
  const verdict = await run(await allowed(), {}, "pre_llm_call");
  expect(verdict.context).toEqual(["arrays", "streams", "sources"]);
});

test.each([
  ["SessionEnd", "on_session_finalize", { reason: "close" }, ["clear", false]],
  ["SessionEnd", "on_session_finalize", { reason: "close" }, ["logout|other", true]],
  ["SubagentStop", "subagent_stop", { agent_type: "reviewer" }, ["Explore", false]],
  ["SubagentStop", "subagent_stop", { agent_type: "reviewer" }, ["review.*", true]],
  ["SubagentStart", "subagent_start", {}, ["general-purpose", true]],
  ["Stop", "on_stop", {}, ["anything", true]],
] as const)("a hook for %s runs where its pattern is for the event", async (name, event, extra, [matcher, isRun]) => {
  put(".claude/settings.json", { hooks: { [name]: [group(matcher, "touch ran")] } });
  await run(await allowed(), { extra }, event);
  expect(existsSync(join(cwd, "ran"))).toBe(isRun);
});

test("a message of a hook for people is on the card of its run", async () => {
  put(".claude/settings.json", { hooks: { PreToolUse: [group("", `echo '{"systemMessage": "Mind the gap"}'`)] } });
  expect(
    (
      await (
        await allowed()
      ).active[0]?.run(
        {
          hook_event_name: "pre_tool_call",
          tool_name: "terminal",
          tool_input: {},
          session_id: "s",
          cwd: workspace.cwd,
          profile: "default",
          extra: {},
        },
        new AbortController().signal,
      )
    )?.reason,
  ).toBe("Mind the gap");
});
