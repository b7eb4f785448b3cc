/** The health report: regressions first, then charts of the rates and of the cost, then recommendations. */
import type { HealthReport, Recommendation, Regression } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import { Icon } from "../views/icon.tsx";
import { Breakdown, CostChart, RateChart } from "./charts.tsx";
import { daysOf, dayText, figure, rateTitle, seriesOf } from "./figures.ts";
import { useLearning } from "./learning-panel.ts";
import { SessionLinks } from "./session-links.tsx";

/** Sessions of a regression or a recommendation that are linked. */
const LINKED = 5;

/** Rates that matter most to the user. */
const MAIN = [
  "task_success_rate",
  "avg_feedback_score",
  "corrections_per_task",
  "tool_error_rate",
  "first_token_seconds",
];
/** Rates that are shown by tool, or by skill. */
const MAIN_DETAILS = ["tool_error_rate", "skill_success_rate"];

export function ReportSection({ reports }: { readonly reports: readonly HealthReport[] }) {
  const [newest] = reports;
  if (newest === undefined) return <NoReport />;
  const { regressions, recommendations } = newest;
  const series = seriesOf(reports).filter(({ points }) => points.length > 0);
  const names = [...new Set(series.map(({ name }) => name))];
  const charts = (chosen: readonly string[]) =>
    series
      .filter(({ name, of }) => of === undefined && chosen.includes(name))
      .map((one) => <RateChart key={one.name} series={one} days={reports.length} />);
  const today = series.filter(({ points }) => points.at(-1)?.date === newest.date);
  const breakdowns = (chosen: readonly string[]) =>
    names
      .filter((name) => chosen.includes(name))
      .map((name) => <Breakdown key={name} name={name} all={today.filter((one) => one.name === name)} />);
  return (
    <>
      <p class="learning-note">
        {t("Report of {0}", dayText(newest.date))} · {t("sessions: {0}", formatNumber(newest.sessions))} ·{" "}
        {t("days: {0}", daysOf(newest))}
        <br />
        {t("Bands and whiskers are 95 % intervals. Dashed lines are the usual value.")}
      </p>
      {regressions.length > 0 && <Regressions regressions={regressions} />}
      <div class="learning-charts">
        {charts(MAIN)}
        <CostChart reports={reports} />
      </div>
      <div class="learning-breakdowns">{breakdowns(MAIN_DETAILS)}</div>
      {recommendations.length > 0 && <Recommendations recommendations={recommendations} />}
      <details class="learning-more">
        <summary>{t("More rates")}</summary>
        <div class="learning-charts">{charts(names.filter((name) => !MAIN.includes(name)))}</div>
      </details>
      <details class="learning-more">
        <summary>{t("By task type and model")}</summary>
        <div class="learning-breakdowns">{breakdowns(names.filter((name) => !MAIN_DETAILS.includes(name)))}</div>
      </details>
    </>
  );
}

function NoReport() {
  return (
    <p class="learning-empty">
      {t(
        "There is no report yet. The first one follows a day with sessions, at night or when Hermes is idle. Learn Now makes it at once.",
      )}
    </p>
  );
}

function Regressions({ regressions }: { readonly regressions: readonly Regression[] }) {
  return (
    <section class="learning-regressions" aria-label={t("Worse than before")}>
      <h2>
        <Icon name="warning" /> {t("Worse than before")}
      </h2>
      <ul class="learning-list">
        {regressions.map(({ rate, of, before, now, n, sessions }) => (
          <li key={`${rate} ${of ?? ""}`}>
            <span dir="auto">{of === undefined ? rateTitle(rate) : t("{0} of {1}", rateTitle(rate), of)}</span>
            {": "}
            {t("{0} → {1}, n {2}", figure(rate, before), figure(rate, now), formatNumber(n))}
            <span class="learning-links">
              <SessionLinks ids={sessions} count={LINKED} isNewestFirst />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Recommendations({ recommendations }: { readonly recommendations: readonly Recommendation[] }) {
  return (
    <section aria-labelledby="learning-recommendations">
      <h2 id="learning-recommendations">{t("Recommendations")}</h2>
      <ul class="learning-list">
        {recommendations.map((one) => (
          <RecommendationRow key={one.id} recommendation={one} />
        ))}
      </ul>
    </section>
  );
}

const RISKS: Readonly<Record<Recommendation["risk"], string>> = {
  low: t("low risk"),
  medium: t("medium risk"),
  high: t("high risk"),
};

const STATES: Readonly<Record<Recommendation["state"], string>> = {
  proposed: t("proposed"),
  applied: t("applied, on trial"),
  kept: t("applied"),
  reverted: t("taken back"),
};

function RecommendationRow({ recommendation }: { readonly recommendation: Recommendation }) {
  const { id, key, scope, from, to, reason, evidence, confidence, risk, state } = recommendation;
  const facts = [STATES[state], t("{0} % confident", Math.round(confidence * 100)), RISKS[risk]];
  if (scope !== undefined) facts.unshift(t("for {0}", scope));
  return (
    <li class="learning-row" data-row={id}>
      <p class="learning-setting">
        <code>{key}</code> {settingText(from)} → <strong>{settingText(to)}</strong>
      </p>
      <p class="learning-facts">{facts.join(" · ")}</p>
      <p class="learning-why" dir="auto">
        {reason}
      </p>
      {evidence !== undefined && evidence.length > 0 && (
        <div class="learning-links">
          <SessionLinks ids={evidence} count={LINKED} isNewestFirst />
        </div>
      )}
      <RecommendationAction recommendation={recommendation} />
    </li>
  );
}

function RecommendationAction({ recommendation: { id, key, state } }: { readonly recommendation: Recommendation }) {
  const panel = useLearning();
  const isRunning = panel.running.value.has(id);
  if (state === "reverted") return null;
  const isProposed = state === "proposed";
  return (
    <div class="learning-actions">
      <button
        type="button"
        class={`button button-small ${isProposed ? "button-primary" : "button-secondary"}`}
        aria-label={isProposed ? t("Apply {0}", key) : t("Undo {0}", key)}
        aria-disabled={isRunning}
        onClick={() => panel.act(id, { type: "act", id, action: isProposed ? "accept" : "undo" })}
      >
        {isProposed ? t("Apply") : t("Undo")}
      </button>
      {isRunning && <Icon name="loading" spin />}
    </div>
  );
}

/** Value of a setting as people read it. */
function settingText(value: unknown): string {
  if (value === undefined || value === null) return t("unset");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
