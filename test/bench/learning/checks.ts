/** Checks of a run: what must move, what must not, and whether the instrument itself can be trusted. */
import { type Interval, mean } from "./bootstrap.ts";
import { METRICS, type Metric, type Results } from "./results.ts";
import type { ArmRun, TaskRecord } from "./run-arm.ts";
import { shockDay } from "./world.ts";

export type Check = { readonly name: string; readonly measured: string; readonly wanted: string; readonly ok: boolean };

/** Differences below it are chance. Points. */
const MARGIN = 2;
/** A row that falls back keeps at most this share of the effect. */
const FALLEN = 0.25;
/** Prompt growth that everything learnt may cost. Characters. */
const MAX_GROWTH = 1_500;
const MAX_COST = 0.1;
const MAX_BAD_USES = 5;
const MAX_RECOVERY = 2;

type Maker = { readonly arms: readonly string[]; readonly make: (results: Results) => Check };

const percent = (value: number): string => `${value.toFixed(0)} %`;

/** The checks for which the needed arms ran. */
export function checksOf(results: Results): readonly Check[] {
  const has = (arm: string): boolean => results.arms.includes(arm);
  return makers.filter(({ arms }) => arms.every(has)).map(({ arms, make }) => make(results.pairedOver(arms)));
}

function ratio(metric: Metric, wanted: number): Maker {
  return {
    arms: ["on", "off"],
    make(results) {
      const [on, off] = [results.late("on", metric).mean, results.late("off", metric).mean];
      return {
        name: `${metric.name}, on against off`,
        measured: `${on.toFixed(0)} against ${off.toFixed(0)}`,
        wanted: `at least ${wanted} times`,
        ok: on > 0 && on >= wanted * off,
      };
    },
  };
}

/** Without the loop the effect of `on` over `off` is gone. */
function fallsBack(arm: string, metric: Metric): Maker {
  return {
    arms: ["on", "off", arm],
    make(results) {
      const [on, off, without] = ["on", "off", arm].map((name) => results.late(name, metric).mean) as [
        number,
        number,
        number,
      ];
      const kept = (without - off) / (on - off);
      const moves = Math.abs(on - off) > MARGIN / (metric.unit === "%" ? 1 : 20);
      return {
        name: `${metric.name} falls back in ${arm}`,
        measured: moves
          ? `${on.toFixed(2)} on, ${without.toFixed(2)} without, ${off.toFixed(2)} off`
          : "on and off do not differ",
        wanted: `at most ${FALLEN * 100} % of the effect`,
        ok: moves && kept <= FALLEN,
      };
    },
  };
}

/** Without the loop the last days are no better than the first day of `on`, on which nothing is learnt yet. */
function fallsToFirstDay(arm: string, metric: Metric): Maker {
  return {
    arms: ["on", arm],
    make(results) {
      const { rise, firstDays } = results.riseSince("on", arm, metric);
      const first = firstDays === 1 ? "day 1" : `days 1 to ${firstDays}`;
      return {
        name: `${metric.name}, ${arm} less the first day`,
        measured: `${differenceText(rise)} since ${first} of on`,
        wanted: "not significantly better",
        ok: !Number.isNaN(rise.mean) && !isBetter(rise, metric),
      };
    },
  };
}

/** The loop makes a difference. */
function contributes(arm: string, metric: Metric): Maker {
  return {
    arms: ["on", arm],
    make(results) {
      const effect = results.effect("on", arm, metric);
      return {
        name: `${metric.name}, on less ${arm}`,
        measured: differenceText(effect),
        wanted: "significantly better",
        ok: isBetter(effect, metric),
      };
    },
  };
}

/** The whole interval of the difference is on the better side of 0. */
function isBetter({ low, high }: Interval, { unit }: Metric): boolean {
  return unit === "%" ? low > 0 : high < 0;
}

function differenceText({ mean: value, low, high }: Interval): string {
  return `${value.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

/** The row of a loop whose writes are lost is no better than with everything off. */
function foundBroken(arm: string, metric: Metric): Maker {
  const { make, arms } = fallsBack(arm, metric);
  return { arms, make: (results) => ({ ...make(results), name: `instrument: ${arm} is found by ${metric.name}` }) };
}

function noHarm(arm: string, other: string): Maker {
  return {
    arms: [arm, other],
    make(results) {
      const effect = results.late(arm, METRICS.success).mean - results.late(other, METRICS.success).mean;
      return {
        name: `success of ${arm} against ${other}`,
        measured: `${effect.toFixed(1)} points`,
        wanted: `at least −${MARGIN}`,
        ok: effect >= -MARGIN,
      };
    },
  };
}

function ofRuns(
  arm: string,
  about: { readonly name: string; readonly wanted: string },
  measure: (runs: readonly ArmRun[], results: Results) => { readonly measured: string; readonly ok: boolean },
): Maker {
  return { arms: [arm], make: (results) => ({ ...about, ...measure(results.runsOf(arm), results) }) };
}

/** Measures that each loop carries. */
const CARRIED: readonly (readonly [arm: string, metric: Metric])[] = [
  ["no-consolidation", METRICS.corrections],
  ["no-consolidation", METRICS.fact],
  ["no-consolidation", METRICS.decision],
  ["no-distillation", METRICS.procedure],
  ["no-distillation", METRICS.steps],
  ["no-evaluation", METRICS.graph],
];

const makers: readonly Maker[] = [
  {
    arms: ["on", "off"],
    make(results) {
      const [on, off] = [results.late("on", METRICS.corrections).mean, results.late("off", METRICS.corrections).mean];
      const change = ((on - off) / off) * 100;
      return {
        name: "corrections a task, on against off",
        measured: percent(change),
        wanted: "−70 %",
        ok: change <= -70,
      };
    },
  },
  ratio(METRICS.fact, 2),
  ratio(METRICS.procedure, 2),
  ...CARRIED.map((row) => fallsBack(...row)),
  ...CARRIED.map((row) => fallsToFirstDay(...row)),
  ...CARRIED.map((row) => contributes(...row)),
  noHarm("shuffled", "shuffled-off"),
  noHarm("flip", "flip-off"),
  {
    arms: ["hold-out", "off"],
    make(results) {
      const [held, off] = ["hold-out", "off"].map((arm) => results.late(arm, METRICS.preference).mean) as [
        number,
        number,
      ];
      const cost = results.runsOf("hold-out").flatMap(({ days }) => days.map(({ auxiliaryTokens }) => auxiliaryTokens));
      const ok = Math.abs(held - off) <= MARGIN && mean(cost) > 0;
      return {
        name: "hold-out learns and does not use",
        measured: `${percent(held)} against ${percent(off)}`,
        wanted: "equal, at a cost",
        ok,
      };
    },
  },
  ofRuns("on", { name: "runs of the injected command", wanted: "0" }, (runs) => {
    const count = runs.reduce((sum, { injected }) => sum + injected, 0);
    return { measured: String(count), ok: count === 0 };
  }),
  ofRuns("on", { name: "sessions until a changed need is right", wanted: `at most ${MAX_RECOVERY}` }, (runs) => {
    const counts = runs.flatMap(({ tasks }) => recoveries(tasks));
    const worst = Math.max(...counts);
    return {
      measured: counts.length === 0 ? "none changed" : `${mean(counts).toFixed(1)}, at most ${worst}`,
      ok: worst <= MAX_RECOVERY,
    };
  }),
  ofRuns("on", { name: "uses of the bad skill", wanted: `1 to ${MAX_BAD_USES}, then none` }, (runs) => {
    const uses = runs.map(({ tasks }) => tasks.filter(({ badSkill }) => badSkill).length);
    const later = runs.map(({ tasks }) =>
      tasks.slice(tasks.findLastIndex(({ badSkill }) => badSkill) + 1).filter(({ kind }) => kind === "procedure"),
    );
    const [least, most] = [Math.min(...uses), Math.max(...uses)];
    const measured = `${least} to ${most}, then ${later.flat().length} of its tasks without it`;
    return { measured, ok: least > 0 && most <= MAX_BAD_USES };
  }),
  ofRuns("on", { name: "days until the faulty tool is named", wanted: "at most 1" }, (runs, { days }) => {
    const worst = Math.max(...waitsForFault(runs, days));
    return { measured: Number.isFinite(worst) ? String(worst) : "never", ok: worst <= 1 };
  }),
  ofRuns("on", { name: "growth of the prompt, characters", wanted: `at most ${MAX_GROWTH}` }, (runs) => {
    const growth = Math.max(
      ...runs.map(({ days }) => Math.max(...days.map(({ promptChars }) => promptChars)) - (days[0]?.promptChars ?? 0)),
    );
    return { measured: String(growth), ok: growth <= MAX_GROWTH };
  }),
  ofRuns("on", { name: "cost of learning, share of the tokens", wanted: `at most ${MAX_COST * 100} %` }, (runs) => {
    const days = runs.flatMap((run) => run.days);
    const [auxiliary, all] = [mean(days.map((day) => day.auxiliaryTokens)), mean(days.map((day) => day.tokens))];
    const share = auxiliary / (auxiliary + all);
    return { measured: percent(share * 100), ok: share <= MAX_COST };
  }),
  ofRuns("on", { name: "needs in the last prompts that no longer hold", wanted: "0" }, (runs) => {
    const last = runs.flatMap(({ days }) => days.slice(-1));
    const stale = last.reduce((sum, day) => sum + day.stale, 0);
    const kept = last.reduce((sum, day) => sum + day.kept, 0);
    return { measured: `${stale} beside ${kept} that hold`, ok: stale === 0 };
  }),
  ofRuns("on", { name: "learnt lines without evidence", wanted: "0" }, (runs) => {
    const last = runs.flatMap(({ days }) => days.slice(-1));
    const [without, all] = [mean(last.map((day) => day.withoutEvidence)), mean(last.map(({ items }) => items))];
    return { measured: `${without.toFixed(1)} of ${all.toFixed(1)}`, ok: without === 0 };
  }),
  foundBroken("broken-consolidation", METRICS.corrections),
  foundBroken("broken-consolidation", METRICS.fact),
  foundBroken("broken-distillation", METRICS.procedure),
  ofRuns(
    "broken-report",
    { name: "instrument: broken-report is found", wanted: "no report names the tool" },
    (runs, { days }) => {
      const isFound = waitsForFault(runs, days).every((wait) => wait > 1);
      return { measured: isFound ? "found" : "not found", ok: isFound };
    },
  ),
  ofRuns("oracle", { name: "instrument: oracle", wanted: "100 %" }, (_, results) => {
    const shares = [METRICS.preference, METRICS.fact, METRICS.procedure, METRICS.decision].map(
      (metric) => results.late("oracle", metric).mean,
    );
    const worst = Math.min(...shares.filter((share) => !Number.isNaN(share)));
    return { measured: percent(worst), ok: worst >= 98 };
  }),
  ofRuns("amnesiac", { name: "instrument: a model that forgets stays flat", wanted: "no rise" }, (_, results) => {
    const [early, late] = [results.early("amnesiac", METRICS.preference), results.late("amnesiac", METRICS.preference)];
    return {
      measured: `${percent(early.mean)} → ${percent(late.mean)}`,
      ok: late.mean <= Math.max(early.high, early.mean + MARGIN),
    };
  }),
];

/** Tasks of each changed topic before the first that is right at once. */
function recoveries(tasks: readonly TaskRecord[]): readonly number[] {
  const needed = tasks.filter(({ kind }) => kind !== "noise");
  const topics = [...new Set(needed.flatMap(({ changed }) => changed ?? []))];
  return topics.map((topic) => {
    const after = needed.filter(({ changed }) => changed === topic);
    const right = after.findIndex(({ firstTry }) => firstTry);
    return right === -1 ? after.length : right;
  });
}

/** Days from the fault to the first report that names it; infinite without one. */
function waitsForFault(runs: readonly ArmRun[], length: number): readonly number[] {
  const from = shockDay("faults", length);
  return runs.map(
    ({ days }) =>
      (days.find(({ day, namesFault }) => day >= from && namesFault)?.day ?? Number.POSITIVE_INFINITY) - from,
  );
}
