/** Scores of the sessions in which skills were used, and their consequences: activation, retirement, demotion. */
import type { Episode } from "../episodes.ts";
import type { LearningChange } from "../learning-ledger.ts";
import { wilson } from "../statistics.ts";
import { type Cluster, likenessOfPair, MIN_CLUSTER, MIN_LIKENESS } from "./clusters.ts";
import { judgeUses, meanOf, outcomeOf, type ScoredUse } from "./judge-uses.ts";
import type { Demotion, FileChange, LearntChange, LearntSkill, LearntSkills, LearntState } from "./learnt-skills.ts";
import type { Bullet } from "./proposal.ts";
import { ledgerRecord, nextVersion, retired, takenBack, withoutSkill, withSkill, written } from "./skill-changes.ts";

/** Harmful uses before a statement goes: one failure may have another cause. */
const MIN_HARM = 2;
/** Uses that count for a judgement: the last ones. */
const JUDGED_USES = 5;
const MAX_USES = 50;

/** The skill with the uses of its version in these episodes, and the counts of its bullets. */
export function withUses(skill: LearntSkill, episodes: Cluster): LearntSkill {
  const version = String(skill.version);
  const used = episodes.filter(
    ({ skills, endedAt }) => skills.includes(`${skill.name}@${version}`) && endedAt >= skill.changedAt,
  );
  const known = new Map(skill.uses.map((use) => [use.sessionId, use]));
  const fresh = used.filter(({ sessionId }) => !known.has(sessionId));
  for (const episode of used) known.set(episode.sessionId, useOf(episode, version));
  const uses = [...known.values()].toSorted((one, other) => one.at - other.at).slice(-MAX_USES);
  const bullets = fresh.reduce((counted, episode) => countBullets(counted, episode, skill.baseline), skill.bullets);
  return { ...skill, uses, bullets };
}

function useOf(episode: Episode, version: string): ScoredUse {
  return { sessionId: episode.sessionId, version, at: episode.endedAt, score: outcomeOf(episode) };
}

/** A bullet with commands counts by their last runs; one without counts by the end of the session. */
function countBullets(bullets: readonly Bullet[], episode: Episode, baseline: number): readonly Bullet[] {
  return bullets.map((bullet) => {
    const spans = [...bullet.text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const isGood = lastRunsPassed(spans, episode) ?? outcomeOf(episode) >= baseline;
    return isGood ? { ...bullet, helpful: bullet.helpful + 1 } : { ...bullet, harmful: bullet.harmful + 1 };
  });
}

/** True when the last run of each of the commands passed; undefined when none of them ran. */
function lastRunsPassed(commands: readonly string[], { commands: ran }: Episode): boolean | undefined {
  const runs = commands.flatMap((each) => ran.findLast(({ command }) => command.startsWith(each)) ?? []);
  return runs.length === 0 ? undefined : runs.every(({ exit }) => exit === 0);
}

/** Commands that the texts of skills name, by the skill's name. */
export type SkillCommands = ReadonlyMap<string, readonly string[]>;

/** Commands in the text of a skill: code with a path or an argument. A single word may be anything. */
export function commandsIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) => block.split("\n"));
  const spans = [...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, span = ""]) => span);
  return [...blocks, ...spans].map((line) => line.trim()).filter((line) => /^[\w./~-]+[ /]\S/.test(line));
}

/** Consequence of the uses of a learnt skill; undefined: none. */
export type Consequence =
  | { readonly kind: "activate" }
  | { readonly kind: "take-back"; readonly reason: string }
  | { readonly kind: "drop-bullets"; readonly bullets: readonly Bullet[]; readonly reason: string };

export function consequenceOf(skill: LearntSkill): Consequence | undefined {
  const { state, uses, baseline, pinned, bullets } = skill;
  if (pinned || (state !== "trial" && state !== "active")) return undefined;
  const last = uses.slice(-JUDGED_USES);
  const mean = meanOf(last.map(({ score }) => score)) ?? 0;
  const isWorse =
    state === "trial"
      ? judgeUses(last, baseline) === "worse"
      : last.length >= MIN_CLUSTER && wilson(mean, last.length).high < baseline;
  if (isWorse) return { kind: "take-back", reason: comparison(last, baseline) };
  const kept = bullets.filter(({ helpful, harmful }) => harmful < MIN_HARM || harmful <= helpful);
  if (kept.length < bullets.length) {
    const gone = bullets.filter((bullet) => !kept.includes(bullet)).map(({ text }) => text);
    return { kind: "drop-bullets", bullets: kept, reason: `It harmed more often than it helped: ${gone.join(" ")}` };
  }
  return state === "trial" && judgeUses(last, baseline) === "better" ? { kind: "activate" } : undefined;
}

/** Removal of the statements that learnt facts have overtaken; undefined: none, or the user pinned the skill. */
function withoutOutdated({ state, pinned, bullets }: LearntSkill, outdated: OutdatedCheck): Consequence | undefined {
  if (pinned || (state !== "trial" && state !== "active")) return undefined;
  const reasons = bullets.flatMap(({ text }) => outdated(text) ?? []);
  if (reasons.length === 0) return undefined;
  const kept = bullets.filter(({ text }) => outdated(text) === undefined);
  return { kind: "drop-bullets", bullets: kept, reason: `A change: ${[...new Set(reasons)].join("; ")}.` };
}

/** Sentence for people. */
export function comparison(uses: readonly Pick<ScoredUse, "score">[], baseline: number): string {
  const mean = meanOf(uses.map(({ score }) => score)) ?? 0;
  return `Its last ${uses.length} uses scored ${mean.toFixed(2)}; sessions of its kind without it scored ${baseline.toFixed(2)}.`;
}

/**
 * Skills of other authors with which sessions ended worse than similar ones without them. A session in which a command of the
 * skill failed ended badly, whatever the user said: the model found another solution at a cost.
 */
function newDemotions(
  state: LearntState,
  episodes: Cluster,
  { commands, at }: { readonly commands: SkillCommands; readonly at: number },
): readonly Demotion[] {
  const own = new Set(state.skills.filter((skill) => skill.state !== "proposed").map(({ name }) => name));
  const used = new Set(episodes.flatMap(({ skills }) => skills.map(nameOf)));
  return [...used].flatMap((name) => {
    const before = state.demoted.find((demotion) => demotion.name === name);
    if (own.has(name) || before?.restoredAt === null) return [];
    return demotionOf(name, episodes, { commands: commands.get(name) ?? [], since: before?.restoredAt ?? 0, at }) ?? [];
  });
}

function demotionOf(
  name: string,
  episodes: Cluster,
  { commands, since, at }: { readonly commands: readonly string[]; readonly since: number; readonly at: number },
): Demotion | undefined {
  const scoreOf = (episode: Episode): number => (lastRunsPassed(commands, episode) === false ? 0 : outcomeOf(episode));
  const isUse = ({ skills }: Episode): boolean => skills.some((each) => nameOf(each) === name);
  const uses = episodes.filter((episode) => isUse(episode) && episode.endedAt > since).slice(-JUDGED_USES);
  if (uses.length < MIN_CLUSTER) return undefined;
  const without = episodes.filter(
    (episode) => !isUse(episode) && uses.some((use) => likenessOfPair(use, episode) >= MIN_LIKENESS),
  );
  const baseline = meanOf(without.map(scoreOf));
  if (baseline === null || without.length < MIN_CLUSTER) return undefined;
  const scored = uses.map((episode) => ({ score: scoreOf(episode) }));
  if (judgeUses(scored, baseline) !== "worse") return undefined;
  return {
    name,
    at,
    reason: comparison(scored, baseline),
    restoredAt: null,
    sessions: uses.map(({ sessionId }) => sessionId),
    uses: uses.length,
    score: meanOf(scored.map(({ score }) => score)) ?? 0,
  };
}

/** Name in `name@version`. */
export function nameOf(use: string): string {
  return use.slice(0, use.lastIndexOf("@"));
}

/** Reason why a statement no longer holds. */
export type OutdatedCheck = (statement: string) => string | undefined;

type Surroundings = {
  readonly skills: LearntSkills;
  readonly commands: SkillCommands;
  readonly at: number;
  /** Check for the statements of a project, by its folder. */
  readonly outdatedIn: (project: string) => OutdatedCheck;
};

type Notice = { readonly text: string; readonly id: string };

/** The state after these episodes, oldest first, with what the user is shown. */
export async function scored(
  before: LearntState,
  episodes: Cluster,
  { skills, commands, at, outdatedIn }: Surroundings,
): Promise<LearntChange & { readonly notices: readonly Notice[] }> {
  let state = before;
  const files: FileChange[] = [];
  const ledger: LearningChange[] = [];
  const notices: Notice[] = [];
  for (const old of before.skills) {
    if (old.state !== "trial" && old.state !== "active") continue;
    const standing = await skills.standingOf(old);
    if (standing === "missing") {
      state = withoutSkill(state, old);
      ledger.push(ledgerRecord(old, undefined, { actor: "user", op: "remove", reason: "Its file was deleted." }));
      continue;
    }
    const skill = withUses(old, episodes);
    state = withSkill(state, skill);
    const found = withoutOutdated(skill, outdatedIn(skill.project)) ?? consequenceOf(skill);
    const consequence = standing === "own" ? found : undefined;
    if (consequence === undefined) continue;
    const change = carriedOut(skills, state, { skill, consequence, at });
    state = change.state;
    files.push(...(change.files ?? []));
    ledger.push(...(change.ledger ?? []));
    if (consequence.kind === "take-back")
      notices.push({ text: `Taken back: "${skill.name}". ${consequence.reason}`, id: skill.id });
  }
  const demotions = newDemotions(state, episodes, { commands, at });
  const names = new Set(demotions.map(({ name }) => name));
  state = { ...state, demoted: [...state.demoted.filter(({ name }) => !names.has(name)), ...demotions] };
  notices.push(...demotions.map(({ name, reason }) => ({ text: `Demoted: "${name}". ${reason}`, id: `s-${name}` })));
  ledger.push(...demotions.map(demotionRecord));
  return { state, files, ledger, notices };
}

function carriedOut(
  skills: LearntSkills,
  state: LearntState,
  change: { readonly skill: LearntSkill; readonly consequence: Consequence; readonly at: number },
): LearntChange {
  const { skill, consequence, at } = change;
  switch (consequence.kind) {
    case "activate": {
      const reason = comparison(skill.uses.slice(-JUDGED_USES), skill.baseline);
      const active: LearntSkill = { ...skill, state: "active" };
      const record = ledgerRecord(skill, active, { actor: "loop", op: "change", reason: `Active. ${reason}` });
      return { state: withSkill(state, active), ledger: [record] };
    }
    case "take-back": {
      const cause = { actor: "loop", op: "remove", reason: consequence.reason } as const;
      return takenBack(skills, state, { skill, cause, at });
    }
    case "drop-bullets": {
      const { bullets, reason } = consequence;
      if (bullets.length === 0)
        return retired(skills, state, { skill, cause: { actor: "loop", op: "remove", reason }, at });
      const next = nextVersion(skill, { ...skill, bullets, changedAt: at });
      const { skill: stored, files } = written(skills, next, skill);
      const record = ledgerRecord(skill, stored, { actor: "loop", op: "change", reason });
      return { state: withSkill(state, stored), files, ledger: [record] };
    }
  }
}

function demotionRecord({ name, reason, sessions }: Demotion): LearningChange {
  return {
    loop: "distillation",
    actor: "loop",
    op: "apply",
    target: `s-${name}`,
    before: null,
    reason,
    after: "not listed in prompts",
    evidence: sessions.map((session) => `${session}:0`),
  };
}
