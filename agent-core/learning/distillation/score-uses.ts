/** Scores of the sessions in which learnt skills were used, and their consequences. */
import { lostCitation } from "../../memory/cited-file.ts";
import { counted } from "../../platform/counted.ts";
import { isAbout, wordsOf } from "../call-checks.ts";
import type { Episode } from "../episode.ts";
import type { LearningChange } from "../learning-ledger.ts";
import { spansIn } from "../rule-checks.ts";
import type { Cluster } from "./clusters.ts";
import type { FileChange, LearntChange, LearntSkill, LearntSkills, LearntState } from "./learnt-skills.ts";
import type { Bullet } from "./proposal.ts";
import { fateOf, lastFate, outcomeOf } from "./session-score.ts";
import {
  doubted,
  ledgerRecord,
  nextVersion,
  standingFile,
  sure,
  withoutSkill,
  withSkill,
  written,
} from "./skill-changes.ts";

/** Harmful uses in a row before a statement goes: one failure may have another cause. */
const MIN_HARM = 2;
/** Uses without harm after which a skill is no longer on trial, and before a version is changed again. */
export const TRIAL_USES = 3;
const MAX_USES = 50;

/**
 * The skill with the uses of its version in these episodes, and the counts of its bullets. A session uses a bullet with commands
 * when it goes its way, whether the model read it, a refused call named it, or neither.
 */
export function withUses(skill: LearntSkill, episodes: Cluster): LearntSkill {
  const words = wordsOf(skill);
  const known = new Map(skill.uses.map((use) => [use.sessionId, use]));
  let { bullets } = skill;
  // Older sessions than the kept ones are counted already.
  const from = skill.uses.length < MAX_USES ? skill.changedAt : (skill.uses[0]?.at ?? 0) + 1;
  for (const episode of episodes.filter(({ endedAt }) => endedAt >= from)) {
    const { sessionId, endedAt: at, skills, cwd, firstMessage } = episode;
    const isRead = skills.includes(`${skill.name}@${skill.version}`);
    const isOf = isRead || (cwd === skill.project && isAbout(words, firstMessage));
    const counted = isOf ? bullets.map((bullet) => countedIn(bullet, episode, isRead)) : bullets;
    if (counted.every((bullet, index) => bullet === bullets[index])) continue;
    if (!known.has(sessionId)) bullets = counted;
    known.set(sessionId, { sessionId, at, score: outcomeOf(episode) });
  }
  const uses = [...known.values()].toSorted((one, other) => one.at - other.at).slice(-MAX_USES);
  return { ...skill, uses, bullets };
}

/** Score of a session from which it ended well. */
const GOOD_END = 0.5;

/**
 * The bullet with one more session that went its way, or that read one without commands; the same bullet for another session.
 * Its commands may pass and yet be wrong: the user's objections count.
 */
function countedIn(bullet: Bullet, episode: Episode, isRead: boolean): Bullet {
  const spans = spansIn(bullet.text);
  const fate = spans.length === 0 && isRead ? "held" : fateOf(spans, episode);
  if (fate === undefined || fate === "left") return bullet;
  const isAccepted = episode.corrections.length === 0 && (episode.score ?? 1) >= GOOD_END;
  // Help of long ago does not count for a statement that fails now.
  return fate === "held" && isAccepted
    ? { ...bullet, helpful: bullet.helpful + 1, harmful: 0 }
    : { ...bullet, harmful: bullet.harmful + 1 };
}

/** Reason why a statement no longer holds. */
export type OutdatedCheck = (statement: string) => string | undefined;

type Surroundings = {
  readonly skills: LearntSkills;
  readonly at: number;
  /** Check for the statements of a project, by its folder. */
  readonly outdatedIn: (project: string) => OutdatedCheck;
};

type Notice = { readonly text: string; readonly id: string };

/** The state after these episodes, oldest first, with what the user is shown. */
export async function scored(
  before: LearntState,
  episodes: Cluster,
  surroundings: Surroundings,
): Promise<LearntChange & { readonly notices: readonly Notice[] }> {
  let state = before;
  const files: FileChange[] = [];
  const ledger: LearningChange[] = [];
  const notices: Notice[] = [];
  for (const old of before.skills) {
    if (old.state !== "trial" && old.state !== "active") continue;
    const { notice, ...change } = await scoredSkill(old, state, episodes, surroundings);
    state = change.state;
    files.push(...(change.files ?? []));
    ledger.push(...(change.ledger ?? []));
    if (notice !== undefined) notices.push({ text: notice, id: old.id });
  }
  return { state, files, ledger, notices };
}

async function scoredSkill(
  old: LearntSkill,
  state: LearntState,
  episodes: Cluster,
  { skills, at, outdatedIn }: Surroundings,
): Promise<LearntChange & { readonly notice?: string }> {
  const standing = await skills.standingOf(old);
  if (standing === "missing") {
    const gone = ledgerRecord(old, undefined, { actor: "user", op: "remove", reason: "Its file was deleted." });
    return { state: withoutSkill(state, old), ledger: [gone] };
  }
  const skill = await restored(withUses(old, episodes), episodes);
  const own = standing === "own" && !skill.pinned && skill.doubt === undefined;
  if (own) return judged(skill, state, { skills, at, outdated: outdatedIn(skill.project) });
  return { state: withSkill(state, skill) };
}

/** A skill without statements that harmed or that facts have overtaken. None is offered without a statement, or after its source changed. */
async function judged(
  skill: LearntSkill,
  state: LearntState,
  { skills, at, outdated }: Pick<Surroundings, "skills" | "at"> & { readonly outdated: OutdatedCheck },
): Promise<LearntChange & { readonly notice?: string }> {
  const cause = { actor: "loop", op: "change" } as const;
  const reasonsOf = ({ text, harmful }: Bullet): readonly string[] =>
    harmful < MIN_HARM ? [outdated(text) ?? []].flat() : [`In the last ${MIN_HARM} sessions with it harmed: ${text}`];
  const lost = await lostCitation(skill.cites, skill.project);
  const reason = lost ?? [...new Set(skill.bullets.flatMap(reasonsOf))].join(" ");
  const bullets = skill.bullets.filter((bullet) => reasonsOf(bullet).length === 0);
  if (lost !== undefined || bullets.length === 0) {
    const notice = `No longer offered: "${skill.name}". ${reason}`;
    const byHarm = lost === undefined && skill.bullets.every(({ harmful }) => harmful >= MIN_HARM);
    return { ...doubted(skills, state, skill, { at, reason, byHarm }), notice };
  }
  if (bullets.length < skill.bullets.length) {
    const { skill: stored, files } = written(skills, nextVersion(skill, { ...skill, bullets, changedAt: at }));
    return { state: withSkill(state, stored), files, ledger: [ledgerRecord(skill, stored, { ...cause, reason })] };
  }
  const isProven = skill.uses.length >= TRIAL_USES && bullets.every(({ harmful }) => harmful === 0);
  if (skill.state === "active" || !isProven)
    return { state: withSkill(state, skill), files: [standingFile(skills, skill)] };
  const active: LearntSkill = { ...skill, state: "active" };
  const proof = `Active: ${counted(skill.uses.length, "session")} with it went well.`;
  return { state: withSkill(state, active), ledger: [ledgerRecord(skill, active, { ...cause, reason: proof })] };
}

/** The skill without its doubt once a later session went its way. Files that changed are cited no longer then. */
async function restored(skill: LearntSkill, episodes: Cluster): Promise<LearntSkill> {
  const { doubt, project, cites } = skill;
  const later = episodes.filter(({ cwd, endedAt }) => cwd === project && endedAt > (doubt?.at ?? 0));
  const isHeld = skill.bullets.some(({ text }) => lastFate(spansIn(text), later) === "held");
  if (doubt === undefined || !isHeld) return skill;
  const lost = await Promise.all(cites.map((cite) => lostCitation([cite], project)));
  const bullets = skill.bullets.map((bullet) => ({ ...bullet, harmful: 0 }));
  return { ...sure(skill), bullets, cites: cites.filter((_, at) => lost[at] === undefined) };
}
