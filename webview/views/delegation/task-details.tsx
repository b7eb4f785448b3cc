/** Details of a task: dependencies, numbers, changed files, verdicts of the judge, tool calls. */
import type { ComponentChildren } from "preact";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";
import type { HermesTask, HermesVerdict } from "../../../agent-core/protocol/delegation.ts";
import { formatNumber, t } from "../../texts.ts";
import { Fold } from "../fold.tsx";
import { Button, Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

type TaskDetailsProps = {
  readonly callId: string;
  readonly task: HermesTask;
  readonly calls: ComponentChildren;
};

export function TaskDetails({ callId, task, calls }: TaskDetailsProps) {
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
