/**
 * Settings that the report tunes: applied to the overlay file, on trial for some days, and taken back when their rate does
 * not improve. The user undoes, accepts and drops them on the page.
 */
import { existsSync } from "node:fs";
import { loadConfig } from "../../config/config.ts";
import { learningFolder } from "../../config/home.ts";
import {
  isExplicit,
  parseTuned,
  readTuned,
  type TunedSetting,
  tunedFile,
  writeTuned,
} from "../../config/tuned-settings.ts";
import { dayAfter, localDate } from "../../platform/clock.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { LearntAction, LearntItem, Recommendation } from "../../protocol/learning.ts";
import type { DayWindow, WindowSums } from "../../sessions/index/outcome-sums.ts";
import { type RateName, rateDefinition } from "../../sessions/outcome-rates.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { LearntOutcome, LearntStore, LoopPorts } from "../loop.ts";
import { readReports } from "../stored-reports.ts";
import { proposalsOf } from "./recommendations.ts";
import { mean, sumsOf } from "./regressions.ts";

/** Whole days of a trial, and the longest one while there are too few tasks. */
const TRIAL_DAYS = 3;
const LONGEST_TRIAL_DAYS = 14;
const MIN_TRIAL_SAMPLES = 5;
/** Only a change that is this sure and of low risk is applied without the user. */
const SURE = 0.8;
/** A change that was reverted, and a proposal that was dropped, is not made again for this time. Days. */
const BLOCKED_DAYS = 28;
const OPEN_DAYS = 7;
/** Days before the figures of a period come from after the change alone. */
const SETTLED_DAYS = 8;
const MS_PER_DAY = 86_400_000;

/** A step of the tuning; the texts are for the user. */
export type Step = { readonly recommendation: Recommendation; readonly notice?: string };

/** Windows that decide the trials: the days after each change. */
export async function trialWindows(home: string, today: string): Promise<readonly DayWindow[]> {
  return (await readTuned(home)).map(({ applied }) => ({ from: dayAfter(applied, 1), to: today }));
}

export class Tuning {
  readonly #ports: LoopPorts;

  constructor(ports: LoopPorts) {
    this.#ports = ports;
  }

  /** Decides the trials by the sums of `trialWindows`, and applies or proposes what the period speaks for. */
  async run(period: WindowSums, trials: readonly WindowSums[]): Promise<readonly Step[]> {
    const { home, clock } = this.#ports;
    const today = localDate(clock.now());
    const before = await readTuned(home);
    const { ended, unrecorded, unannounced } = await this.#interrupted(before);
    await this.#record(unrecorded, "loop");
    const decided = before.flatMap((setting, index) => {
      if (ended.has(setting.id)) return [];
      const one = decide(setting, trials[index], today);
      return unannounced.includes(setting) ? [announced(one, setting)] : [one];
    });
    const kept = decided.flatMap(({ setting }) => setting ?? []);
    const proposed = await this.#proposals(period, before);
    const applied = proposed.filter((one) => this.#mayApply(one)).map((one) => onTrial(one, today));
    await this.#write(before, [...kept, ...applied], decided);
    await this.#record(applied, "loop");
    return [
      ...decided.map(({ step }) => step),
      ...applied.map((setting) => ({
        recommendation: shown(setting, "applied"),
        notice: `Tuned ${settingText(setting)}.`,
      })),
      ...proposed
        .filter((one) => !this.#mayApply(one))
        .map((one) => ({
          recommendation: { ...shown(one, "proposed"), expires: clock.now() + OPEN_DAYS * MS_PER_DAY },
        })),
    ];
  }

  readonly store: LearntStore = {
    items: async () => {
      const tuned = await readTuned(this.#ports.home);
      const records = await this.#ports.ledger.read();
      const appliedAt = (id: string): number =>
        records.findLast(({ target, op }) => target === id && op === "apply")?.at ?? 0;
      const open = await this.#open(tuned);
      return [
        ...tuned.map((setting) => item(setting, { state: "active", at: appliedAt(setting.id) }, this.#ports.home)),
        ...open.map(({ one, at }) => item(one, { state: "proposed", at }, this.#ports.home)),
      ];
    },
    act: (id, action) => this.#act(id, action),
  };

  async #act(id: string, action: LearntAction): Promise<LearntOutcome | undefined> {
    const { home } = this.#ports;
    const tuned = await readTuned(home);
    const setting = tuned.find((one) => one.id === id);
    if (setting !== undefined) {
      if (action !== "undo" && action !== "forget") return { ok: false, message: "A setting can only be undone." };
      await this.#ports.ledger.append([change(setting, "undo", "The user took it back.", "user")]);
      await writeTuned(
        home,
        tuned.filter((one) => one.id !== id),
      );
      return { ok: true, message: `${setting.key} is ${valueText(setting.from)} again, in new sessions.` };
    }
    const one = (await this.#open(tuned)).find((proposed) => proposed.one.id === id)?.one;
    if (one === undefined) return undefined;
    if (action !== "accept") {
      await this.#ports.ledger.append([change(one, "reject", "The user dropped the proposal.", "user")]);
      return { ok: true, message: "The proposal is dropped." };
    }
    const { raw } = await loadConfig(home, {});
    if (isExplicit(raw, one.key, one.scope))
      return { ok: false, message: `config.yaml sets ${one.key}; change it there.` };
    const accepted = onTrial(one, localDate(this.#ports.clock.now()));
    await this.#write(tuned, [...tuned, accepted], []);
    await this.#record([accepted], "user");
    return { ok: true, message: `Applied ${settingText(one)}, in new sessions.` };
  }

  /** Proposals of the last report that nobody decided. */
  async #open(tuned: readonly TunedSetting[]): Promise<readonly { readonly one: Proposed; readonly at: number }[]> {
    const { home, clock } = this.#ports;
    const [last] = await readReports(home, 1);
    const blocked = await this.#blocked();
    const taken = new Set(tuned.map(({ id }) => id));
    return (last?.recommendations ?? []).flatMap((found) => {
      const isOpen = found.state === "proposed" && (found.expires ?? 0) > clock.now() && !blocked.has(found.id);
      const one = isOpen && !taken.has(found.id) ? parseTuned({ ...found, applied: "", state: "trial" }) : undefined;
      return one === undefined ? [] : [{ one, at: last?.period.to ?? 0 }];
    });
  }

  async #proposals(period: WindowSums, tuned: readonly TunedSetting[]): Promise<readonly Proposed[]> {
    const { config, raw } = await loadConfig(this.#ports.home, {});
    const blocked = await this.#blocked();
    // One change of a setting at a time: the trial of an earlier one comes first.
    const today = localDate(this.#ports.clock.now());
    const isBusy = ({ state, applied }: TunedSetting): boolean =>
      state === "trial" || dayAfter(applied, SETTLED_DAYS) > today;
    const busy = new Set(tuned.filter(isBusy).map(({ id }) => id));
    return proposalsOf(period.rates, { config, raw }).filter(({ id }) => !blocked.has(id) && !busy.has(id));
  }

  #mayApply({ confidence, risk }: Proposed): boolean {
    return this.#ports.settings().auto_tune && confidence > SURE && risk === "low";
  }

  /** Settings that were taken back or dropped lately. */
  async #blocked(): Promise<ReadonlySet<string>> {
    const since = this.#ports.clock.now() - BLOCKED_DAYS * MS_PER_DAY;
    const records = await this.#ports.ledger.read();
    const ends = records.filter(({ at, loop, op }) => {
      return loop === "report" && at >= since && (op === "undo" || op === "revert" || op === "reject");
    });
    return new Set(ends.map(({ target }) => target));
  }

  /**
   * Traces of a killed process: settings whose end is in the ledger, and that are still in the file; settings whose start is
   * only in the file; and applied ones that no report has.
   */
  async #interrupted(settings: readonly TunedSetting[]): Promise<Interrupted> {
    if (settings.length === 0) return { ended: new Set(), unrecorded: [], unannounced: [] };
    const [report] = await readReports(this.#ports.home, 1);
    const isReported = ({ id }: TunedSetting): boolean =>
      report?.recommendations.some((one) => one.id === id && one.state !== "proposed") === true;
    const records = (await this.#ports.ledger.read()).filter(({ op }) => STEPS.includes(op));
    const last = new Map(records.map((record) => [record.target, record]));
    const isEnded = ({ id, applied }: TunedSetting): boolean => {
      const step = last.get(id);
      return step !== undefined && step.op !== "apply" && localDate(step.at) >= applied;
    };
    const ended = new Set(settings.filter(isEnded).map(({ id }) => id));
    const isRecorded = ({ id }: TunedSetting): boolean => ended.has(id) || last.get(id)?.op === "apply";
    const isOfUser = ({ id }: TunedSetting): boolean => last.get(id)?.actor === "user";
    return {
      ended,
      unrecorded: settings.filter((setting) => !isRecorded(setting)),
      unannounced: settings.filter((setting) => !isReported(setting) && !isOfUser(setting)),
    };
  }

  /** Records the ends of trials, then writes the file when something changed. */
  async #write(
    before: readonly TunedSetting[],
    after: readonly TunedSetting[],
    decided: readonly Decided[],
  ): Promise<void> {
    const { home, ledger } = this.#ports;
    await ledger.append(decided.flatMap(({ record }) => record ?? []));
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    makeFolder(learningFolder(home), 0o700);
    await writeTuned(home, lastOfEach(after));
  }

  /** A kill between file and ledger leaves the record out; the next run adds it. */
  async #record(settings: readonly TunedSetting[], actor: "loop" | "user"): Promise<void> {
    await this.#ports.ledger.append(settings.map((setting) => change(setting, "apply", setting.reason, actor)));
  }
}

/** Steps of a setting in the ledger. */
const STEPS: readonly LearningChange["op"][] = ["apply", "undo", "revert"];

type Interrupted = {
  readonly ended: ReadonlySet<string>;
  readonly unrecorded: readonly TunedSetting[];
  readonly unannounced: readonly TunedSetting[];
};

/** The decision with the announcement that a killed process did not make. */
function announced(decided: Decided, setting: TunedSetting): Decided {
  return { ...decided, step: { notice: `Tuned ${settingText(setting)}.`, ...decided.step } };
}

type Proposed = Omit<TunedSetting, "applied" | "state">;

/** A new value replaces the earlier one of the same setting. */
function lastOfEach(settings: readonly TunedSetting[]): readonly TunedSetting[] {
  return [...new Map(settings.map((setting) => [setting.id, setting])).values()];
}

function onTrial(proposed: Proposed, today: string): TunedSetting {
  return { ...proposed, applied: today, state: "trial" };
}

type Decided = {
  /** Undefined: taken back. */
  readonly setting: TunedSetting | undefined;
  readonly step: Step;
  readonly record?: LearningChange;
};

/** The trial of a setting ends after whole days with enough samples; without them it is taken back in the end. */
function decide(setting: TunedSetting, since: WindowSums | undefined, today: string): Decided {
  if (setting.state === "kept") return { setting, step: { recommendation: shown(setting, "kept") } };
  const rate = setting.rate.name as RateName; // written by the table of rates
  const sums = sumsOf(since?.rates ?? [], { name: rate, of: setting.rate.of });
  const isEnough = sums[0] >= MIN_TRIAL_SAMPLES;
  const end = dayAfter(setting.applied, 1 + (isEnough ? TRIAL_DAYS : LONGEST_TRIAL_DAYS));
  if (today < end) return { setting, step: { recommendation: shown(setting, "applied") } };
  const now = mean(sums);
  const isHigherWorse = rateDefinition(rate).worse !== "lower";
  const isBetter = isEnough && (isHigherWorse ? now < setting.rate.before : now > setting.rate.before);
  const figures = `${rate} ${setting.rate.before.toFixed(2)} → ${isEnough ? now.toFixed(2) : "unknown"}`;
  if (isBetter) return { setting: { ...setting, state: "kept" }, step: { recommendation: shown(setting, "kept") } };
  const reason = `It did not help: ${figures}.`;
  return {
    setting: undefined,
    step: {
      recommendation: { ...shown(setting, "reverted"), reason },
      notice: `Took back ${settingText(setting)}: ${figures}.`,
    },
    record: change(setting, "revert", reason, "loop"),
  };
}

function shown(setting: Proposed, state: Recommendation["state"]): Recommendation {
  const { id, key, scope, from, to, reason, confidence, risk, evidence, rate } = setting;
  return { id, key, ...(scope !== undefined && { scope }), from, to, reason, confidence, risk, evidence, rate, state };
}

function change(
  { id, from, to, evidence }: Proposed,
  op: LearningChange["op"],
  reason: string,
  actor: "loop" | "user",
): LearningChange {
  const [before, after] = op === "apply" ? [from, to] : [to, from];
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return { loop: "report", actor, op, target: id, before: text(before), after: text(after), evidence, reason };
}

function item(
  setting: Proposed,
  { state, at }: { readonly state: "active" | "proposed"; readonly at: number },
  home: string,
): LearntItem {
  const { id, reason, evidence } = setting;
  return {
    id,
    loop: "report",
    kind: "setting",
    text: settingText(setting),
    scope: "user",
    reason,
    at,
    state,
    sessions: [...evidence].reverse(),
    seen: evidence.length,
    used: 0,
    pinned: false,
    ...(existsSync(tunedFile(home)) && { path: tunedFile(home) }),
    actions: state === "active" ? ["undo"] : ["accept", "forget"],
  };
}

/** `compression.hard_limit for research tasks: 0.85 → 0.75`. */
function settingText({ key, scope, from, to }: Proposed): string {
  if (key === "skills.disabled") return `skill ${to}: off`;
  return `${key}${scope === undefined ? "" : ` for ${scope} tasks`}: ${valueText(from)} → ${valueText(to)}`;
}

function valueText(value: TunedSetting["from"]): string {
  return value === null ? "unset" : String(value);
}
