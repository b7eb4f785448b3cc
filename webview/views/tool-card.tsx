/** Card of a tool call: title, status, and its content. */
import { useComputed } from "@preact/signals";
import type { ToolCallContent, ToolKind } from "@zed-industries/agent-client-protocol";
import { memo } from "preact/compat";
import { containedText, visibleText } from "../../agent-core/platform/visible-text.ts";
import type { HermesHookRun } from "../../agent-core/protocol/conversation.ts";
import { MarkdownView } from "../markdown/markdown-view.tsx";
import { isHookText, problemsIn, type ShownProblem } from "../state/agent-meta.ts";
import { contentText } from "../state/content-text.ts";
import type { ToolEntry, ToolStatus } from "../state/state.ts";
import { appendText, emptyText } from "../state/streamed-text.ts";
import { DiffView } from "./diff-view.tsx";
import { Fold } from "./fold.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { TerminalView } from "./terminal-view.tsx";
import { formatDuration } from "./words.ts";

const icons: Readonly<Record<ToolKind, string>> = {
  read: "file",
  edit: "edit",
  delete: "trash",
  move: "arrow-swap",
  search: "search",
  execute: "terminal",
  think: "checklist",
  fetch: "globe",
  switch_mode: "settings",
  other: "tools",
};

const statusLabels: Readonly<Record<ToolStatus, string>> = {
  pending: "waiting",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  stopped: "stopped",
};

/** Shorter calls show no duration. */
const SHOWN_DURATION_MS = 1_000;

export const ToolCard = memo(function ToolCard({ entry }: { readonly entry: ToolEntry }) {
  const { status, kind, durationMs, hooks } = entry;
  const content = entry.content.filter((part) => part.type !== "content" || !isHookText(part._meta));
  const title = visibleText(entry.title);
  const isRejected = status === "failed" && entry.isRejected;
  const label = isRejected ? "rejected" : statusLabels[status];
  const changes = content.some((part) => part.type === "diff");
  const commands = content.some((part) => part.type === "terminal");
  const pictures = content.some((part) => part.type === "content" && part.content.type === "image");
  const summary = (
    <>
      <Icon name={entry.isMemory ? "bookmark" : icons[kind]} />
      <span class={`tool-title${kind === "execute" ? " tool-command" : ""}`} title={title}>
        {title}
      </span>
      {durationMs !== undefined && durationMs >= SHOWN_DURATION_MS && (
        <span class="tool-time">{formatDuration(durationMs)}</span>
      )}
      <StatusIcon entry={entry} />
      <span class="visually-hidden">{entry.waiting ? "waiting for permission" : label}</span>
    </>
  );
  return (
    <div class={`tool-card tool-${isRejected ? "rejected" : status}`} data-tool-call={entry.id} data-status={status}>
      {content.length === 0 && hooks.length === 0 ? (
        <div class="fold-summary">{summary}</div>
      ) : (
        <Fold
          id={`tool:${entry.id}`}
          openByDefault={changes || commands || pictures || status === "failed"}
          summary={summary}
        >
          {content.map((part, index) => (
            <Part key={index} id={`${entry.id}:${index}`} part={part} />
          ))}
          {hooks.length > 0 && <HookList hooks={hooks} />}
        </Fold>
      )}
      {entry.isMemory && status === "completed" && (
        <div class="tool-memory">
          <MemoryUndo callId={entry.id} />
        </div>
      )}
    </div>
  );
});

/** Undoes what a call changed in the memory or in skills. */
export function MemoryUndo({ callId }: { readonly callId: string }) {
  const { store, post } = usePanel();
  const isUndone = useComputed(() => store.shown.value.undoneMemory.includes(callId)).value;
  if (isUndone) return <span class="memory-undone">Undone</span>;
  return (
    <button
      type="button"
      class="text-button"
      title="Undo this change"
      aria-label="Undo this change"
      onClick={() => post({ type: "memory-undo", callId })}
    >
      Undo
    </button>
  );
}

/** Formats that every browser shows; they load nothing and run nothing. */
const SHOWN_IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

function Part({ id, part }: { readonly id: string; readonly part: ToolCallContent }) {
  switch (part.type) {
    case "diff":
      return <DiffView id={`diff:${id}`} path={part.path} oldText={part.oldText ?? null} newText={part.newText} />;
    case "terminal":
      return <TerminalView terminalId={part.terminalId} />;
    case "content": {
      const problems = problemsIn(part._meta);
      if (problems !== undefined) return <ProblemList problems={problems} />;
      if (part.content.type === "image" && SHOWN_IMAGES.test(part.content.mimeType)) {
        const { mimeType, data } = part.content;
        return <img class="tool-picture" alt="Result of the call" src={`data:${mimeType};base64,${data}`} />;
      }
      return <MarkdownView text={appendText(emptyText, contentText(part.content))} growing={false} />;
    }
  }
}

function StatusIcon({ entry: { status, waiting, isRejected } }: { readonly entry: ToolEntry }) {
  if (waiting) return <Icon name="bell-dot" />;
  if (status === "failed" && isRejected) return <Icon name="circle-slash" />;
  switch (status) {
    case "pending":
    case "in_progress":
      return <Icon name="loading" spin />;
    case "completed":
      return <Icon name="check" />;
    case "failed":
      return <Icon name="error" />;
    case "stopped":
      return <Icon name="circle-slash" />;
  }
}

const hookLabels: Readonly<Record<HermesHookRun["outcome"], string>> = {
  passed: "passed",
  changed: "changed this call",
  blocked: "blocked this call",
  failed: "failed",
};

const hookIcons: Readonly<Record<HermesHookRun["outcome"], string>> = {
  passed: "check",
  changed: "edit",
  blocked: "circle-slash",
  failed: "warning",
};

/** Most hooks take milliseconds. */
function hookTime(durationMs: number): string {
  return durationMs < SHOWN_DURATION_MS ? `${durationMs} ms` : formatDuration(durationMs);
}

/** Runs of hooks with their verdict and duration. */
function HookList({ hooks }: { readonly hooks: readonly HermesHookRun[] }) {
  return (
    <ul class="hook-runs" aria-label="Hooks">
      {hooks.map(({ name, event, outcome, durationMs, message }, index) => (
        <li key={index} class={`hook-run hook-${outcome}`} title={visibleText(message ?? event)}>
          <Icon name={hookIcons[outcome]} />
          <span>
            <span class="hook-name">{visibleText(name)}</span> {hookLabels[outcome]} · {hookTime(durationMs)}
            {message !== undefined && <span class="hook-message">{visibleText(message)}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Problems that an edit caused. A click opens the line. */
function ProblemList({ problems }: { readonly problems: readonly ShownProblem[] }) {
  const { post } = usePanel();
  const title = problems.length === 1 ? "1 new problem" : `${problems.length} new problems`;
  return (
    <section class="problems" aria-label={title}>
      <div class="problems-title">{title}</div>
      {problems.map(({ path, line, severity, text }, index) => (
        <button
          key={index}
          type="button"
          class="problem"
          title={text}
          onClick={() => post({ type: "open-location", path, line })}
        >
          <Icon name={severity} />
          <span class="problem-text">{containedText(text)}</span>
        </button>
      ))}
    </section>
  );
}
