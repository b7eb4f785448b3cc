/** What a tool call shows: diffs, a terminal or fenced text, as ACP content. */
import type { ToolCallContent } from "@zed-industries/agent-client-protocol";
import type { ToldProblem } from "../host/problems.ts";
import type { HermesProblemsMeta } from "../protocol/problems.ts";
import type { FileDiff, ToolResult } from "../tools/tool.ts";

/** Text shown of one result; the model's own copy is longer. Characters. */
const SHOWN_TEXT_LIMIT = 20_000;

export function diffContent(diffs: readonly FileDiff[]): ToolCallContent[] {
  return diffs.map(({ path, oldText, newText }) => ({ type: "diff", path, oldText, newText: newText ?? "" }));
}

export function terminalContent(terminalId: string): ToolCallContent[] {
  return [{ type: "terminal", terminalId }];
}

/** Diffs say all of a successful edit and a terminal all of a command; anything else shows its text. */
export function resultContent(result: ToolResult): ToolCallContent[] {
  if (result.ok && result.diffs !== undefined && result.diffs.length > 0) {
    return [...diffContent(result.diffs), ...problemContent(result.problems ?? [])];
  }
  if (result.terminalId !== undefined) return terminalContent(result.terminalId);
  return textContent(result.text);
}

function problemContent(problems: readonly ToldProblem[]): ToolCallContent[] {
  if (problems.length === 0) return [];
  const text = `New problems:\n${fenced(problems.map((problem) => problem.text).join("\n"))}`;
  const hermes: HermesProblemsMeta = { problems };
  return [{ type: "content", content: { type: "text", text }, _meta: { hermes } }];
}

/** Fenced, so that no client takes a file's text for Markdown. */
export function textContent(text: string): ToolCallContent[] {
  if (text === "") return [];
  const cut = text.length > SHOWN_TEXT_LIMIT ? `${text.slice(0, SHOWN_TEXT_LIMIT)}\n…` : text;
  return [{ type: "content", content: { type: "text", text: fenced(cut) } }];
}

function fenced(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}\n${text}\n${fence}`;
}
