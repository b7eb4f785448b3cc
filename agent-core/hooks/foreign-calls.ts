/** Events and tool calls as other agents name them: Claude Code, VS Code and Copilot. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { commandsIn } from "../approval/parse-command.ts";
import { wrappers } from "../approval/rules/code.ts";
import { globMatcher } from "../host/search-rules.ts";
import { systemClock } from "../platform/clock.ts";
import { matchesWildcards } from "../platform/wildcards.ts";
import type { HookEvent, HookPayload } from "./hook.ts";

/** `claude`: format of Claude Code, VS Code, Codex and Gemini CLI. `copilot` and `cursor`: names begin in lower case. */
export type ForeignFormat = "claude" | "copilot" | "cursor";

const FAILURE = "PostToolUseFailure";

/** False for a failed call where the event is of other calls, and the reverse. */
export function isOfOutcome(name: string, { hook_event_name: event, extra }: HookPayload): boolean {
  return event !== "post_tool_call" || (extra["ok"] === false) === (name.toLowerCase() === FAILURE.toLowerCase());
}

/** Events by their names in Claude Code and VS Code, and in Copilot where that is not the same in lower case. */
const events: readonly (readonly [claude: string, event: HookEvent, copilot?: string])[] = [
  ["PreToolUse", "pre_tool_call"],
  ["PostToolUse", "post_tool_call"],
  [FAILURE, "post_tool_call"],
  ["UserPromptSubmit", "pre_llm_call", "userPromptSubmitted"],
  ["SessionStart", "on_session_start"],
  ["SessionEnd", "on_session_finalize"],
  ["Stop", "on_stop", "agentStop"],
  ["SubagentStart", "subagent_start"],
  ["SubagentStop", "subagent_stop"],
  ["PermissionRequest", "pre_approval_request"],
  // Gemini CLI
  ["BeforeTool", "pre_tool_call"],
  ["AfterTool", "post_tool_call"],
  ["BeforeAgent", "pre_llm_call", "beforeSubmitPrompt"],
  ["AfterAgent", "on_stop", "stop"],
];
/** Cursor's events of one kind of call, with the tools in Claude Code. */
const cursorEvents: Readonly<Record<string, readonly [event: HookEvent, tools: string]>> = {
  beforeShellExecution: ["pre_tool_call", "Bash"],
  afterShellExecution: ["post_tool_call", "Bash"],
  beforeMCPExecution: ["pre_tool_call", "mcp__.*"],
  afterMCPExecution: ["post_tool_call", "mcp__.*"],
  beforeReadFile: ["pre_tool_call", "Read"],
  afterFileEdit: ["post_tool_call", "Edit|Write"],
};

export type ForeignEvent = {
  readonly event: HookEvent;
  readonly format: ForeignFormat;
  /** Tools in Claude Code whose calls the event is of; a matcher is then for the command or path. Default: all. */
  readonly tools?: string;
};

/** Undefined for an event that this version does not have. */
export function foreignEvent(name: string, isOfCursor: boolean): ForeignEvent | undefined {
  const [own, tools] = (isOfCursor ? cursorEvents[name] : undefined) ?? [];
  if (own !== undefined && tools !== undefined) return { event: own, format: "cursor", tools };
  for (const [claude, event, copilot = claude.replace(/^./, (letter) => letter.toLowerCase())] of events) {
    if (name === claude) return { event, format: "claude" };
    if (name === copilot) return { event, format: isOfCursor ? "cursor" : "copilot" };
  }
  return undefined;
}

type ToolNames = { readonly copilot: string; readonly own: string; readonly others?: readonly string[] };

/** Names of a tool by its name in Claude Code. `own`: of ours with the same effects; `others`: in VS Code. */
const toolNames: Readonly<Record<string, ToolNames>> = {
  Bash: {
    copilot: "bash",
    own: "terminal",
    others: ["powershell", "run_in_terminal", "runTerminalCommand", "Shell", "run_shell_command"],
  },
  Read: { copilot: "view", own: "read_file", others: ["readFile"] },
  Edit: { copilot: "edit", own: "patch", others: ["MultiEdit", "editFiles", "replace_string_in_file", "replace"] },
  Write: { copilot: "create", own: "write_file", others: ["create_file", "createFile"] },
  Grep: { copilot: "grep", own: "search_files", others: ["grep_search"] },
  Glob: { copilot: "glob", own: "search_files", others: ["file_search"] },
  TodoWrite: { copilot: "todo", own: "todo" },
  Task: { copilot: "task", own: "delegate_task", others: ["Agent"] },
  WebFetch: { copilot: "web_fetch", own: "web_extract" },
  WebSearch: { copilot: "web_search", own: "web_search" },
};

/** The rules of `Edit(*.ts)|Write(*.ts)`. */
const rulesIn = (text: string): readonly string[] => text.split(/(?<=\))\s*[|,]+\s*(?=[A-Z]\w*\()/);

/** True for rules of tools, such as `Bash(touch *)`. Rules that something else joins are none. */
export const areRules = (text: string): boolean =>
  rulesIn(text).every((rule) => Object.hasOwn(toolNames, /^(\w+)\((?!.*\)\W.*\w\().+\)$/s.exec(rule)?.[1] ?? ""));

/** Names that a call of our tool can have in Claude Code. */
function claudeNames(tool: string): readonly string[] {
  if (tool === "patch") return ["Edit", "Write"];
  const names = Object.keys(toolNames).filter((name) => toolNames[name]?.own === tool);
  return names.length === 0 ? [tool] : names;
}

/** True when the pattern of another agent covers calls of our tool. */
export function coversTool(covers: (name: string) => boolean, tool: string): boolean {
  return claudeNames(tool).some((name) => coversName(covers, name));
}

function coversName(covers: (name: string) => boolean, name: string): boolean {
  const known = toolNames[name];
  const others = known === undefined ? [] : [known.copilot, known.own, ...(known.others ?? [])];
  return [name, ...others, ...serverNames(name)].some(covers);
}

/** Names of a server's tool in Cursor's matchers; empty for others. */
const serverNames = (name: string): readonly string[] =>
  (/^mcp__.+?__(.+)$/s.exec(name) ?? []).slice(1).map((own) => `MCP:${own}`);

/** Subjects of a matcher of Cursor's own events: the command or the path, and the names of the tool. */
export function subjectsOf({ name, input }: ForeignCall): readonly string[] {
  if (!name.startsWith("mcp__")) return [String(input["command"] ?? input["file_path"] ?? name), name];
  return [name, ...serverNames(name).flatMap((own) => [own, own.slice("MCP:".length)])];
}

/** A call as another agent would make it. `name`: in Claude Code. */
export type ForeignCall = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

/**
 * The calls of another agent that have the same effects as one of ours, as far as the pattern covers them. A patch of
 * several files is one call for each file.
 */
export function foreignCalls(
  { tool_name: tool, tool_input: raw, cwd }: HookPayload,
  covers: (name: string) => boolean,
): readonly ForeignCall[] {
  const input = { ...(typeof raw === "object" ? raw : {}) } as Readonly<Record<string, unknown>>; // of a checked call
  return callsOf(tool ?? "", input, cwd).filter(({ name }) => coversName(covers, name));
}

function callsOf(tool: string, input: Readonly<Record<string, unknown>>, cwd: string): readonly ForeignCall[] {
  const { path, mode, ...rest } = input;
  const file = { file_path: absolute(path, cwd) };
  switch (tool) {
    case "terminal": {
      const { timeout, background = false } = input;
      const limit = typeof timeout === "number" ? { timeout: timeout * 1_000 } : {};
      return [{ name: "Bash", input: { command: input["command"], ...limit, run_in_background: background } }];
    }
    case "read_file":
      return [{ name: "Read", input: { ...file, ...rest } }];
    case "write_file":
      return [{ name: "Write", input: { ...file, ...rest } }];
    case "patch":
      if (mode === "patch") return patchCalls(String(input["patch"]), cwd);
      return [{ name: "Edit", input: { ...file, ...rest } }];
    case "search_files": {
      const { pattern, target, file_glob: glob, output_mode: mode } = input;
      const where = { pattern, path: absolute(path ?? ".", cwd) };
      if (target === "files") return [{ name: "Glob", input: where }];
      return [{ name: "Grep", input: { ...where, ...(glob !== undefined && { glob }), output_mode: mode } }];
    }
    default:
      return claudeNames(tool).map((name) => ({ name, input }));
  }
}

function patchCalls(patch: string, cwd: string): readonly ForeignCall[] {
  return [...patch.matchAll(/^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm)].map(([, verb, path]) => {
    const file = { file_path: absolute(path?.trim(), cwd) };
    return verb === "Add File"
      ? { name: "Write", input: { ...file, content: patch } }
      : { name: "Edit", input: { ...file, patch } };
  });
}

function absolute(path: unknown, cwd: string): string {
  const text = typeof path === "string" ? path : "";
  return isAbsolute(text) ? text : join(cwd, text);
}

const ownKeys: Readonly<Record<string, string>> = {
  file_path: "path",
  glob: "file_glob",
  run_in_background: "background",
};

/** Our input with the changes that a hook made to the other agent's. */
export function ownInput(
  own: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const changed = Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]));
  const named = changed.map(([key, value]): [string, unknown] => {
    if (key === "timeout" && typeof value === "number") return [key, value / 1_000];
    return [ownKeys[key] ?? key, value];
  });
  return { ...own, ...Object.fromEntries(named) };
}

/** Word of an event without a tool that the pattern of its hook is for; undefined where patterns mean nothing. */
export function subjectOf({ hook_event_name: event, extra }: HookPayload): string | undefined {
  if (event === "on_session_start") return String(extra["source"]);
  if (event === "on_session_finalize") return "other"; // Claude Code's word for the end of a program
  return event.startsWith("subagent_") ? String(extra["agent_type"] ?? "general-purpose") : undefined;
}

/** Input of a hook's command. `name`: the event's in its file; `call`: undefined for other events. */
export function foreignPayload(
  { session_id: id, cwd, extra }: HookPayload,
  { name, format, call }: { name: string; format: ForeignFormat; call?: ForeignCall | undefined },
): Readonly<Record<string, unknown>> {
  const { tool_call_id: toolCallId, result, ok, user_message: message, source, attempt, reason } = extra;
  const prompt = typeof message === "string" ? message : undefined;
  if (format === "copilot") {
    return {
      sessionId: id,
      timestamp: systemClock.now(),
      cwd,
      prompt,
      source,
      reason,
      error: ok === false ? result : undefined,
      ...(call && {
        toolName: toolNames[call.name]?.copilot ?? call.name,
        // Copilot's tools call a file `path`.
        toolArgs: JSON.stringify({
          ...call.input,
          ...("file_path" in call.input && { path: call.input["file_path"] }),
        }),
      }),
      ...(result !== undefined && {
        toolResult: { resultType: ok === true ? "success" : "failure", textResultForLlm: result },
      }),
    };
  }
  return {
    ...(format === "cursor" && cursorFields(id, cwd, extra, call)),
    session_id: id,
    cwd,
    permission_mode: "default",
    hook_event_name: name,
    prompt,
    source,
    reason,
    error: ok === false ? result : undefined,
    ...namedCall(format, call, toolCallId),
    ...(result !== undefined && {
      tool_response: { success: ok === true, output: result, stdout: result, filePath: call?.input["file_path"] },
    }),
    ...(attempt !== undefined && { stop_hook_active: attempt !== 0 }),
  };
}

function namedCall(format: ForeignFormat, call: ForeignCall | undefined, id: unknown) {
  const name = format === "cursor" && call?.name === "Bash" ? "Shell" : call?.name;
  return call && { tool_name: name, tool_input: call.input, tool_use_id: id };
}

/** Fields that Cursor's hooks have beside those of Claude Code. */
function cursorFields(id: string, cwd: string, { result, attempt }: HookPayload["extra"], call?: ForeignCall) {
  const { command, file_path: file, content, old_string: before = "", new_string: after = content } = call?.input ?? {};
  const edits = [{ old_string: before, new_string: after }];
  return {
    conversation_id: id,
    generation_id: id,
    workspace_roots: [cwd],
    ...(call && { command, file_path: file, content, edits, output: result }),
    ...(attempt !== undefined && { status: "completed", loop_count: attempt }),
  };
}

/**
 * Test of a call in `folder` by a rule in the syntax of Claude Code's permissions, such as `Bash(git *)`; undefined for other text.
 * A call that the rule cannot read is selected.
 */
export function permissionRule(rule: string, folder: string): ((call: ForeignCall) => boolean) | undefined {
  const [first = "", ...others] = rulesIn(rule);
  const [, name, content = "*"] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(first.trim()) ?? [];
  const further = others.map((other) => permissionRule(other, folder));
  if (name === undefined || further.includes(undefined)) return undefined;
  // Claude Code's rules for Edit hold for all tools that change files.
  const covers = (tool: string): boolean => matchesWildcards(name, tool) || (name === "Edit" && tool === "Write");
  const selects = content === "*" || content === "" ? () => true : contentTest(content, folder);
  const isFirst = (call: ForeignCall): boolean => coversName(covers, call.name) && selects(call.input);
  return (call) => isFirst(call) || further.some((selectsToo) => selectsToo?.(call));
}

function contentTest(content: string, folder: string): (input: ForeignCall["input"]) => boolean {
  const isPath = pathTest(content, folder);
  const [, field = "", value = content] = /^(\w+):(.*)$/s.exec(content) ?? [];
  return (input) => {
    const { command, file_path: path = input["path"] } = input;
    if (typeof command === "string") return commandLines(command)?.some((line) => isCommand(content, line)) ?? true;
    if (typeof path === "string") return isPath(path);
    const values = field in input ? [input[field]] : Object.values(input);
    const texts = values.flat().filter((each) => typeof each === "string");
    const hosts = texts.map((text) => URL.parse(text)?.hostname ?? text);
    return (field === "domain" ? hosts : texts).some((text) => matchesWildcards(value, text));
  };
}

/** Its commands, and those that a wrapper such as `timeout` starts; undefined for a line that cannot be read in full. */
function commandLines(line: string): readonly string[] | undefined {
  const started = commandsIn(line)?.flatMap((words) =>
    wrappers.has(words[0] ?? "") ? words.map((_, at) => words.slice(at)) : [words],
  );
  return started?.map((words) => words.join(" "));
}

/** `git *` and `git:*` also select `git` alone, and no other program whose name begins so. */
function isCommand(content: string, line: string): boolean {
  const pattern = content.replace(/:\*$/, " *");
  return matchesWildcards(pattern, line) || (pattern.endsWith(" *") && matchesWildcards(pattern.slice(0, -2), line));
}

/** `//` begins at the root, `~/` at the home, `/` at the workspace; others hold at any depth of it. */
function pathTest(content: string, folder: string): (path: string) => boolean {
  if (content.startsWith("//")) return globMatcher(content.slice(2), "/");
  if (content.startsWith("~/")) return globMatcher(content.slice(2), homedir());
  return globMatcher(content.replace(/^\.?\//, ""), folder);
}
