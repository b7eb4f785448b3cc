/**
 * Loop that makes skills from repeated tasks. Once a day it clusters the sessions of a week and asks the model about each
 * cluster. After every ended session it scores the skills that were used.
 */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { localDate } from "../../platform/clock.ts";
import { counted } from "../../platform/counted.ts";
import { bundled } from "../../skills/bundled.gen.ts";
import { SKILL_FILE } from "../../skills/skill.ts";
import { scanPlace } from "../../skills/skill-places.ts";
import { episodePath, readEpisodes } from "../episode-files.ts";
import { outdatedCheck } from "../fact-values.ts";
import { entitiesFolder, holdsIn, readFacts } from "../facts.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { type Cluster, clusterEpisodes } from "./clusters.ts";
import { distillCluster, tasksOf } from "./distill-cluster.ts";
import { LearntSkills, type LearntState } from "./learnt-skills.ts";
import { learntStore } from "./learnt-store.ts";
import { type OutdatedCheck, scored } from "./score-uses.ts";
import type { Task } from "./skill-of-cluster.ts";
import { judgeWritten } from "./written-skills.ts";

/** Sessions that clusters are made of. */
const CLUSTER_DAYS = 7;
/** Sessions that skills are judged by. */
const JUDGED_DAYS = 28;
const DAY_MS = 24 * 60 * 60 * 1_000;

export async function distillation(ports: LoopPorts): Promise<Loop> {
  const skills = new LearntSkills(ports.home, ports.ledger, ports.clock);
  const loop = new Distillation(ports, skills);
  return {
    work: {
      loop: "distillation",
      doNext: (signal) => loop.doNext(signal),
      keepUp: (signal) => loop.keepUp(signal),
    },
    store: learntStore(skills, ports),
    lastRun: async () => (await skills.read()).lastRun ?? undefined,
  };
}

class Distillation {
  readonly #ports: LoopPorts;
  readonly #skills: LearntSkills;
  /** State of the read folders at the last scoring. */
  #scoredStamp = "";
  /** Sessions of the user that skills are judged by, as they were read last; oldest first. */
  #read: Cluster = [];

  constructor(ports: LoopPorts, skills: LearntSkills) {
    this.#ports = ports;
    this.#skills = skills;
  }

  /** Scores the skills that ended sessions used. Resolves to false when nothing changed. */
  async keepUp(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const { home, clock, notify } = this.#ports;
    const stamp = await this.#stamp();
    if (stamp === this.#scoredStamp) return false;
    let isChanged = false;
    const now = clock.now();
    const found = await readEpisodes(home, { from: now - JUDGED_DAYS * DAY_MS, to: now });
    this.#read = found.filter(({ origin }) => origin === "user");
    const outdatedIn = await this.#outdated();
    let notices: readonly { readonly text: string; readonly id: string }[] = [];
    await this.#skills.change(async (state) => {
      const context = { skills: this.#skills, at: now, outdatedIn };
      const { notices: made, ...change } = await scored(state, this.#read, context);
      notices = made;
      isChanged = JSON.stringify(change.state) !== JSON.stringify(state);
      return isChanged ? change : undefined;
    });
    for (const { text, id } of notices) notify(text, [id]);
    const { home: written } = await this.#foreignSkills(await this.#skills.read());
    for (const line of await judgeWritten(written, this.#read, this.#skills.folder, now)) notify(line, []);
    this.#scoredStamp = stamp;
    return isChanged;
  }

  async doNext(signal: AbortSignal): Promise<boolean> {
    if (await this.keepUp(signal)) return true;
    const state = await this.#skills.read();
    const day = localDate(this.#ports.clock.now());
    if (state.daily.day === day && state.daily.isDone) return false;
    if (!(await this.#ports.model.isAvailable().catch(() => false))) return false;
    return this.#distillNext(day, signal);
  }

  /** Text that changes with every change of the facts, and of episodes of this month or the last one. */
  async #stamp(): Promise<string> {
    const { home, clock } = this.#ports;
    const months = [0, 31].map((days) => new Date(clock.now() - days * DAY_MS).toISOString().slice(0, 7));
    const folders = months.map((month) => dirname(episodePath(home, { sessionId: `${month.replace("-", "")}00` })));
    const found = await Promise.all(
      [entitiesFolder(home), ...folders].map((folder) => stat(folder).catch(() => undefined)),
    );
    return found.map((folder) => folder?.mtimeMs ?? "none").join(" ");
  }

  /** Check of statements against the facts of a project. */
  async #outdated(): Promise<(project: string) => OutdatedCheck> {
    const facts = await readFacts(this.#ports.home);
    return (project) => outdatedCheck(facts.filter((fact) => holdsIn(fact, [project])));
  }

  /** Distills the next cluster of the day. Resolves to false when none is left. */
  async #distillNext(day: string, signal: AbortSignal): Promise<boolean> {
    const state = await this.#skills.read();
    const done = new Set(state.daily.day === day ? state.daily.sessions : []);
    const { week, tasks } = await this.#weekOf(state, signal);
    const next = tasks.find(({ cluster }) => cluster.every(({ sessionId }) => !done.has(sessionId)));
    if (next === undefined) {
      await this.#finish(day, week.length, tasks.length);
      return false;
    }
    await this.#distillCluster(next, { day, signal });
    return true;
  }

  /** Sessions of the last week, and their tasks. */
  async #weekOf(state: LearntState, signal: AbortSignal) {
    const from = this.#ports.clock.now() - CLUSTER_DAYS * DAY_MS;
    const spent = new Set(state.spent);
    const week = this.#read.filter(({ sessionId, endedAt }) => endedAt > from && !spent.has(sessionId));
    return { week, tasks: tasksOf(await clusterEpisodes(week, signal), week, state) };
  }

  async #distillCluster(
    task: Task,
    { day, signal }: { readonly day: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const { model, clock, notify } = this.#ports;
    const state = await this.#skills.read();
    const result = await distillCluster(
      {
        ...task,
        state,
        foreign: await this.#foreignSkills(state),
        outdated: (await this.#outdated())(task.cluster[0]?.cwd ?? ""),
      },
      { model, clock, skills: this.#skills, asks: this.#ports.settings().asksForSkills === true },
      signal,
    );
    signal.throwIfAborted();
    await this.#skills.change((current) => {
      const { skills } = result.kind === "learnt" ? result.state : current;
      const spent = [...new Set([...current.spent, ...result.state.spent])];
      const daily = dayWith(current, day, task.cluster);
      return { ...result, state: { ...current, skills, spent, daily } };
    });
    if (result.notice !== undefined) notify(result.notice, result.id === undefined ? [] : [result.id]);
  }

  async #finish(day: string, sessions: number, clusters: number): Promise<void> {
    const at = this.#ports.clock.now();
    await this.#skills.change((state) => {
      const daily = { ...dayWith(state, day, []), isDone: true };
      const result = `${counted(clusters, "repeated task")} in ${counted(sessions, "session")}.`;
      return { state: { ...state, daily, lastRun: { at, result } } };
    });
  }

  /** Skills of the home and the package that this loop did not write. */
  async #foreignSkills({ skills }: LearntState) {
    const { skills: found } = await scanPlace({ source: "home", folder: this.#skills.folder, shown: "home" });
    const own = new Set(skills.map(({ name }) => this.#skills.fileOf(name)));
    const foreign = found.filter(({ folder }) => !own.has(join(folder, SKILL_FILE)));
    return { home: foreign, names: new Set([...foreign, ...bundled].map(({ name }) => name)) };
  }
}

/** Work of the day with the sessions of a cluster that is done. */
function dayWith({ daily }: LearntState, day: string, cluster: Cluster): LearntState["daily"] {
  const done = daily.day === day ? daily : { day, sessions: [], isDone: false };
  return { ...done, sessions: [...done.sessions, ...cluster.map(({ sessionId }) => sessionId)] };
}
