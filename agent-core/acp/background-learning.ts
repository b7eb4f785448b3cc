/**
 * Background work of one agent process: the loops that learn. It starts with the first session, waits for idle time, and
 * is the one place that knows which turns run.
 */
import { learningFolder } from "../config/home.ts";
import { setLearningSwitch } from "../config/home-file.ts";
import type { DailyJobs } from "../cron/cron-files.ts";
import type { BackgroundRunner, BackgroundWork } from "../learning/background-runner.ts";
import type { DailyBudget } from "../learning/daily-budget.ts";
import type { LearningSettings, LearntOutcome, Loop, LoopPorts } from "../learning/loop.ts";
import type { Clock } from "../platform/clock.ts";
import {
  type HealthReport,
  type LearningState,
  type LearningSwitch,
  type LearntAction,
  type LearntItem,
  LOOPS,
  type LoopName,
} from "../protocol/learning.ts";
import { learningModel, type ModelSource } from "./sessionless-models.ts";

/** Time for the first prompt of a new process. Milliseconds. */
const START_DELAY_MS = 2_000;

export type BackgroundOptions = Pick<LoopPorts, "home" | "index" | "isOpen" | "log" | "notify" | "clock"> & {
  readonly models: ModelSource;
};

/** Its code is loaded late: no start waits for it. */
type Started = {
  readonly loops: readonly Loop[];
  readonly runner: BackgroundRunner;
  /** Items of all loops, newest first. */
  items(): Promise<readonly LearntItem[]>;
  act(id: string, action: LearntAction): Promise<LearntOutcome>;
  isOn(loop: LoopName, settings: LearningSettings): boolean;
};

export class Background {
  readonly #options: BackgroundOptions;
  readonly #clock: Clock;
  /** The user asked for the work: daily loops need not be due. */
  #isByHand: boolean = false;
  #settings: LearningSettings | undefined;
  #started: Promise<Started> | undefined;
  #runner: BackgroundRunner | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed: boolean = false;
  readonly #turns = new Set<{ end: () => void }>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Starts the work some time after the first call. */
  start(): void {
    if (this.#isDisposed) return;
    this.#timer ??= setTimeout(
      () => void this.#load().then(({ runner }) => this.#isDisposed || runner.start(), this.#logFailure),
      START_DELAY_MS,
    ).unref();
  }

  /** A turn begins: work stops. Call the returned function at its end. */
  beginTurn(): () => void {
    const turn = { end: this.#runner?.beginTurn() ?? (() => undefined) };
    this.#turns.add(turn);
    return () => {
      this.#turns.delete(turn);
      turn.end();
    };
  }

  /**
   * Does all work that there is, due or not. Resolves to false while another process is at work. Rejects with an Error that
   * names the loops that failed.
   */
  async runNow(signal: AbortSignal): Promise<boolean> {
    this.#isByHand = true;
    try {
      const failures = await this.#run(signal);
      if (failures !== undefined && failures.length > 0) throw new Error(failures.join("; "));
      return failures !== undefined;
    } finally {
      this.#isByHand = false;
    }
  }

  /**
   * Does all work that is due, without waiting for idle time. Resolves to false while another process is at work. A loop that
   * failed is in the log, and tries again later.
   */
  async runDue(signal: AbortSignal): Promise<boolean> {
    return (await this.#run(signal)) !== undefined;
  }

  async state(): Promise<LearningState> {
    const [{ loops, runner, isOn, ...learnt }, settings] = await Promise.all([this.#load(), this.#readSettings()]);
    const budget = await this.#budget();
    const [{ tokens, usd }, obstacle, items, runs] = await Promise.all([
      budget.spent(),
      this.#obstacle(budget),
      learnt.items(),
      Promise.all(loops.map(async (loop) => ({ loop: loop.work.loop, run: await loop.lastRun() }))),
    ]);
    const { enabled, consolidation, distillation, report, use } = settings;
    return {
      switches: { enabled, consolidation, distillation, report, use },
      loops: LOOPS.map((loop) => {
        const run = runs.find((one) => one.loop === loop)?.run;
        const last = run === undefined ? {} : { lastRun: run.at, lastResult: run.result };
        return { loop, on: isOn(loop, settings), isRunning: runner.loop === loop, ...last };
      }),
      ...(obstacle !== undefined && { obstacle }),
      budget: { tokens, maxTokens: budget.limits.tokens, usd, maxUsd: budget.limits.usd },
      items,
      folder: learningFolder(this.#options.home),
    };
  }

  /** Runs an action of the user on something that was learnt. */
  async act(id: string, action: LearntAction): Promise<LearntOutcome> {
    return (await this.#load()).act(id, action);
  }

  /** Writes the switch into config.yaml. Rejects with an Error in one line when it cannot be written. */
  setSwitch(name: LearningSwitch, on: boolean): Promise<void> {
    return setLearningSwitch(this.#options.home, name, on);
  }

  /** Health reports, newest first. */
  async reports(count: number): Promise<readonly HealthReport[]> {
    const { readReports } = await import("../learning/stored-reports.ts");
    return readReports(this.#options.home, count);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    await this.#runner?.dispose();
  }

  async #run(signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { runner } = await this.#load();
    return runner.runNow(signal);
  }

  #load(): Promise<Started> {
    this.#started ??= this.#make();
    return this.#started;
  }

  async #make(): Promise<Started> {
    const [{ actOn, allLearnt, isOn, makeLoops }, { BackgroundRunner: Runner }, { LearningLedger }] = await Promise.all(
      [
        import("../learning/loops.ts"),
        import("../learning/background-runner.ts"),
        import("../learning/learning-ledger.ts"),
      ],
    );
    const { home, models, index, isOpen, notify, log } = this.#options;
    const settings = await this.#readSettings();
    const clock = this.#clock;
    const ports = {
      home,
      clock,
      index,
      isOpen,
      notify,
      log,
      ledger: new LearningLedger(home, clock),
      model: learningModel(models, () => this.#budget()),
      settings: () => this.#settings ?? settings,
    };
    const [loops, daily] = await Promise.all([makeLoops(ports), this.#dailyJobs()]);
    const works = loops.map(({ work }) => ({
      loop: work.loop,
      doNext: async (signal: AbortSignal) =>
        isOn(work.loop, await this.#readSettings()) && this.#next(work, daily, signal),
    }));
    const idleMs = (): number => ports.settings().idleSeconds * 1_000;
    this.#runner = new Runner({ home, works, clock, idleMs, log });
    for (const turn of this.#turns) turn.end = this.#runner.beginTurn();
    const stores = loops.map(({ store }) => store);
    return {
      loops,
      isOn,
      runner: this.#runner,
      items: () => allLearnt(stores),
      act: (id, action) => actOn(stores, id, action),
    };
  }

  async #dailyJobs(): Promise<DailyJobs> {
    const { home, models } = this.#options;
    const { DailyJobs: Jobs } = await import("../cron/cron-files.ts");
    return new Jobs(home, this.#clock, async () => (await models.configuration.read()).config.cron.timezone);
  }

  /** A daily loop works from its planned instant on, until it has nothing more to do. */
  async #next(work: BackgroundWork, daily: DailyJobs, signal: AbortSignal): Promise<boolean> {
    const { loop } = work;
    if (loop === "consolidation") return work.doNext(signal);
    if (!this.#isByHand && !(await daily.isDue(loop))) return (await work.keepUp?.(signal)) ?? false;
    const hasMore = await work.doNext(signal);
    if (hasMore || signal.aborted) return hasMore;
    // Without a model the distillation of the day still waits.
    const isWaiting = loop === "distillation" && (await this.#obstacle(await this.#budget())) === "no-model";
    if (!isWaiting) await daily.markDone(loop);
    return false;
  }

  /** Settings of today's config.yaml: a loop that the user switched off stops with its current piece. */
  async #readSettings(): Promise<LearningSettings> {
    const { learning, skills } = (await this.#options.models.configuration.read()).config;
    this.#settings = { ...learning, asksForSkills: skills.writeApproval };
    return this.#settings;
  }

  async #obstacle(budget: DailyBudget): Promise<LearningState["obstacle"]> {
    if (await budget.isExhausted()) return "budget";
    const model = learningModel(this.#options.models, () => Promise.resolve(budget));
    const isAvailable = await model.isAvailable().catch(() => false); // without any model
    return isAvailable ? undefined : "no-model";
  }

  async #budget(): Promise<DailyBudget> {
    const { dailyTokens: tokens, dailyUsd: usd } = this.#settings ?? (await this.#readSettings());
    const { DailyBudget: Budget } = await import("../learning/daily-budget.ts");
    return new Budget(this.#options.home, { tokens, usd }, this.#clock);
  }

  readonly #logFailure = (error: unknown): void => {
    this.#options.log(`learning could not start: ${String(error)}`);
  };
}
