/** Lines about the agent's work, as the original Hermes draws them: `┊ icon verb detail duration`. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { PlanEntry, ToolCall, ToolCallContent, ToolKind } from "@zed-industries/agent-client-protocol";
import { diffWordsWithSpace, structuredPatch } from "diff";
import { MAX_CHANGED_LINES } from "../../agent-core/platform/hunks.ts";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import type { HermesTask } from "../../agent-core/protocol/delegation.ts";
import type { Theme } from "./theme.ts";

const TOOLS: Readonly<Record<string, readonly [icon: string, verb: string]>> = {
  terminal: ["💻", "$"],
  process: ["⚙️", "proc"],
  read_file: ["📖", "read"],
  write_file: ["✍️", "write"],
  patch: ["🔧", "patch"],
  search_files: ["🔎", "find"],
  web_search: ["🔍", "search"],
  web_extract: ["📄", "fetch"],
  todo: ["📋", "plan"],
  memory: ["🧠", "memory"],
  session_search: ["🗂️", "recall"],
  skill_view: ["📚", "skill"],
  skills_list: ["📚", "skills"],
  skill_manage: ["📝", "skill"],
  execute_code: ["🐍", "exec"],
  delegate_task: ["🔀", "delegate"],
  clarify: ["💬", "ask"],
  cronjob: ["⏰", "cron"],
};

/** For other tools, by their kind. */
const KINDS: Readonly<Record<ToolKind, readonly [icon: string, verb: string]>> = {
  read: ["📖", "read"],
  edit: ["🔧", "edit"],
  delete: ["🗑️", "delete"],
  move: ["📦", "move"],
  search: ["🔎", "find"],
  execute: ["💻", "run"],
  think: ["💭", "think"],
  fetch: ["🌐", "fetch"],
  switch_mode: ["🔁", "mode"],
  other: ["⚡", "tool"],
};

const VERB_COLUMNS = 9;
const MARGIN = "  ┊ ";
/** Lines of a diff that are shown with its call. */
const DIFF_LINES = 24;

/** A call as the terminal knows it. */
export type ShownCall = Pick<ToolCall, "toolCallId" | "title"> &
  Partial<Pick<ToolCall, "kind" | "status" | "content">> & {
    readonly name?: string | undefined;
    readonly durationMs?: number | undefined;
    readonly isRejected?: boolean | undefined;
    /** Its request has shown the diffs. */
    readonly isShown?: boolean | undefined;
    readonly tasks?: readonly HermesTask[] | undefined;
    readonly startedAt: number;
  };

export function callLine(call: ShownCall, tail: string, { theme, width }: Drawing): string {
  const [icon, verb] = TOOLS[call.name ?? ""] ?? KINDS[call.kind ?? "other"];
  const head = `${MARGIN}${icon} ${verb.padEnd(VERB_COLUMNS)} `;
  const room = Math.max(8, width - visibleWidth(head) - visibleWidth(tail) - 3);
  const detail = truncateToWidth(withoutVerb(oneLine(call.title), verb, call.name), room, "…");
  const failed = call.status === "failed";
  const shown = failed ? theme.bad(`${detail}  ${tail}`) : `${detail}  ${theme.dim(tail)}`;
  return `${theme.dim(head)}${shown}`;
}

/** The title without the word that the line has as its verb. */
function withoutVerb(title: string, verb: string, name = ""): string {
  const [first = "", ...rest] = title.split(" ");
  const isVerb = [verb, name.split("_")[0]].includes(first.toLowerCase());
  return isVerb && rest.length > 0 ? rest.join(" ") : title;
}

export type Drawing = { readonly theme: Theme; readonly width: number };

/** All lines of a call that has ended: itself, its diff, its sub-agents, or the end of a failure. */
export function endedCallLines(call: ShownCall, drawing: Drawing): readonly string[] {
  const state = call.isRejected ? "rejected" : "failed";
  const tail = [
    ...(call.durationMs === undefined ? [] : [duration(call.durationMs)]),
    ...(call.status === "failed" ? [state] : []),
  ];
  const lines = [callLine(call, tail.join(" "), drawing)];
  const { content = [], tasks = [] } = call;
  if (call.status === "failed" && call.isRejected !== true)
    lines.push(...indented(outputOf(content).slice(-3), drawing));
  else if (call.isShown !== true) lines.push(...diffsOf(content, drawing));
  return [...lines, ...taskLines(tasks, drawing)];
}

/** Sub-agents of a call as a tree. */
export function taskLines(tasks: readonly HermesTask[], { theme, width }: Drawing): readonly string[] {
  return tasks.map((task, index) => {
    const branch = index === tasks.length - 1 ? "└─" : "├─";
    const mark = task.status === "completed" ? theme.good("✓") : stateMark(task, theme);
    const step = task.step === undefined || task.status !== "running" ? "" : theme.dim(` · ${oneLine(task.step)}`);
    return truncateToWidth(`${theme.dim(`${MARGIN}   ${branch}`)} ${mark} ${oneLine(task.goal)}${step}`, width, "…");
  });
}

function stateMark({ status }: HermesTask, theme: Theme): string {
  if (status === "running" || status === "checking") return theme.accent("●");
  return status === "waiting" ? theme.dim("○") : theme.bad("✗");
}

export function planLines(entries: readonly PlanEntry[], { theme, width }: Drawing): readonly string[] {
  return entries.map(({ content, status }) => {
    const done = status === "completed";
    const mark = status === "in_progress" ? theme.accent("◐") : theme.dim("☐");
    const line = done ? theme.dim(theme.strike(content)) : content;
    return truncateToWidth(`${theme.dim("  ┊ ")}${done ? theme.good("☑") : mark} ${line}`, width, "…");
  });
}

/** Diffs of a call, or of the request about it. */
export function diffsOf(content: readonly ToolCallContent[], drawing: Drawing): readonly string[] {
  return content.flatMap((each) => (each.type === "diff" ? diffLines(each.oldText ?? "", each.newText, drawing) : []));
}

function diffLines(oldText: string, newText: string, { theme, width }: Drawing): readonly string[] {
  const patch = structuredPatch("", "", oldText, newText, "", "", { context: 1, maxEditLength: MAX_CHANGED_LINES });
  const lines = (patch?.hunks ?? []).flatMap((hunk) => {
    const changed = hunk.lines.filter((line) => !line.startsWith("\\"));
    return [theme.dim(`@@ ${hunk.newStart} @@`), ...withWords(changed, theme)];
  });
  const shown = lines.slice(0, DIFF_LINES).map((line) => truncateToWidth(`${theme.dim("  ┊    ")}${line}`, width, "…"));
  const hidden = lines.length - shown.length;
  return hidden > 0 ? [...shown, theme.dim(`  ┊    … ${hidden} more lines`)] : shown;
}

/** Lines of a hunk, with the changed words marked where one line replaces another. */
function withWords(lines: readonly string[], theme: Theme): readonly string[] {
  return lines.map((line, index) => {
    const text = containedText(line.slice(1).replaceAll("\t", "    "));
    const isAlone = (at: number): boolean =>
      lines[at - 1]?.[0] !== lines[at]?.[0] && lines[at + 1]?.[0] !== lines[at]?.[0];
    const sign = line[0];
    if (sign === " ") return theme.dim(`  ${text}`);
    const paint = sign === "+" ? theme.added : theme.removed;
    const other = lines[sign === "+" ? index - 1 : index + 1];
    const isPair = other !== undefined && other[0] === (sign === "+" ? "-" : "+");
    if (!isPair || !isAlone(index)) return paint(`${sign} ${text}`);
    const otherText = containedText(other.slice(1).replaceAll("\t", "    "));
    const [before, after] = sign === "+" ? [otherText, text] : [text, otherText];
    const parts = diffWordsWithSpace(before, after).filter((part) => (sign === "+" ? !part.removed : !part.added));
    const words = parts.map(({ value, added, removed }) =>
      added || removed ? theme.bold(theme.underline(value)) : value,
    );
    return paint(`${sign} ${words.join("")}`);
  });
}

/** Text of a call's content without its fences, in lines. */
export function outputOf(content: readonly ToolCallContent[]): readonly string[] {
  return content.flatMap((each) => {
    if (each.type !== "content" || each.content.type !== "text") return [];
    const lines = containedText(each.content.text).replaceAll("\t", "    ").split("\n");
    const end = lines.findLastIndex((line) => /^`{3,}$/.test(line));
    const inner = /^`{3,}/.test(lines[0] ?? "") ? lines.slice(1, end) : lines;
    return inner.filter((line) => line.trim() !== "");
  });
}

export function indented(lines: readonly string[], { theme, width }: Drawing): readonly string[] {
  return lines.map((line) => truncateToWidth(theme.dim(`  ┊    ${line}`), width, "…"));
}

/** Without line feeds and control characters. */
export function oneLine(text: string): string {
  return containedText(text.replaceAll(/\s+/g, " ")).trim();
}

export function duration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  return `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`;
}
