/** Card of a tool call: title, status, its content, and the calls that are parts of it. */
import { useComputed } from "@preact/signals";
import type { ToolKind } from "@zed-industries/agent-client-protocol";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { fenced, visibleText } from "../../agent-core/platform/visible-text.ts";
import { MarkdownView } from "../markdown/markdown-view.tsx";
import { fieldsOf, ourMeta } from "../state/agent-meta.ts";
import { partsOf } from "../state/nested-calls.ts";
import type { CallParent, ToolEntry, ToolStatus } from "../state/state.ts";
import { appendText, emptyText } from "../state/streamed-text.ts";
import { isUndone, isUnfinished } from "../state/tool-calls.ts";
import { t } from "../texts.ts";
import { TaskList } from "./delegation/task-list.tsx";
import { Fold } from "./fold.tsx";
import { formatDuration, SHOWN_DURATION_MS } from "./format.ts";
import { Button, Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { HookList, LinkList, linksIn, ToolPart } from "./tool-parts.tsx";

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

/** States of tool calls and of steps of a plan. */
export const statusLabels: Readonly<Record<ToolStatus, string>> = {
  pending: t("waiting"),
  in_progress: t("running"),
  completed: t("done"),
  failed: t("failed"),
  stopped: t("stopped"),
};

type ToolCardProps = {
  readonly entry: ToolEntry;
  /** The card of another call contains this one, which stays folded. */
  readonly isNested?: boolean;
};

export const ToolCard = memo(function ToolCard({ entry, isNested = false }: ToolCardProps) {
  const { status, durationMs, tasks } = entry;
  const title = visibleText(entry.title);
  const isRejected = status === "failed" && entry.isRejected;
  const label = isRejected ? t("not run") : statusLabels[status];
  const body = useBody(entry);
  const isOpen = useOpenByDefault(entry);
  const isTakenBack = useUndone(entry.id) || isUndone(entry);
  const summary = (
    <>
      <Icon name={iconOf(entry)} />
      <span class={`tool-title${entry.kind === "execute" ? " tool-command" : ""}`} title={title}>
        {title}
      </span>
      {tasks && <TaskProgress tasks={tasks} />}
      {durationMs !== undefined && durationMs >= SHOWN_DURATION_MS && (
        <span class="tool-time">{formatDuration(durationMs)}</span>
      )}
      {isTakenBack && <span class="memory-undone">{t("Undone")}</span>}
      {isTakenBack ? <Icon name="discard" /> : <StatusIcon entry={entry} />}
      <span class="visually-hidden">{entry.waiting ? t("waiting for permission") : label}</span>
    </>
  );
  return (
    <div class={`tool-card tool-${isRejected ? "rejected" : status}`} data-tool-call={entry.id} data-status={status}>
      {body === undefined ? (
        <div class="fold-summary">{summary}</div>
      ) : (
        <Fold id={`tool:${entry.id}`} openByDefault={!isNested && isOpen} summary={summary}>
          {body}
        </Fold>
      )}
      {entry.isMemory && status === "completed" && !isTakenBack && (
        <div class="tool-memory">
          <MemoryUndo callId={entry.id} />
        </div>
      )}
    </div>
  );
});

function iconOf({ kind, isMemory, tasks }: ToolEntry): string {
  if (isMemory) return "bookmark";
  return tasks === undefined ? icons[kind] : "type-hierarchy-sub";
}

/** A delegation is open while it runs, and a picture of the browser until the next one. */
function useOpenByDefault(entry: ToolEntry): boolean {
  const { store } = usePanel();
  const { content, status, tasks, id } = entry;
  const isPicture = isOfBrowser(entry) && hasPicture(entry);
  const isOutdated = useComputed(() => {
    const { entries } = store.shown.value; // read in each case: the picture comes after the first rendering
    if (!isPicture) return false;
    const last = entries.findLast((other) => other.type === "tool" && isOfBrowser(other) && hasPicture(other));
    return last?.type === "tool" && last.id !== id;
  }).value;
  if (tasks !== undefined) return isUnfinished(entry);
  if (isOutdated && status !== "failed") return false;
  const hasFailed = status === "failed" && !entry.isRejected; // the user knows the reason of a rejection
  return hasPicture(entry) || content.some((part) => part.type !== "content") || hasFailed;
}

function isOfBrowser({ name }: ToolEntry): boolean {
  return name?.startsWith("browser_") === true;
}

function hasPicture({ content }: ToolEntry): boolean {
  return content.some((part) => part.type === "content" && part.content.type === "image");
}

/** Undefined for a card that is only a line. */
function useBody(entry: ToolEntry): ComponentChildren {
  const { memory, store } = usePanel();
  const { id, tasks, hooks } = entry;
  const hasParts = useComputed(
    () => partsOf(store.shown.value.nestedCalls, { callId: id, taskId: undefined }).length > 0,
  );
  const script = scriptOf(entry);
  const content = entry.content.filter((part) => part.type !== "content" || ourMeta(part._meta).hookText !== true);
  const isEmpty = content.length === 0 && hooks.length === 0 && script === undefined;
  if (isEmpty && tasks === undefined && !hasParts.value) return undefined;
  return (
    <>
      {script !== undefined && <Script code={script} />}
      {hasParts.value && <NestedCalls callId={id} taskId={undefined} />}
      {tasks === undefined ? (
        <Content id={id} content={content} />
      ) : (
        <TaskList
          callId={id}
          tasks={tasks}
          calls={(taskId) => <NestedCalls callId={id} taskId={taskId} />}
          onUse={() => isUnfinished(entry) && memory.setOpen(`tool:${id}`, true)}
        />
      )}
      {hooks.length > 0 && <HookList hooks={hooks} />}
    </>
  );
}

/** Pages have their text in a fold of its own. */
function Content({ id, content }: Pick<ToolEntry, "id" | "content">) {
  const links = linksIn(content);
  const others = content.filter((part) => part.type !== "content" || part.content.type !== "resource_link");
  const parts = others.map((part, index) => <ToolPart key={index} id={`${id}:${index}`} part={part} />);
  if (links.length === 0) return <>{parts}</>;
  return (
    <>
      <LinkList links={links} />
      {others.length > 0 && (
        <Fold
          id={`text:${id}`}
          openByDefault={false}
          summary={<span class="tool-title">{t("Text")}</span>}
          class="tool-text"
        >
          {parts}
        </Fold>
      )}
    </>
  );
}

function TaskProgress({ tasks }: { readonly tasks: NonNullable<ToolEntry["tasks"]> }) {
  const done = tasks.filter(({ status }) => status === "completed").length;
  return (
    <span class="tool-time" title={t("{0} of {1} tasks completed", done, tasks.length)}>
      {done}/{tasks.length}
    </span>
  );
}

/** The script of a call of `execute_code`, as Markdown. */
function scriptOf({ name, rawInput, title }: ToolEntry): string | undefined {
  const { code } = fieldsOf(rawInput);
  if (name !== "execute_code" || typeof code !== "string") return undefined;
  return fenced(code.trimEnd(), title.startsWith("Run Python") ? "python" : "javascript");
}

function Script({ code }: { readonly code: string }) {
  return (
    <div class="tool-script">
      <MarkdownView text={appendText(emptyText, code)} growing={false} />
    </div>
  );
}

/** Calls that are shown before the user asks for the earlier ones. */
const SHOWN_CALLS = 50;

/** Calls that are parts of a script or of a task. A list that grows keeps its first row in place. */
function NestedCalls(parent: CallParent) {
  const { store } = usePanel();
  const calls = useComputed(() => partsOf(store.shown.value.nestedCalls, parent)).value;
  const [first, setFirst] = useState(Math.max(0, calls.length - SHOWN_CALLS));
  if (calls.length === 0) return null;
  return (
    <div class="nested-calls">
      {first > 0 && (
        <Button data-hides onClick={() => setFirst(0)}>
          {first === 1 ? t("Show 1 Earlier Call") : t("Show {0} Earlier Calls", first)}
        </Button>
      )}
      <ul aria-label={t("Tool calls")}>
        {calls.slice(first).map((call) => (
          <li key={call.id}>
            <ToolCard entry={call} isNested />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** True after the undo of what the call changed in the memory or in skills. */
function useUndone(callId: string): boolean {
  const { store } = usePanel();
  return useComputed(() => store.shown.value.undoneMemory.includes(callId)).value;
}

/** Undoes what a call changed in the memory or in skills. */
export function MemoryUndo({ callId }: { readonly callId: string }) {
  const { post, isReadOnly } = usePanel();
  if (useUndone(callId)) return <span class="memory-undone">{t("Undone")}</span>;
  if (isReadOnly) return null;
  return (
    <Button
      title={t("Undo This Change")}
      aria-label={t("Undo This Change")}
      onClick={() => post({ type: "memory-undo", callId })}
    >
      {t("Undo")}
    </Button>
  );
}

function StatusIcon({ entry }: { readonly entry: ToolEntry }) {
  const { status, waiting, isRejected, tasks } = entry;
  if (waiting) return <Icon name="bell-dot" />;
  if (status === "failed" && isRejected) return <Icon name="circle-slash" />;
  switch (status) {
    case "pending":
    case "in_progress":
      return <Icon name="loading" spin />;
    case "completed":
      return <Icon name={tasks?.every((task) => task.status === "completed") === false ? "warning" : "check"} />;
    case "failed":
      return <Icon name="error" />;
    case "stopped":
      return <Icon name="circle-slash" />;
  }
}
