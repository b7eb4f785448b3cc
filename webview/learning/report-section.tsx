/** The health report: what got worse, in a sentence each, then the figures of the week and its cost. */
import type { HealthReport, Rate, Regression } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import { Icon } from "../views/icon.tsx";
import { daysOf, dayText, figure, rateTitle, usdText } from "./figures.ts";
import { SessionLinks } from "./session-links.tsx";

/** Sessions of a regression that are linked. */
const LINKED = 5;

/** Below this number of observations a rate is no judgement. */
const FEW = 10;

export function ReportSection({ reports: [newest] }: { readonly reports: readonly HealthReport[] }) {
  if (newest === undefined) return <NoReport />;
  const { regressions, rates, totals } = newest;
  const overall = rates.filter(({ of }) => of === undefined);
  return (
    <>
      <p class="learning-note">
        {t("Report of {0}", dayText(newest.date))} · {t("sessions: {0}", formatNumber(newest.sessions))} ·{" "}
        {t("days: {0}", daysOf(newest))}
      </p>
      {regressions.length > 0 && <Regressions regressions={regressions} />}
      <ul class="learning-list" aria-label={t("Figures")}>
        {overall.map((rate) => (
          <RateLine key={rate.name} rate={rate} />
        ))}
        <li>{t("Cost: {0}, {1} of it for learning", usdText(totals.usd), usdText(totals.learningUsd))}</li>
      </ul>
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
            <span dir="auto">{titleOf(rate, of)}</span>
            {": "}
            {t("{0} → {1}, of {2} cases", figure(rate, before), figure(rate, now), formatNumber(n))}
            <span class="learning-links">
              <SessionLinks ids={sessions} count={LINKED} isNewestFirst />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RateLine({ rate: { name, of, value, n, baseline } }: { readonly rate: Rate }) {
  const usual = baseline === undefined ? undefined : t("usually {0}", figure(name, baseline));
  const facts = [t("of {0} cases", formatNumber(n)), n < FEW ? t("too few to tell") : usual];
  return (
    <li>
      <span dir="auto">{titleOf(name, of)}</span>
      {": "}
      <strong>{figure(name, value)}</strong>{" "}
      <span class="learning-note">{facts.filter((fact) => fact !== undefined).join(" · ")}</span>
    </li>
  );
}

function titleOf(rate: string, of: string | undefined): string {
  return of === undefined ? rateTitle(rate) : t("{0} of {1}", rateTitle(rate), of);
}
