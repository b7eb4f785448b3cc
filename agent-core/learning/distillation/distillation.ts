/**
 * Loop that makes skills from repeated tasks. Once a day it clusters the sessions of a week and asks the model about each
 * cluster. After every ended session it scores the skills that were used.
 */
import { join } from "node:path";
import { localDate } from "../../platform/clock.ts";
import { counted } from "../../platform/counted.ts";
import { bundled } from "../../skills/bundled.gen.ts";
import { SKILL_FILE } from "../../skills/skill.ts";
import { scanPlace } from "../../skills/skill-places.ts";
import { readEpisodes } from "../episode-files.ts";
import { outdatedCheck } from "../fact-values.ts";
import { holdsIn, readFacts } from "../facts.ts";
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

  constructor(ports: LoopPorts, skills: LearntSkills) {
    this.#ports = ports;
    this.#skills = skills;
  }

  /** Scores the skills that ended sessions used. */
  async keepUp(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return this.#scoreNew();
  }

  async doNext(signal: AbortSignal): Promise<boolean> {
    if (await this.keepUp(signal)) return true;
    const state = await this.#skills.read();
    const day = localDate(this.#ports.clock.now());
    if (state.daily.day === day && state.daily.isDone) return false;
    return this.#distillNext(day, signal);
  }

  /** Resolves to false when nothing changed. */
  async #scoreNew(): Promise<boolean> {
    const { clock, notify } = this.#ports;
    let isChanged = false;
    const episodes = await this.#episodes(JUDGED_DAYS);
    const outdatedIn = await this.#outdated();
    let notices: readonly { readonly text: string; readonly id: string }[] = [];
    await this.#skills.change(async (state) => {
      const context = { skills: this.#skills, at: clock.now(), outdatedIn };
      const { notices: made, ...change } = await scored(state, episodes, context);
      notices = made;
      isChanged = JSON.stringify(change.state) !== JSON.stringify(state);
      return isChanged ? change : undefined;
    });
    for (const { text, id } of notices) notify(text, [id]);
    await this.#judgeWritten(episodes);
    return isChanged;
  }

  async #judgeWritten(episodes: Cluster): Promise<void> {
    const state = await this.#skills.read();
    const { home: written } = await this.#foreignSkills(state);
    const { folder } = this.#skills;
    const at = this.#ports.clock.now();
    const lines = await judgeWritten({ written, learnt: state.skills, episodes, folder, at });
    for (const line of lines) this.#ports.notify(line, []);
  }

  /** Episodes of the user's sessions that ended within these days, oldest first. */
  async #episodes(days: number): Promise<Cluster> {
    const now = this.#ports.clock.now();
    const episodes = await readEpisodes(this.#ports.home, { from: now - days * DAY_MS, to: now });
    return episodes.filter(({ origin }) => origin === "user");
  }

  /** Check of statements against the facts of a project. */
  async #outdated(): Promise<(project: string) => OutdatedCheck> {
    const facts = await readFacts(this.#ports.home);
    return (project) => outdatedCheck(facts.filter((fact) => holdsIn(fact, [project])));
  }

  /** Distills the next cluster of the day. Resolves to false when none is left, or without a model. */
  async #distillNext(day: string, signal: AbortSignal): Promise<boolean> {
    const { model } = this.#ports;
    const state = await this.#skills.read();
    const done = new Set(state.daily.day === day ? state.daily.sessions : []);
    const { week, tasks } = await this.#weekOf(state, signal);
    const next = tasks.find(({ cluster }) => cluster.every(({ sessionId }) => !done.has(sessionId)));
    if (next === undefined) {
      await this.#finish(day, week.length, tasks.length);
      return false;
    }
    if (!(await model.isAvailable())) {
      await this.#report(`${counted(tasks.length, "repeated task")} found, and no model that can answer.`);
      return false;
    }
    await this.#distillCluster(next, { day, signal });
    return true;
  }

  /** Sessions of the last week, and their tasks. */
  async #weekOf(state: LearntState, signal: AbortSignal) {
    const spent = new Set(state.spent);
    const week = (await this.#episodes(CLUSTER_DAYS)).filter(({ sessionId }) => !spent.has(sessionId));
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

  async #report(result: string): Promise<void> {
    const at = this.#ports.clock.now();
    await this.#skills.change((state) =>
      state.lastRun?.result === result ? undefined : { state: { ...state, lastRun: { at, result } } },
    );
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
