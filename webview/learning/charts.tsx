/** Small charts of the health report, drawn as SVG. Each has its figures as a table. */
import type { HealthReport } from "../../agent-core/protocol/learning.ts";
import { formatNumber, t } from "../texts.ts";
import {
  comparison,
  daysOf,
  dayText,
  figure,
  intervalText,
  isShare,
  type Point,
  rateTitle,
  type Series,
  usdText,
} from "./figures.ts";

/** Size of a chart's drawing; the page scales it. */
const WIDTH = 240;
const HEIGHT = 64;
/** Room for the dots at the edges. */
const EDGE = 5;

type Scale = { readonly x: (index: number) => number; readonly y: (value: number) => number; readonly top: number };

/** `days`: number of reports. The scale begins at 0. */
function scaleOf(name: string, points: readonly Point[], days: number): Scale {
  const highest = Math.max(...points.flatMap(({ high, value, baseline = 0 }) => [high, value, baseline]));
  const padded = highest > 0 ? highest * 1.1 : 1;
  const top = isShare(name) ? Math.min(1, padded) : padded;
  const step = (WIDTH - 2 * EDGE) / Math.max(1, days - 1);
  return {
    top,
    x: (index) => (days === 1 ? WIDTH / 2 : EDGE + index * step),
    y: (value) => HEIGHT - EDGE - (Math.min(value, top) / top) * (HEIGHT - 2 * EDGE),
  };
}

function pathOf(spots: readonly (readonly [number, number])[]): string {
  return spots.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** A rate over days: its line in the band of its intervals, and the baseline dashed. */
export function RateChart({ series, days }: { readonly series: Series; readonly days: number }) {
  const { name, points } = series;
  const last = points.at(-1);
  if (last === undefined) return null;
  const words = comparison(name, last);
  return (
    <section class="learning-chart" aria-label={rateTitle(name)}>
      <h3>{rateTitle(name)}</h3>
      <p class="learning-figure">
        <strong>{figure(name, last.value)}</strong> {words !== undefined && <span>{words}</span>}
      </p>
      <p class="learning-note">{intervalText(name, last)}</p>
      <RateDrawing series={series} days={days} />
      <RateTable series={series} />
    </section>
  );
}

function RateDrawing({ series: { name, points }, days }: { readonly series: Series; readonly days: number }) {
  const { x, y, top } = scaleOf(name, points, days);
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  const band = [
    ...points.map(({ index, high }) => [x(index), y(high)] as const),
    ...points.toReversed().map(({ index, low }) => [x(index), y(low)] as const),
  ];
  const usual = points.flatMap(({ index, baseline }) =>
    baseline === undefined ? [] : [[x(index), y(baseline)] as const],
  );
  const label = t(
    "{0}: from {1} on {2} to {3} on {4}",
    rateTitle(name),
    figure(name, first.value),
    dayText(first.date),
    figure(name, last.value),
    dayText(last.date),
  );
  return (
    <>
      <svg class="learning-drawing" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        <line class="learning-axis" x1="0" x2={WIDTH} y1={y(0)} y2={y(0)} />
        {points.length > 1 && <path class="learning-band" d={`${pathOf(band)}Z`} />}
        {usual.length > 1 && <path class="learning-usual" d={pathOf(usual)} />}
        <path class="learning-line" d={pathOf(points.map(({ index, value }) => [x(index), y(value)]))} />
        <line class="learning-whisker" x1={x(last.index)} x2={x(last.index)} y1={y(last.low)} y2={y(last.high)} />
        <circle class="learning-dot" cx={x(last.index)} cy={y(last.value)} r="3.5" />
      </svg>
      <p class="learning-range" aria-hidden="true">
        <span>{dayText(first.date)}</span>
        <span>{t("0 to {0}", figure(name, top))}</span>
        {points.length > 1 && <span>{dayText(last.date)}</span>}
      </p>
    </>
  );
}

function RateTable({ series: { name, points } }: { readonly series: Series }) {
  return (
    <details class="learning-table">
      <summary>{t("Figures")}</summary>
      <table>
        <caption class="visually-hidden">{rateTitle(name)}</caption>
        <thead>
          <tr>
            <th scope="col">{t("Day")}</th>
            <th scope="col">{t("Value")}</th>
            <th scope="col">{t("95 % interval, n")}</th>
            <th scope="col">{t("Usual")}</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map((point) => (
            <tr key={point.date}>
              <th scope="row">{dayText(point.date)}</th>
              <td>{figure(name, point.value)}</td>
              <td>{intervalText(name, point)}</td>
              <td>{point.baseline === undefined ? "–" : figure(name, point.baseline)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Today's values of one rate by tool, model or task type, each with its interval as a whisker. */
export function Breakdown({ name, all }: { readonly name: string; readonly all: readonly Series[] }) {
  const rows = all
    .flatMap(({ of, points }) => {
      const last = points.at(-1);
      return of === undefined || last === undefined ? [] : [{ of, last }];
    })
    .toSorted((one, other) => other.last.value - one.last.value);
  if (rows.length === 0) return null;
  const top = Math.max(...rows.map(({ last }) => last.high), isShare(name) ? 0.01 : 0) || 1;
  const percent = (value: number): string => `${(Math.min(1, value / top) * 100).toFixed(1)}%`;
  return (
    <section class="learning-chart" aria-label={t("{0} in detail", rateTitle(name))}>
      <h3>{t("{0} in detail", rateTitle(name))}</h3>
      <table class="learning-breakdown">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">{t("95 % interval, n")}</th>
            <th scope="col">{t("Value")}</th>
            <th scope="col">{t("Chart")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ of, last }) => (
            <tr key={of}>
              <th scope="row">
                <span dir="auto">{of}</span>
                <span class="learning-note">{intervalText(name, last)}</span>
              </th>
              <td>{figure(name, last.value)}</td>
              <td class="learning-bar">
                <svg aria-hidden="true">
                  <rect class="learning-share" x="0" y="4" height="8" width={percent(last.value)} />
                  <line class="learning-whisker" x1={percent(last.low)} x2={percent(last.high)} y1="8" y2="8" />
                  {last.baseline !== undefined && (
                    <line
                      class="learning-usual"
                      x1={percent(last.baseline)}
                      x2={percent(last.baseline)}
                      y1="0"
                      y2="16"
                    />
                  )}
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Cost of each report's period; the lower part is the cost of learning. `reports`: newest first. */
export function CostChart({ reports }: { readonly reports: readonly HealthReport[] }) {
  const [newest] = reports;
  if (newest === undefined) return null;
  const { usd, tokens, learningUsd, learningTokens } = newest.totals;
  const oldestFirst = reports.toReversed();
  const top = Math.max(...reports.map(({ totals }) => totals.usd)) || 1;
  const step = WIDTH / reports.length;
  const height = (value: number): number => (Math.max(0, value) / top) * (HEIGHT - EDGE);
  const share = tokens === 0 ? 0 : learningTokens / tokens;
  return (
    <section class="learning-chart" aria-label={t("Cost")}>
      <h3>{t("Cost")}</h3>
      <p class="learning-figure">
        <strong>{usdText(usd)}</strong>{" "}
        <span>{daysOf(newest) === 1 ? t("in a day") : t("in {0} days", daysOf(newest))}</span>
      </p>
      <p class="learning-note">
        {t("learning itself: {0}, {1} of the tokens", usdText(learningUsd), figure("token_rate", share))}
      </p>
      <svg class="learning-drawing" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("Cost over the days")}>
        <line class="learning-axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {oldestFirst.map(({ date, totals }, index) => (
          <g key={date}>
            <rect
              class="learning-share"
              x={index * step + step * 0.15}
              width={step * 0.7}
              y={HEIGHT - height(totals.usd)}
              height={height(totals.usd)}
            />
            <rect
              class="learning-own"
              x={index * step + step * 0.15}
              width={step * 0.7}
              y={HEIGHT - height(totals.learningUsd)}
              height={height(totals.learningUsd)}
            />
          </g>
        ))}
      </svg>
      <p class="learning-range" aria-hidden="true">
        <span>{dayText(oldestFirst[0]?.date ?? newest.date)}</span>
        <span>{t("0 to {0}", usdText(top))}</span>
        {reports.length > 1 && <span>{dayText(newest.date)}</span>}
      </p>
      <CostTable reports={reports} />
    </section>
  );
}

function CostTable({ reports }: { readonly reports: readonly HealthReport[] }) {
  return (
    <details class="learning-table">
      <summary>{t("Figures")}</summary>
      <table>
        <caption class="visually-hidden">{t("Cost")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("Day")}</th>
            <th scope="col">{t("Cost")}</th>
            <th scope="col">{t("Tokens")}</th>
            <th scope="col">{t("Learning")}</th>
          </tr>
        </thead>
        <tbody>
          {reports.map(({ date, totals }) => (
            <tr key={date}>
              <th scope="row">{dayText(date)}</th>
              <td>{usdText(totals.usd)}</td>
              <td>{formatNumber(totals.tokens)}</td>
              <td>{usdText(totals.learningUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
