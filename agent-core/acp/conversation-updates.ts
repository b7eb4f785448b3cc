/** Parts of a conversation as ACP's records: messages, results of tool calls, the plan, a compression. */
import type { SessionUpdate, ToolCallContent } from "@zed-industries/agent-client-protocol";
import type { CompressedEvent } from "../agent/callbacks.ts";
import type { ReportedProblem } from "../host/host.ts";
import { type Message, typedText, type UserMessage } from "../messages/message.ts";
import { counted } from "../platform/counted.ts";
import { newId } from "../platform/new-id.ts";
import { fenced, visibleText } from "../platform/visible-text.ts";
import type { HermesHookRun, PromptBlock } from "../protocol/conversation.ts";
import type { HermesTask, HermesVerdict } from "../protocol/delegation.ts";
import { type HermesAnchor, type HermesUpdateMeta, updateMeta } from "../protocol/update-meta.ts";
import type { Compression, TranscriptEntry } from "../sessions/conversation.ts";
import type { Todo } from "../tools/todo-list.ts";
import type { FileDiff, ToolResult } from "../tools/tool.ts";
import { blockOf } from "./prompt-content.ts";

/** Limit of the text shown of one result; the model gets more. Characters. */
const SHOWN_TEXT_LIMIT = 20_000;
/** Length of a task's line. Characters. */
const TASK_LINE_CHARS = 300;

export type ChunkUpdate = Extract<
  SessionUpdate,
  { sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" }
>;

/** Our fields of an update. */
export function ours(hermes: HermesUpdateMeta): { readonly _meta: { readonly hermes: HermesUpdateMeta } } {
  return { _meta: { hermes } };
}

/** Empty for a synthetic message. `position`: undefined when a later update carries it. */
export function userUpdates({ content, synthetic }: UserMessage, position: number | undefined): readonly ChunkUpdate[] {
  if (synthetic) return [];
  const chunks =
    typeof content === "string"
      ? [chunk("user_message_chunk", content)]
      : content.map((part): ChunkUpdate => ({ sessionUpdate: "user_message_chunk", content: blockOf(part) }));
  return position === undefined ? chunks : chunks.map((update) => ({ ...update, ...ours({ position }) }));
}

export function chunk(sessionUpdate: ChunkUpdate["sessionUpdate"], text: string): ChunkUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}

/** Text of a user message without its attachments; null for any other message. */
export function userText(message: Message | undefined): string | null {
  return message?.role !== "user" || message.synthetic ? null : typedText(message.content);
}

export function userAttachments(message: Message | undefined): PromptBlock[] {
  if (message?.role !== "user" || message.synthetic || typeof message.content === "string") return [];
  return message.content.map(blockOf).filter(({ type }) => type !== "text");
}

type Notice = Extract<SessionUpdate, { sessionUpdate: "notice" }>;

/** A line for the user. `hermes`: the wait or the failed turn that it is about, or a call whose writes the user can undo. */
export function noticeUpdate(
  severity: Notice["severity"],
  title: string,
  hermes: HermesUpdateMeta | undefined,
): Notice {
  return { sessionUpdate: "notice", severity, title, ...(hermes && ours(hermes)) };
}

/** The notice as a thought, for clients that do not show notices. Undefined for the end of an earlier turn. */
export function noticeAsThought({ title, _meta }: Notice): ChunkUpdate | undefined {
  const { failedTurn, retry, memoryCall: call } = updateMeta(_meta);
  if (failedTurn !== undefined) return undefined;
  const hint = call === undefined ? "" : ` To undo it, type /memory undo ${call}.`;
  return { ...chunk("agent_thought_chunk", `${title}${hint}\n`), ...(retry && { messageId: retry.id }) };
}

/** Facts of ours about a session, beside its conversation. */
export function infoUpdate(hermes: HermesUpdateMeta): SessionUpdate {
  return { sessionUpdate: "session_info_update", ...ours(hermes) };
}

/** ACP has no status for a dropped step: it is shown as completed, with a note. */
export function planUpdate(items: readonly Todo[]): SessionUpdate {
  return {
    sessionUpdate: "plan",
    entries: items.map(({ content, status }) => ({
      content: status === "cancelled" ? `${content} (dropped)` : content,
      priority: "medium",
      status: status === "cancelled" ? "completed" : status,
    })),
  };
}

/** Names the messages that the model has only as a summary. */
export function compressionUpdate(
  transcript: readonly TranscriptEntry[],
  { dropped, summary }: Compression,
  { messages, tokensBefore, tokensAfter }: CompressedEvent,
): SessionUpdate {
  const first = dropped[0]?.[0];
  const last = dropped.at(-1)?.[1];
  return infoUpdate({
    compression: {
      messages,
      tokensBefore,
      tokensAfter,
      summary,
      first: first === undefined ? null : anchorFrom(transcript, first),
      firstKept: last === undefined ? null : anchorFrom(transcript, last + 1),
    },
  });
}

/** ACP's record of a compression that has ended. */
export function compactionUpdate(compression: Compression | undefined): SessionUpdate {
  const summary = compression?.summary ?? null;
  return {
    sessionUpdate: "compaction_update",
    compactionId: newId(),
    status: "completed",
    ...(summary !== null && { summary: [{ type: "text", text: summary }] }),
  };
}

/** First message at or after this position that a client can identify. */
function anchorFrom(transcript: readonly TranscriptEntry[], from: number): HermesAnchor | null {
  for (const one of transcript) {
    const { position } = one;
    if (position < from) continue;
    const { message } = one;
    if (message.role === "user" && !message.synthetic) return { position };
    const call = message.role === "assistant" ? message.tool_calls?.[0] : undefined;
    if (call !== undefined) return { toolCallId: call.id };
  }
  return null;
}

export function diffContent(diffs: readonly FileDiff[]): ToolCallContent[] {
  return diffs.map(({ path, oldText, newText }) => ({ type: "diff", path, oldText, newText: newText ?? "" }));
}

export function terminalContent(terminalId: string): ToolCallContent[] {
  return [{ type: "terminal", terminalId }];
}

/** The text for the model, where the content shows a diff or a terminal instead. */
export function rawOutput({ text, ok, diffs = [], terminalId }: ToolResult): { readonly rawOutput?: unknown } {
  const isShown = terminalId === undefined && !(ok && diffs.length > 0);
  return isShown ? {} : { rawOutput: { text: shownStart(text) } };
}

/** An edit shows its diffs, a command its terminal, anything else its text. */
export function resultContent(result: ToolResult): ToolCallContent[] {
  if (result.tasks !== undefined) return tasksContent(result.tasks);
  if (result.ok && result.diffs !== undefined && result.diffs.length > 0) {
    return [...diffContent(result.diffs), ...problemContent(result.problems ?? [])];
  }
  if (result.terminalId !== undefined) return terminalContent(result.terminalId);
  return [
    ...linkContent(result.links ?? []),
    ...textContent(withoutDataTags(result.text)),
    ...mediaContent((result.images ?? []).map((image) => ({ kind: "image", ...image }))),
    ...mediaContent(result.media ?? []),
  ];
}

/** The tasks of a delegation in one line each, for clients that do not show `tasks`. */
export function tasksContent(tasks: readonly HermesTask[]): ToolCallContent[] {
  const lines = tasks.map(({ id, goal, status, step, reason, iterations, files, verdicts }) => {
    const facts = [
      ...(iterations > 0 ? [counted(iterations, "step")] : []),
      ...(files.length > 0 ? [`changed ${files.map(({ path }) => path).join(", ")}`] : []),
      ...(step === undefined ? [] : [step]),
      ...(reason === undefined ? [] : [reason]),
      ...verdicts.slice(-1).map(verdictText),
    ];
    const line = [`${id}: ${goal}`, [status, ...facts].join(", ")].join(" — ");
    return visibleText(line.replaceAll(/\s+/g, " ")).slice(0, TASK_LINE_CHARS).toWellFormed();
  });
  return textContent(lines.join("\n"));
}

function verdictText({ correctness, completeness, confidence, reason }: HermesVerdict): string {
  if (correctness === undefined) return reason;
  const scores = `correctness ${correctness}, completeness ${completeness ?? "?"}, confidence ${confidence ?? "?"}`;
  return reason === "" ? scores : `${scores} (${reason})`;
}

/** The tags around foreign data are for the model. */
function withoutDataTags(text: string): string {
  return text.replaceAll(/<(mcp-result|web-page|web-results) name="[^\n]*">\n([\s\S]*?)\n<\/\1>/g, "$2");
}

function linkContent(links: NonNullable<ToolResult["links"]>): ToolCallContent[] {
  return links.map(({ title, url }) => ({
    type: "content",
    content: { type: "resource_link", name: title, title, uri: url },
  }));
}

function mediaContent(media: NonNullable<ToolResult["media"]>): ToolCallContent[] {
  return media.map(({ kind: type, mimeType, data }) => ({ type: "content", content: { type, mimeType, data } }));
}

function problemContent(problems: readonly ReportedProblem[]): ToolCallContent[] {
  if (problems.length === 0) return [];
  const text = `New problems:\n${fenced(problems.map((problem) => problem.text).join("\n"))}`;
  return [{ type: "content", content: { type: "text", text }, ...ours({ problems }) }];
}

/** Hooks that changed a call or failed, for clients that do not show the runs. The result names those that blocked it. */
export function hookContent(runs: readonly HermesHookRun[]): ToolCallContent[] {
  const lines = runs.flatMap(({ outcome, name, message }) => {
    if (outcome === "failed") return [`The hook "${name}" failed: ${message ?? "no reason"}`];
    return outcome === "changed" ? [`The hook "${name}" changed this call.`] : [];
  });
  return textContent(lines.join("\n")).map((content) => ({ ...content, ...ours({ hookText: true }) }));
}

/** Fenced: no client must render a file's text as Markdown. */
export function textContent(text: string): ToolCallContent[] {
  if (text === "") return [];
  return [{ type: "content", content: { type: "text", text: fenced(shownStart(text)) } }];
}

function shownStart(text: string): string {
  return text.length > SHOWN_TEXT_LIMIT ? `${text.slice(0, SHOWN_TEXT_LIMIT).toWellFormed()}\n…` : text;
}
