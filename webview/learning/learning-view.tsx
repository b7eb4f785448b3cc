/** Frame of the learning page: heading, state, tabs, and the section shown. */
import { useRef } from "preact/hooks";
import type { LearningData, LearningSection } from "../../agent-core/protocol/learning-page.ts";
import { formatNumber, t } from "../texts.ts";
import { Button, Icon } from "../views/icon.tsx";
import { onKeys } from "../views/keys.ts";
import { usdText } from "./figures.ts";
import { JobsSection } from "./jobs-section.tsx";
import { SECTION_TITLES, useLearning } from "./learning-panel.ts";
import { LearntSection, SkillsSection } from "./learnt-section.tsx";
import { ReportSection } from "./report-section.tsx";
import { SettingsSection } from "./settings-section.tsx";

export function LearningView() {
  const panel = useLearning();
  const data = panel.data.value;
  const failure = panel.failure.value;
  return (
    <main class="learning">
      <header class="learning-head">
        <h1>{t("Learning")}</h1>
        {data !== undefined && <LearnNow data={data} />}
        {data !== undefined && <StateLine data={data} />}
      </header>
      {failure !== undefined && <Failure message={failure} />}
      {data === undefined && failure === undefined && (
        <p class="learning-empty" role="status">
          <Icon name="loading" spin /> {t("Loading…")}
        </p>
      )}
      {data !== undefined && <Obstacle data={data} />}
      <OutcomeLine />
      {data !== undefined && <Sections data={data} />}
    </main>
  );
}

type DataProps = { readonly data: LearningData };

function LearnNow({ data: { state } }: DataProps) {
  const panel = useLearning();
  const isRunning = panel.running.value.has("learn") || state.loops.some((loop) => loop.isRunning);
  const isOff = !state.switches.enabled;
  return (
    <Button
      kind="primary"
      disabled={isOff}
      aria-disabled={isRunning}
      title={isOff ? t("Learning is off.") : t("Does everything that is due at once.")}
      onClick={() => isRunning || panel.act("learn", { type: "learn" })}
    >
      {isRunning && <Icon name="loading" spin />} {isRunning ? t("Learning…") : t("Learn Now")}
    </Button>
  );
}

function StateLine({ data: { state } }: DataProps) {
  const { switches, budget } = state;
  const parts = [
    switches.enabled ? t("On") : t("Off"),
    ...(switches.enabled && !switches.use ? [t("not used for answers")] : []),
    t("today {0} of {1} tokens", formatNumber(budget.tokens), formatNumber(budget.maxTokens)),
    t("{0} of {1}", usdText(budget.usd), usdText(budget.maxUsd)),
  ];
  return <p class="learning-note">{parts.join(" · ")}</p>;
}

function Failure({ message }: { readonly message: string }) {
  const panel = useLearning();
  return (
    <div class="learning-banner learning-error" role="alert">
      <Icon name="error" />
      <p dir="auto">{t("The agent did not answer: {0}", message)}</p>
      <Button kind="secondary" isSmall onClick={() => panel.retry()}>
        {t("Try Again")}
      </Button>
    </div>
  );
}

/** Reason why nothing is learnt at the moment, with the step that helps. */
function Obstacle({ data: { state } }: DataProps) {
  const panel = useLearning();
  const obstacle = state.switches.enabled ? state.obstacle : "off";
  if (obstacle === undefined) return null;
  const { text, step } = OBSTACLES[obstacle];
  const act = (): void => {
    if (obstacle === "off") panel.act("enabled", { type: "switch", name: "enabled", on: true });
    else panel.post(obstacle === "budget" ? { type: "open-place", place: "config" } : { type: "set-up-model" });
  };
  return (
    <div class="learning-banner">
      <Icon name={obstacle === "off" ? "circle-slash" : "info"} />
      <p>{text}</p>
      <Button kind="secondary" isSmall onClick={act}>
        {step}
      </Button>
    </div>
  );
}

const OBSTACLES = {
  off: {
    text: t("Learning is off: nothing is learnt. What was learnt before stays."),
    step: t("Switch On"),
  },
  budget: {
    text: t("Today's budget is spent. Hermes learns again tomorrow, or with a larger budget in config.yaml."),
    step: t("Open config.yaml"),
  },
  "no-model": {
    text: t(
      "Nothing is learnt at the moment: learning needs a language model, and the built-in offline model is none.",
    ),
    step: t("Set Up a Model"),
  },
} as const;

function OutcomeLine() {
  const outcome = useLearning().outcome.value;
  return (
    <p class={outcome?.isError ? "learning-outcome learning-error" : "learning-outcome"} role="status" dir="auto">
      {outcome?.text}
    </p>
  );
}

const ORDER: readonly LearningSection[] = ["report", "learnt", "skills", "jobs", "settings"];

function Sections({ data }: DataProps) {
  const panel = useLearning();
  const tabs = useRef<HTMLDivElement>(null);
  const shown = panel.section.value;
  const { items } = data.state;
  const skills = items.filter(({ kind }) => kind === "skill");
  const others = items.filter(({ kind }) => kind !== "skill");
  const counts: Partial<Record<LearningSection, number>> = {
    learnt: others.length,
    skills: skills.length,
    jobs: data.cron?.jobs.length ?? 0,
  };
  const go = (index: number) => (): void => {
    const next = ORDER.at(index % ORDER.length) ?? shown;
    panel.show(next);
    tabs.current?.querySelector<HTMLElement>(`#learning-tab-${next}`)?.focus();
  };
  const at = ORDER.indexOf(shown);
  const onKeyDown = onKeys({ ArrowRight: go(at + 1), ArrowLeft: go(at - 1), Home: go(0), End: go(-1) });
  return (
    <>
      <div class="learning-tabs" role="tablist" aria-label={t("Sections")} ref={tabs} onKeyDown={onKeyDown}>
        {ORDER.map((section) => (
          <button
            key={section}
            id={`learning-tab-${section}`}
            type="button"
            role="tab"
            aria-selected={section === shown}
            aria-controls="learning-section"
            tabIndex={section === shown ? 0 : -1}
            onClick={() => panel.show(section)}
          >
            {SECTION_TITLES[section]}
            {(counts[section] ?? 0) > 0 && <span class="learning-count"> {formatNumber(counts[section] ?? 0)}</span>}
          </button>
        ))}
      </div>
      <div class="learning-section" id="learning-section" role="tabpanel" aria-labelledby={`learning-tab-${shown}`}>
        {shown === "report" && <ReportSection reports={data.reports} />}
        {shown === "learnt" && <LearntSection items={others} />}
        {shown === "skills" && <SkillsSection items={skills} />}
        {shown === "jobs" && <JobsSection cron={data.cron} />}
        {shown === "settings" && <SettingsSection state={data.state} />}
      </div>
    </>
  );
}
