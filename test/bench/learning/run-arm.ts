/** One arm over one seed: the agent over ACP with real journals and a real home, and a clock that jumps from day to day. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sessionsFolder } from "../../../agent-core/config/home.ts";
import { type Clock, systemClock } from "../../../agent-core/platform/clock.ts";
import { LearningState } from "../../../agent-core/protocol/learning.ts";
import { type JournalEntry, parseEntry } from "../../../agent-core/sessions/entry.ts";
import { AcpAgent } from "../../support/acp-agent.ts";
import { AcpProcess } from "../../support/acp-process.ts";
import type { Arm } from "./arms.ts";
import { Chance } from "./chance.ts";
import { type SimulatedModel, startSimulatedModel } from "./model.ts";
import { PageServer } from "./page-server.ts";
import type { Task } from "./task.ts";
import { shockDay, topicKey, World } from "./world.ts";

export type RunOptions = {
  readonly arm: Arm;
  readonly seed: number;
  readonly salt: string;
  readonly days: number;
  /** Recurring tasks of a day. */
  readonly tasks: number;
  /** Share of the errors in auxiliary answers. */
  readonly noise: number;
};

/** Outcome of one task. */
export type TaskRecord = {
  readonly arm: string;
  readonly seed: number;
  readonly day: number;
  readonly family: string;
  readonly kind: string;
  /** The needs of its topic changed before. */
  readonly changed: string | undefined;
  /** Right without a correction and without a failing command. */
  readonly firstTry: boolean;
  readonly success: boolean;
  readonly corrections: number;
  readonly iterations: number;
  readonly failedCommands: number;
  readonly overflows: number;
  readonly tokens: number;
  /** Regions of the request that held the right needs, and those that held wrong ones. */
  readonly right: readonly string[];
  readonly wrong: readonly string[];
  /** The wrong skill was in a request. */
  readonly badSkill: boolean;
};

export type DayRecord = {
  readonly day: number;
  /** Needs in the prompts of the day that hold, and those that the agent could know to have ended. */
  readonly kept: number;
  readonly stale: number;
  /** Longest system prompt of the day. */
  readonly promptChars: number;
  /** The day's report names the tool that errs. */
  readonly namesFault: boolean;
  /** Learnt lines, and those without evidence. */
  readonly items: number;
  readonly withoutEvidence: number;
  readonly auxiliaryTokens: number;
  readonly tokens: number;
  /** Answer of the agent to the request to learn. */
  readonly learning: string;
};

export type ArmRun = {
  readonly arm: string;
  readonly seed: number;
  readonly tasks: readonly TaskRecord[];
  readonly days: readonly DayRecord[];
  /** Runs of the hostile command. */
  readonly injected: number;
  readonly unknownRequests: readonly string[];
  /** Every token of the world. */
  readonly tokens: readonly string[];
  readonly milliseconds: number;
};

const FIRST_DAY = Date.UTC(2031, 2, 3);
const DAY_MS = 86_400_000;
const TASK_MS = 40 * 60_000;
const MORNING_MS = 9 * 3_600_000;
/** After the daily loops' default time in every European and American zone. */
const NIGHT_MS = 23 * 3_600_000;
/** Corrections after which the user gives up. */
const MAX_CORRECTIONS = 2;
const WEEK = 7;
const KILLED_AT = 2;
const AGENT = fileURLToPath(new URL("agent-process.ts", import.meta.url));
/** Tool that the shock of the faults makes unreliable. */
const FAULTY_TOOL = "web_extract";

/** Its date is set; waits for a retry pass at once. */
class SimulationClock implements Clock {
  #time = FIRST_DAY;
  #setAt = performance.now();
  readonly #chance = new Chance("clock");
  readonly every = systemClock.every;
  readonly monotonicNow = systemClock.monotonicNow;

  set(time: number): void {
    this.#time = time;
    this.#setAt = performance.now();
  }

  now(): number {
    return Math.round(this.#time + performance.now() - this.#setAt);
  }

  random(): number {
    return this.#chance.next();
  }

  async wait(_ms: number, signal: AbortSignal): Promise<void> {
    await setImmediate();
    signal.throwIfAborted();
  }
}

export async function runArm(options: RunOptions): Promise<ArmRun> {
  const start = performance.now();
  const simulation = await Simulation.start(options);
  try {
    for (let day = 1; day <= options.days; day += 1) await simulation.runDay(day);
    return simulation.result(performance.now() - start);
  } finally {
    await simulation.stop();
  }
}

class Simulation {
  readonly #options: RunOptions;
  readonly #folder: string;
  readonly #home: string;
  readonly #model: SimulatedModel;
  readonly #pages: PageServer;
  readonly #world: World;
  readonly #clock = new SimulationClock();
  readonly #tasks: TaskRecord[] = [];
  readonly #days: DayRecord[] = [];
  #agent: AcpAgent | undefined;
  #injected = 0;

  static async start(options: RunOptions): Promise<Simulation> {
    const { seed, salt, noise } = options;
    const model = await startSimulatedModel({ chance: new Chance(seed, salt, "noise"), share: noise });
    return new Simulation(options, model, await PageServer.start(new Chance(seed, salt, "pages")));
  }

  private constructor(options: RunOptions, model: SimulatedModel, pages: PageServer) {
    const { seed, salt, days, tasks, arm } = options;
    this.#options = options;
    this.#model = model;
    model.forgets = arm.amnesiac === true;
    this.#pages = pages;
    this.#folder = mkdtempSync(join(tmpdir(), "hermes-learning-"));
    this.#home = join(this.#folder, "home");
    mkdirSync(this.#home);
    writeFileSync(join(this.#home, "config.yaml"), JSON.stringify(arm.config));
    const folder = join(this.#folder, "projects");
    this.#world = new World({ seed, salt, days, tasks, folder, kind: arm.world, pages });
  }

  async runDay(day: number): Promise<void> {
    const { counts } = this.#model;
    const { days } = this.#options;
    const midnight = FIRST_DAY + (day - 1) * DAY_MS;
    const before = { tokens: counts.tokens, auxiliaryTokens: counts.auxiliaryTokens };
    this.#pages.fails = (chance) => this.#world.failsPage(day, chance);
    if (day === shockDay("badSkill", days)) this.#writeBadSkill();
    for (const [index, task] of this.#world.day(day).entries()) {
      this.#clock.set(midnight + MORNING_MS + index * TASK_MS);
      this.#tasks.push(await this.#runTask(task, day));
    }
    this.#clock.set(midnight + NIGHT_MS);
    if (day % WEEK === 0) await this.#learnUntilKilled();
    this.#days.push({
      day,
      ...(await this.#learn()),
      ...this.#prompted(day),
      auxiliaryTokens: counts.auxiliaryTokens - before.auxiliaryTokens,
      tokens: counts.tokens - before.tokens,
    });
    counts.prompts.clear();
  }

  result(milliseconds: number): ArmRun {
    const { arm, seed } = this.#options;
    const unknownRequests = [...this.#model.counts.unknown];
    const [tasks, days] = [this.#tasks, this.#days];
    const { tokens } = this.#world.words;
    return { arm: arm.name, seed, tasks, days, injected: this.#injected, unknownRequests, tokens, milliseconds };
  }

  async stop(): Promise<void> {
    await this.#agent?.stop();
    await this.#model.stop();
    await this.#pages.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #started(): Promise<AcpAgent> {
    if (this.#agent !== undefined) return this.#agent;
    const agent = new AcpAgent(this.#environment(), this.#home, this.#clock);
    this.#agent = agent;
    agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
    await agent.initialize();
    return agent;
  }

  /** A process of its own learns, and is killed at the second question of a loop. The work continues here. */
  async #learnUntilKilled(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
    const environment = {
      ...this.#environment(),
      HERMES_SIMULATED_NOW: String(this.#clock.now()),
      NODE_COMPILE_CACHE: join(tmpdir(), "hermes-learning-compiled"),
    };
    const agent = new AcpProcess(environment, this.#home, undefined, AGENT);
    let questions = 0;
    this.#model.onQuestion = () => {
      questions += 1;
      if (questions === KILLED_AT) agent.child.kill("SIGKILL");
    };
    const isReady = await Promise.race([agent.initialize(), agent.exited.then(() => false)]);
    if (isReady === false) throw new Error("The agent that is to be killed did not start.");
    await Promise.race([agent.request("_hermes/learning/run", {}), agent.exited]);
    agent.child.kill("SIGKILL");
    await agent.exited;
    this.#model.onQuestion = () => undefined;
  }

  #environment(): Readonly<Record<string, string>> {
    return {
      HERMES_BASE_URL: this.#model.server.baseUrl,
      HERMES_MODEL: "apprentice",
      HERMES_API_KEY: "sk-simulation",
    };
  }

  async #runTask(task: Task, day: number): Promise<TaskRecord> {
    const agent = await this.#started();
    const { counts } = this.#model;
    const { arm, seed } = this.#options;
    const before = { tokens: counts.tokens, overflows: counts.overflows };
    counts.uses = [];
    counts.watched.requests = 0;
    task.prepare?.();
    const { result } = await agent.request("session/new", { cwd: task.project.path, mcpServers: [] });
    const sessionId = String(result?.["sessionId"]);
    const { corrections, success } = await this.#converse(agent, sessionId, task);
    await agent.request("session/close", { sessionId });
    agent.updates.length = 0;
    task.cleanUp?.();
    const { iterations, failedCommands } = journalFacts(join(sessionsFolder(this.#home), `${sessionId}.jsonl`));
    const { right, wrong } = this.#traced(task);
    const topic = task.topic && topicKey(task.topic);
    return {
      arm: arm.name,
      seed,
      day,
      family: task.family,
      kind: task.kind,
      success,
      corrections,
      iterations,
      failedCommands,
      firstTry: success && corrections === 0 && failedCommands === 0,
      overflows: counts.overflows - before.overflows,
      tokens: counts.tokens - before.tokens,
      right,
      wrong,
      badSkill: counts.watched.requests > 0,
      changed: topic !== undefined && this.#world.changed.has(topic) ? topic : undefined,
    };
  }

  async #converse(agent: AcpAgent, sessionId: string, task: Task) {
    let text = this.#options.arm.oracle === true ? withNeeds(task) : task.prompt;
    for (let corrections = 0; ; corrections += 1) {
      const reply = await agent.prompt(sessionId, text);
      if (reply.error !== undefined) throw new Error(`${task.prompt}: ${reply.error.message}`);
      const problem = task.check(corrections);
      for (const path of task.files) if (existsSync(path)) review(agent, path, problem?.undo.includes(path) === true);
      if (problem === undefined || corrections === MAX_CORRECTIONS) {
        return { corrections: corrections + (problem === undefined ? 0 : 1), success: problem === undefined };
      }
      text = problem.correction;
    }
  }

  /** Regions of the needs that the model used in the last task. */
  #traced(task: Task): Pick<TaskRecord, "right" | "wrong"> {
    const needs = task.needs();
    const { uses } = this.#model.counts;
    this.#injected += uses.filter(({ value }) => value === this.#world.hostileCommand).length;
    const isRight = (value: string): boolean => needs.some((need) => need !== "" && value.includes(need));
    const regions = (wanted: boolean): readonly string[] => [
      ...new Set(uses.filter(({ value }) => isRight(value) === wanted).map(({ region }) => region)),
    ];
    return { right: regions(true), wrong: regions(false) };
  }

  /** Does the work of all loops, as an idle night would. */
  async #learn(): Promise<Pick<DayRecord, "learning" | "namesFault" | "items" | "withoutEvidence">> {
    const agent = await this.#started();
    const reply = await agent.request("_hermes/learning/run", {});
    for (const path of this.#options.arm.drops ?? []) rmSync(join(this.#home, path), { recursive: true, force: true });
    const state = LearningState.safeParse((await agent.request("_hermes/learning/state", {})).result).data;
    const reports = (await agent.request("_hermes/learning/reports", { count: 1 })).result?.["reports"];
    const items = state?.items ?? [];
    return {
      learning: String(reply.result?.["message"] ?? reply.error?.message ?? ""),
      namesFault: JSON.stringify(reports ?? []).includes(`"${FAULTY_TOOL}"`),
      items: items.length,
      withoutEvidence: items.filter(({ sessions }) => sessions.length === 0).length,
    };
  }

  /** A changed need is stale from the day after the first task that shows the change. */
  #prompted(day: number): Pick<DayRecord, "kept" | "stale" | "promptChars"> {
    const prompts = [...this.#model.counts.prompts];
    const texts = prompts.join("\n");
    const current = this.#world.currentNeeds();
    const seen = new Set(this.#tasks.filter((task) => task.day < day).map(({ changed }) => changed));
    const ended = [...this.#world.changed].flatMap(([topic, tokens]) => (seen.has(topic) ? tokens : []));
    const countOf = (tokens: Iterable<string>): number => [...tokens].filter((token) => texts.includes(token)).length;
    return {
      kept: countOf(current),
      stale: countOf(ended),
      promptChars: Math.max(0, ...prompts.map(({ length }) => length)),
    };
  }

  /** A skill by hand whose steps are wrong. Its triggers fit better than those of a learnt skill, so it is attached. */
  #writeBadSkill(): void {
    const { noun } = this.#world.procedure;
    const name = `${noun}-publishing`;
    const folder = join(this.#home, "skills", name);
    mkdirSync(folder, { recursive: true });
    const programs = [1, 2, 3].map(() => `bin/${this.#world.words.token()}`);
    this.#model.counts.watched.text = programs[0] ?? "";
    const title = `Publish the ${noun} build`;
    const metadata = { hermes: { triggers: { keywords: [`publish ${noun} build`, `${noun} build`] } } };
    const head = `---\nname: ${name}\ndescription: ${title}.\nmetadata: ${JSON.stringify(metadata)}\n---\n`;
    const steps = programs.map((program, index) => `${index + 1}. Run \`${program}\`.`);
    writeFileSync(join(folder, "SKILL.md"), `${head}# ${title}\n\n${steps.join("\n")}\n`);
  }
}

/** The task with what it needs, so that a model that reads cannot fail. */
function withNeeds({ prompt, kind, hints }: Task): string {
  return kind === "noise" || hints === undefined ? prompt : `${prompt}\n\n${hints().join("\n")}`;
}

/** The user's decision on a file, as the extension reports it. */
function review(agent: AcpAgent, path: string, isUndone: boolean): void {
  const lines = readFileSync(path, "utf8").split("\n").length;
  agent.notify("_hermes/file_reviewed", { path, outcome: isUndone ? "undone" : "kept", lines });
  if (isUndone) rmSync(path);
}

function journalFacts(path: string): Pick<TaskRecord, "iterations" | "failedCommands"> {
  const entries = readFileSync(path, "utf8").split("\n").map(parseEntry);
  const isAnswer = (entry: JournalEntry | undefined): boolean =>
    entry?.type === "message" && entry.message.role === "assistant";
  const hasFailed = (entry: JournalEntry | undefined): boolean =>
    entry?.type === "tool" && entry.command !== undefined && entry.command.exit !== 0;
  return { iterations: entries.filter(isAnswer).length, failedCommands: entries.filter(hasFailed).length };
}
