/** Planned jobs with their schedules, their next and last runs, and their actions. */
import type { CronJob, CronRun, CronState } from "../../agent-core/protocol/cron.ts";
import type { JobAction } from "../../agent-core/protocol/learning-page.ts";
import { t } from "../texts.ts";
import { useFocusKept } from "../views/focus-kept.ts";
import { Button, Icon } from "../views/icon.tsx";
import { ActionButtons } from "./action-buttons.tsx";
import { momentText } from "./figures.ts";
import { useLearning } from "./learning-panel.ts";

const ICONS: Readonly<Record<CronRun["state"], string>> = {
  running: "loading",
  completed: "pass",
  failed: "error",
  unknown: "question",
};

export function JobsSection({ cron }: { readonly cron: CronState | null }) {
  const rows = useFocusKept<HTMLUListElement>(cron?.jobs, ".learning-actions button, button", "#learning-tab-jobs");
  if (cron === null || cron.jobs.length === 0) {
    return (
      <p class="learning-empty">
        {t("There are no planned jobs. Ask Hermes for one, for example: “each weekday at 9, list the failing tests”.")}
      </p>
    );
  }
  return (
    <>
      <p class="learning-note">
        {cron.enabled
          ? t("Jobs run while VS Code is open. One that is due earlier runs late, at the next start.")
          : t("Planned jobs are off: cron.enabled in config.yaml.")}
      </p>
      <ul class="learning-list" ref={rows}>
        {cron.jobs.map((job) => (
          <JobRow key={job.id} job={job} />
        ))}
      </ul>
    </>
  );
}

type JobProps = { readonly job: CronJob };

const STATES: Readonly<Record<CronJob["state"], string>> = {
  active: t("active"),
  paused: t("paused"),
  running: t("runs now"),
  ended: t("ended"),
};

function JobRow({ job }: JobProps) {
  const { id, name, scheduleText, state, next, last, failures, builtIn } = job;
  const facts = [
    STATES[state],
    ...(builtIn ? [t("built in")] : []),
    ...(next === undefined ? [] : [nextText(next, builtIn)]),
    ...(failures > 1 ? [t("{0} failures in a row", failures)] : []),
  ];
  return (
    <li class={`learning-row learning-job-${state}`} data-row={id}>
      <p class="learning-text" dir="auto">
        <Icon name={state === "running" ? "loading" : "calendar"} spin={state === "running"} />{" "}
        {builtIn ? (BUILT_IN[id] ?? name) : name}
      </p>
      <p class="learning-why" dir="auto">
        {scheduleText}
      </p>
      <p class="learning-facts">{facts.join(" · ")}</p>
      {last !== undefined && <RunLine run={last} />}
      <JobActions job={job} />
    </li>
  );
}

/** Names of the loops that learn, in the language of the editor. */
const BUILT_IN: Readonly<Record<string, string>> = {
  distillation: t("Make skills from repeated work"),
  report: t("Daily health report"),
};

/** A loop that is due waits until no turn runs. */
function nextText(next: number, builtIn: boolean): string {
  if (next > Date.now()) return t("next {0}", momentText(next));
  return builtIn
    ? t("due since {0}, runs when Hermes is idle", momentText(next))
    : t("due since {0}", momentText(next));
}

/** A run with its result; a late one with both times. */
function RunLine({ run: { state, planned, started, late, summary, sessionId, denied } }: { readonly run: CronRun }) {
  const { post, data } = useLearning();
  const time = late
    ? t("late: planned {0}, ran {1}", momentText(planned), momentText(started))
    : t("ran {0}", momentText(started));
  return (
    <p class={`learning-run learning-run-${state}`} dir="auto">
      <Icon name={ICONS[state]} spin={state === "running"} /> <span class={late ? "learning-late" : ""}>{time}</span>
      {summary !== "" && `: ${summary}`}
      {denied.length > 0 && ` ${t("Not allowed, and not run: {0}", denied.join(", "))}`}{" "}
      {sessionId !== undefined && data.value?.titles[sessionId] !== undefined && (
        <Button onClick={() => post({ type: "open-session", sessionId })}>{t("Open Session")}</Button>
      )}
    </p>
  );
}

const LABELS: Readonly<Record<JobAction, string>> = {
  pause: t("Pause"),
  resume: t("Resume"),
  run: t("Run Now"),
  remove: t("Remove"),
};

const ACTIONS: Readonly<Record<CronJob["state"], readonly JobAction[]>> = {
  active: ["run", "pause", "remove"],
  paused: ["run", "resume", "remove"],
  running: [],
  ended: ["run", "remove"],
};

function JobActions({ job: { id, name, state, builtIn } }: JobProps) {
  const panel = useLearning();
  return (
    <ActionButtons
      name={name}
      isRunning={panel.running.value.has(id)}
      labels={LABELS}
      actions={ACTIONS[state].filter((action) => action !== "remove" || !builtIn)}
      asked="remove"
      question={t("Remove the job?")}
      act={(action) => panel.act(id, { type: "job", id, action })}
    />
  );
}
