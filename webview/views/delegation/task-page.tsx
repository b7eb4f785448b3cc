/** Page with the conversation of a sub-agent, read-only, refreshed while it works. */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import type { HermesTask } from "../../../agent-core/protocol/delegation.ts";
import type { OpenTask } from "../../panel.ts";
import { isOver, taskLine } from "../../state/delegation.ts";
import { findNested } from "../../state/nested-calls.ts";
import type { PanelState } from "../../state/state.ts";
import { indexOfCall } from "../../state/transcript.ts";
import { t } from "../../texts.ts";
import { BackButton, Icon } from "../icon.tsx";
import { PanelContext, usePanel } from "../panel-context.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { TaskIcon, TaskTime } from "./task-list.tsx";

export function TaskPage({ open }: { readonly open: OpenTask }) {
  const panel = usePanel();
  const { ref, child, view } = open;
  const task = useComputed(() => findTask(panel.store.shown.value, ref)).value;
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  useEffect(() => panel.post({ type: "task-refresh", child }), [task]);
  const close = (): void => {
    panel.closeTask();
    // The next frame shows the transcript, whose rows are measured in the one after it.
    requestAnimationFrame(() => requestAnimationFrame(() => focusTask(ref)));
  };
  return (
    <section
      class="task-page"
      aria-labelledby="task-title"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      <div class="task-page-head">
        <BackButton act={close} />
        <h1 id="task-title" tabIndex={-1} ref={title} title={task && visibleText(task.goal)}>
          {task === undefined ? t("Task") : visibleText(task.goal)}
        </h1>
      </div>
      {task !== undefined && <TaskState task={task} />}
      <PanelContext.Provider value={view}>
        <Conversation />
      </PanelContext.Provider>
    </section>
  );
}

/** Focuses the button that opened the page, if its row is in the page again. */
function focusTask({ callId, taskId }: OpenTask["ref"]): void {
  const row = `[data-tool-call="${CSS.escape(callId)}"] [data-task="${CSS.escape(taskId)}"]`;
  document.querySelector<HTMLElement>(`${row} .task-open-button`)?.focus({ preventScroll: true });
}

function TaskState({ task }: { readonly task: HermesTask }) {
  return (
    <div class={`task-page-state task-${task.status}`} data-status={task.status}>
      <TaskIcon task={task} />
      <span class={isOver(task) ? "task-reason" : "task-line"}>{visibleText(taskLine(task))}</span>
      <TaskTime task={task} />
    </div>
  );
}

/** The panel of the context is the sub-agent's. */
function Conversation() {
  const { store } = usePanel();
  const { entries, open, sessionId } = store.shown.value;
  if (entries.length > 0 || open !== undefined) return <Transcript key={sessionId} />;
  return (
    <div class="task-page-empty">
      {sessionId === undefined ? (
        <>
          <Icon name="loading" spin /> {t("Loading…")}
        </>
      ) : (
        t("Nothing was said yet.")
      )}
    </div>
  );
}

function findTask({ entries, nestedCalls }: PanelState, { callId, taskId }: OpenTask["ref"]): HermesTask | undefined {
  const index = indexOfCall(entries, callId);
  const call = index === undefined ? findNested(nestedCalls, callId) : entries[index];
  return call?.type === "tool" ? call.tasks?.find(({ id }) => id === taskId) : undefined;
}
