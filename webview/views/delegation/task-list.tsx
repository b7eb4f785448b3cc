/** Tasks of a delegation in its card: their graph, and a row for each with its state, its controls and its details. */
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import type { HermesTask, HermesVerdict } from "../../../agent-core/protocol/delegation.ts";
import { isOver, taskLine, taskLooks } from "../../state/delegation.ts";
import { taskOfCall } from "../../state/nested-calls.ts";
import { formatNumber, t } from "../../texts.ts";
import { Elapsed } from "../elapsed.tsx";
import { focusOnce } from "../focus-kept.ts";
import { Fold, FoldHead, useOpen } from "../fold.tsx";
import { formatCount, formatDuration } from "../format.ts";
import { Button, Icon, IconButton } from "../icon.tsx";
import { onKeys, onSubmit } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { TaskGraph } from "./task-graph.tsx";

/** A longer list scrolls inside its card. */
const MANY_TASKS = 8;

export type TaskCalls = (taskId: string) => ComponentChildren;

type TaskListProps = {
  readonly callId: string;
  readonly tasks: readonly HermesTask[];
  readonly calls: TaskCalls;
  /** The user works inside the list, which then stays open at the end of the delegation. */
  readonly onUse: () => void;
};

export function TaskList({ callId, tasks, calls, onUse }: TaskListProps) {
  const list = useRef<HTMLUListElement>(null);
  const select = (taskId: string): void => {
    const row = list.current?.querySelector(`[data-task="${CSS.escape(taskId)}"]`);
    row?.scrollIntoView({ block: "nearest" });
    row?.querySelector("button")?.focus({ preventScroll: true });
  };
  return (
    <div class="delegation" onFocusIn={onUse}>
      <TaskGraph tasks={tasks} onSelect={select} />
      <ul
        class={tasks.length > MANY_TASKS ? "task-list task-list-long" : "task-list"}
        aria-label={t("Tasks")}
        ref={list}
      >
        {tasks.map((task) => (
          <TaskRow key={task.id} callId={callId} task={task} calls={calls} />
        ))}
      </ul>
    </div>
  );
}

type TaskRowProps = { readonly callId: string; readonly task: HermesTask; readonly calls: TaskCalls };

const TaskRow = memo(
  function TaskRow({ callId, task, calls }: TaskRowProps) {
    const { store } = usePanel();
    const [isOpen, setOpen] = useOpen(`task:${callId}:${task.id}`, false);
    const [isSteering, setSteering] = useState(false);
    const row = useRef<HTMLLIElement>(null);
    const asks = useComputed(() => {
      const { permissions, nestedCalls } = store.shown.value;
      const asking = permissions.map(({ toolCall }) => taskOfCall(nestedCalls, toolCall.toolCallId));
      return asking.some((other) => other?.callId === callId && other.taskId === task.id);
    }).value;
    const endSteering = (): void => {
      row.current?.querySelector<HTMLElement>(".task-steer-button")?.focus();
      setSteering(false);
    };
    const goal = visibleText(task.goal);
    const line = asks ? t("Waiting for your permission") : visibleText(taskLine(task));
    return (
      <li
        class={`task task-${task.status}${isOpen ? " task-open" : ""}`}
        data-task={task.id}
        data-status={task.status}
        ref={row}
      >
        <FoldHead isOpen={isOpen} title={goal} onToggle={() => setOpen(!isOpen)} hides>
          <TaskIcon task={task} asks={asks} />
          <span class="tool-title">{goal}</span>
          <TaskTime task={task} />
        </FoldHead>
        <div class="task-foot">
          <span class={isOpen && isOver(task) ? "task-reason" : "task-line"} title={line}>
            {line}
          </span>
          <TaskCounts task={task} />
          <TaskActions callId={callId} task={task} onSteer={() => setSteering(!isSteering)} />
        </div>
        {isSteering && !isOver(task) && <SteerLine callId={callId} task={task} onEnd={endSteering} />}
        {isOpen && <TaskDetails callId={callId} task={task} calls={calls(task.id)} />}
      </li>
    );
  },
  (before, after) => before.task === after.task && before.callId === after.callId,
);

/** State as an icon, and in words for screen readers. */
export function TaskIcon({ task: { status }, asks = false }: { readonly task: HermesTask; readonly asks?: boolean }) {
  const { icon, word } = taskLooks[status];
  return (
    <>
      <span class="task-icon">
        {asks ? <Icon name="bell-dot" /> : <Icon name={icon} spin={status === "running"} />}
      </span>
      <span class="visually-hidden">{asks ? t("waiting for permission") : word}: </span>
    </>
  );
}

export function TaskTime({ task }: { readonly task: HermesTask }) {
  const { startedAt, durationMs } = task;
  if (isOver(task))
    return durationMs === undefined ? null : <span class="task-time">{formatDuration(durationMs)}</span>;
  return startedAt === undefined ? null : (
    <span class="task-time">
      <Elapsed since={startedAt} />
    </span>
  );
}

function TaskCounts({ task: { tokens, attempt } }: { readonly task: HermesTask }) {
  const words = [
    ...(attempt > 1 ? [t("try {0}", attempt)] : []),
    ...(tokens > 0 ? [t("{0} tokens", formatCount(tokens))] : []),
  ];
  return words.length === 0 ? null : <span class="task-counts">{words.join(" · ")}</span>;
}

type TaskActionsProps = { readonly callId: string; readonly task: HermesTask; readonly onSteer: () => void };

function TaskActions({ callId, task, onSteer }: TaskActionsProps) {
  const panel = usePanel();
  const [isStopping, setStopping] = useState(false);
  const { id, sessionId, status } = task;
  const goal = visibleText(task.goal);
  const stop = ({ currentTarget }: { readonly currentTarget: HTMLElement }): void => {
    // The button disappears with the task: the focus stays in the row.
    currentTarget.closest("li")?.querySelector("button")?.focus();
    setStopping(true);
    panel.post({ type: "task-stop", callId, taskId: id });
  };
  return (
    <span class="task-actions">
      {sessionId !== undefined && (
        <IconButton
          class="task-open-button"
          icon="eye"
          name={t("Open the Conversation of {0}", goal)}
          title={t("Open the Conversation")}
          act={() => panel.openTask({ callId, taskId: id }, sessionId)}
        />
      )}
      {status === "running" && (
        <IconButton
          class="task-steer-button"
          icon="comment"
          name={t("Send a Message to {0}", goal)}
          title={t("Send a Message to This Task")}
          act={onSteer}
        />
      )}
      {!isOver(task) && !isStopping && (
        <IconButton icon="debug-stop" name={t("Stop {0}", goal)} title={t("Stop This Task")} act={stop} />
      )}
    </span>
  );
}

type SteerLineProps = { readonly callId: string; readonly task: HermesTask; readonly onEnd: () => void };

function SteerLine({ callId, task, onEnd }: SteerLineProps) {
  const { post } = usePanel();
  const [text, setText] = useState("");
  return (
    <form
      class="task-steer"
      onSubmit={onSubmit(() => {
        if (text.trim() === "") return;
        post({ type: "task-steer", callId, taskId: task.id, text: text.trim() });
        onEnd();
      })}
      onKeyDown={onKeys({ Escape: onEnd })}
    >
      <input
        type="text"
        ref={focusOnce}
        aria-label={t("Message to {0}", visibleText(task.goal))}
        placeholder={t("Message to this task")}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <IconButton icon="close" name={t("Cancel the Message")} title={t("Cancel (Escape)")} act={onEnd} />
      <Button type="submit" kind="secondary" isSmall disabled={text.trim() === ""}>
        {t("Send")}
      </Button>
    </form>
  );
}

type TaskDetailsProps = {
  readonly callId: string;
  readonly task: HermesTask;
  readonly calls: ComponentChildren;
};

/** Details of a task: dependencies, numbers, changed files, verdicts of the judge, tool calls. */
function TaskDetails({ callId, task, calls }: TaskDetailsProps) {
  const { dependsOn, files, verdicts } = task;
  return (
    <div class="task-details">
      {dependsOn.length > 0 && <p class="task-note">{t("After {0}", visibleText(dependsOn.join(", ")))}</p>}
      <p class="task-note">{numbersOf(task)}</p>
      {files.length > 0 && <FileList files={files} />}
      {verdicts.length > 0 && <Verdicts id={`verdicts:${callId}:${task.id}`} verdicts={verdicts} />}
      {calls}
    </div>
  );
}

function numbersOf({ iterations, tokens, attempt }: HermesTask): string {
  return [
    iterations === 1 ? t("1 iteration") : t("{0} iterations", formatNumber(iterations)),
    tokens === 1 ? t("1 token") : t("{0} tokens", formatNumber(tokens)),
    ...(attempt > 1 ? [t("{0} attempts", attempt)] : []),
  ].join(" · ");
}

function FileList({ files }: { readonly files: HermesTask["files"] }) {
  const { post } = usePanel();
  return (
    <ul class="task-files" aria-label={t("Changed files")}>
      {files.map(({ path, hunks, shared }) => (
        <li key={path}>
          <Button
            class="task-file"
            title={t("{0}: open the diff", path)}
            onClick={() => post({ type: "open-review", path })}
          >
            <Icon name="diff" />
            <span class="tool-title">{visibleText(path)}</span>
          </Button>
          <span class="task-note">{shared ? t("perhaps by another task") : hunksText(hunks)}</span>
        </li>
      ))}
    </ul>
  );
}

function hunksText(hunks: number): string {
  return hunks === 1 ? t("1 hunk") : t("{0} hunks", hunks);
}

const DECISIONS: Readonly<Record<HermesVerdict["decision"], string>> = {
  accept: t("Accepted"),
  retry: t("Retried"),
  amend: t("Revised and retried"),
  escalate: t("Left to you"),
};

/** A result without scores is accepted because the judge gave no usable answer. */
function decisionOf({ decision, correctness }: HermesVerdict): string {
  return correctness === undefined && decision === "accept" ? t("Accepted unchecked") : DECISIONS[decision];
}

function Verdicts({ id, verdicts }: { readonly id: string; readonly verdicts: readonly HermesVerdict[] }) {
  const last = verdicts.at(-1);
  const count = verdicts.length === 1 ? t("1 check") : t("{0} checks", verdicts.length);
  const summary = (
    <>
      <Icon name="law" />
      <span class="tool-title">
        {count}
        {last && ` · ${decisionOf(last).toLowerCase()}`}
      </span>
    </>
  );
  return (
    <Fold id={id} openByDefault={false} summary={summary} class="verdicts">
      <ol class="verdict-list" aria-label={t("Verdicts of the judge")}>
        {verdicts.map((verdict, index) => (
          <li key={index} class={`verdict verdict-${verdict.decision}`}>
            <div class="verdict-decision">{decisionOf(verdict)}</div>
            {verdict.correctness !== undefined && (
              <dl class="verdict-scores">
                <Score name={t("Correctness")} value={verdict.correctness} />
                <Score name={t("Completeness")} value={verdict.completeness} />
                <Score name={t("Confidence")} value={verdict.confidence} />
              </dl>
            )}
            {verdict.reason !== "" && <p>{visibleText(verdict.reason)}</p>}
          </li>
        ))}
      </ol>
    </Fold>
  );
}

/** `value`: from 0 to 1. */
function Score({ name, value = 0 }: { readonly name: string; readonly value: number | undefined }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div class="score">
      <dt>{name}</dt>
      <dd>
        <span class="score-bar" aria-hidden="true">
          <span class="score-value" style={{ width: `${percent}%` }} />
        </span>
        {formatNumber(value, 2)}
      </dd>
    </div>
  );
}
