/** One cluster becomes a skill, a new version of one, or a rejection with its reason: one model call, then checks in code. */

import { messageOf } from "../../platform/errors.ts";
import { pathBelow } from "../../platform/paths.ts";
import { parseSkill } from "../../skills/skill.ts";
import type { Skill } from "../../skills/skill-places.ts";
import { isAbout, wordsOf } from "../call-checks.ts";
import { stepCitations } from "../citations.ts";
import type { Episode } from "../episode.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { LoopPorts } from "../loop.ts";
import { type Cluster, contentWords } from "./clusters.ts";
import type { LearntChange, LearntSkill, LearntSkills, LearntState } from "./learnt-skills.ts";
import {
  type Bullet,
  contrast,
  type Delta,
  type ExistingSkill,
  type Proposal,
  proposalMessages,
  readProposal,
} from "./proposal.ts";
import { spansIn } from "./score-uses.ts";
import { heldIn, isSmooth, meanOf, outcomeOf, servedIn } from "./session-score.ts";
import { doubted, ledgerRecord, nextVersion, withSkill, written } from "./skill-changes.ts";
import { type Evidence, evidenceOf, statementProblem } from "./skill-evidence.ts";
import {
  type Admitted,
  type Case,
  commonWords,
  contentOf,
  evidenceFields,
  nameFrom,
  newSkill,
  reasonOf,
  seenFields,
  TRIAL_USES,
  uses,
} from "./skill-of-cluster.ts";
import { sizeProblem, skillText, withDeltas } from "./skill-text.ts";

/** Sessions that went the way of a new procedure. */
const MIN_RUNS = 2;
/** Questions about one cluster. */
const MAX_ASKS = 2;
/** A skill of the user is the one of a cluster when this share of the sessions read it. */
const MIN_READ = 0.5;

export type Distilled = LearntChange & {
  readonly kind: "learnt" | "kept" | "refused";
  /** One line for the user. */
  readonly notice?: string;
  readonly id?: string;
};

/** `asks`: nothing is written without the user's consent. */
type Kit = Pick<LoopPorts, "model" | "clock"> & { readonly skills: LearntSkills; readonly asks: boolean };

/** Rejects with the signal's reason, and when the model fails. */
export async function distillCluster(input: Case, kit: Kit, signal: AbortSignal): Promise<Distilled> {
  const { cluster, state } = input;
  const existing = skillOf(cluster, state);
  const covering = existing === undefined ? coveringSkill(input) : undefined;
  const evidence = evidenceOf(cluster);
  const refuted = refutedBullets(existing, cluster, evidence);
  const isRight = existing !== undefined && refuted.size === 0 && isUnchanged(existing, cluster, evidence);
  if (isRight || (covering !== undefined && isAsGoodAs(covering, cluster, evidence))) return { kind: "kept", state };
  const shown = shownSkill(existing, refuted, cluster);
  const answer = await askForDeltas({ ...input, evidence, existing, refuted }, shown, { kit, signal });
  if (answer === undefined) return refused(input, [], "the model's answer is not a JSON object");
  const { proposal, deltas, rejects } = answer;
  if (deltas.length === 0 && existing !== undefined && rejects.length === 0) return { kind: "kept", state };
  if (deltas.length === 0) return refused(input, rejects, undefined);
  return write({ ...input, existing, evidence, proposal, deltas, rejects }, kit);
}

/** Paths in the project that the commands of its sessions name, and those that the agent read or edited. */
function filesOf(cluster: Cluster): readonly string[] {
  return cluster.flatMap(({ commands, paths, cwd }) => [
    ...paths.flatMap((path) => pathBelow(cwd, path)?.replaceAll("\\", "/") ?? []),
    ...commands.flatMap(({ command }) => command.split(/[\s;|&<>()"'`]+/).filter((word) => /[./]/.test(word))),
  ]);
}

/**
 * The model's proposal, checked. Without an admitted statement the question is asked once more with the reasons: a refuted
 * procedure without a replacement would leave none. Undefined: the answer is not a proposal.
 */
async function askForDeltas(
  checked: Checked,
  shown: ExistingSkill | undefined,
  { kit, signal }: { readonly kit: Kit; readonly signal: AbortSignal },
) {
  const { cluster, evidence, refuted } = checked;
  const rejects: LearningChange[] = [];
  for (let asks = 1; ; asks += 1) {
    const reasons = rejects.map(({ reason }) => reason);
    const messages = proposalMessages(cluster, { failed: evidence.failed, reasons }, shown);
    const answer = await kit.model.ask("distillation", messages, signal);
    if (!answer.ok) throw new Error(answer.problem);
    const proposal = readProposal(answer.text);
    if (proposal === undefined) return undefined;
    const { deltas, rejects: found } = admitted(proposal, checked);
    rejects.push(...found);
    const isMissing = (found.length > 0 || refuted.size > 0) && deltas.every(({ op }) => op === "remove");
    if (!isMissing || asks === MAX_ASKS) return { proposal, deltas, rejects };
  }
}

/** Reasons against statements, by their ids. */
type Refuted = ReadonlyMap<string, string>;

/** The skill as the model gets it, with the reasons against its statements. */
function shownSkill(existing: LearntSkill | undefined, refuted: Refuted, cluster: Cluster): ExistingSkill | undefined {
  return existing && { ...existing, refuted: new Map([...doubtsAbout(existing, cluster), ...refuted]) };
}

/** Reasons for which the model looks at bullets again: a correction of a session that used this version, and another way. */
function doubtsAbout({ name, version, bullets, changedAt }: LearntSkill, cluster: Cluster): Refuted {
  const isUse = ({ skills }: Episode): boolean => skills.includes(`${name}@${version}`);
  const isCorrected = cluster.some((episode) => isUse(episode) && episode.corrections.length > 0);
  const later = cluster.filter(({ endedAt }) => endedAt > changedAt);
  const serves = ({ text }: Bullet): boolean =>
    later.map((episode) => servedIn(spansIn(text), episode)).findLast((each) => each !== undefined) !== false;
  const doubted = bullets.filter((bullet) => isCorrected || !serves(bullet));
  const reason = isCorrected ? "the user corrected a session that had it" : "a later session went another way";
  return new Map(doubted.map(({ id }) => [id, reason]));
}

/** Clusters with all sessions that read their skills or whose requests these are about: the first way after a change is unlike. */
export function withReaders(clusters: readonly Cluster[], week: Cluster, state: LearntState): readonly Cluster[] {
  const isFree = (episode: Episode): boolean => !clusters.some((cluster) => cluster.includes(episode));
  const free = week.filter(isFree);
  const readers = (skill: LearntSkill | undefined): Cluster =>
    skill === undefined ? [] : free.filter((episode) => isOf(episode, skill, wordsOf(skill)));
  const known = new Map(clusters.map((cluster) => [cluster, skillOf(cluster, state)]));
  const others = state.skills.filter((skill) => skill.state !== "retired" && ![...known.values()].includes(skill));
  const joined = clusters.map((cluster) =>
    [...cluster, ...readers(known.get(cluster))].toSorted((one, other) => one.endedAt - other.endedAt),
  );
  return [...joined, ...others.map(readers).filter((cluster) => cluster.length > 0)];
}

function isOf(episode: Episode, skill: LearntSkill, words: ReadonlySet<string>): boolean {
  if (episode.cwd !== skill.project) return false;
  return uses(episode, skill) || (episode.endedAt > skill.changedAt && isAbout(words, episode.firstMessage));
}

/** The learnt skill that comes from sessions of the cluster, that they read, or that has all words of their requests. */
function skillOf(cluster: Cluster, { skills }: LearntState): LearntSkill | undefined {
  const project = cluster[0]?.cwd;
  const own = skills.filter((skill) => skill.project === project && skill.state !== "retired");
  const isOf = (skill: LearntSkill): boolean =>
    cluster.some((episode) => skill.sessions.includes(episode.sessionId) || uses(episode, skill));
  const words = contentWords(commonWords(cluster).join(" "));
  const isFor = (skill: LearntSkill): boolean => {
    const known = wordsOf(skill);
    return words.length > 0 && words.every((word) => known.has(word));
  };
  return own.find(isOf) ?? own.findLast(isFor);
}

/** Skill of the user that the sessions of the cluster read. */
function coveringSkill({ cluster, foreign }: Case): Skill | undefined {
  const readers = (skill: Skill): number => cluster.filter((episode) => uses(episode, skill)).length;
  return foreign.home.find((skill) => readers(skill) >= cluster.length * MIN_READ);
}

/** True without a score of the skill, and when no run was better and most of its own went without a failure. */
function isAsGoodAs({ name }: Skill, cluster: Cluster, { failed }: Evidence): boolean {
  const own = cluster.filter((episode) => uses(episode, { name }));
  const value = meanOf(own.map(outcomeOf));
  const { best } = contrast(cluster, failed);
  if (own.filter(isSmooth).length < own.length * MIN_READ) return false;
  return value === null || best === undefined || value >= outcomeOf(best);
}

/**
 * Reasons against bullets: commands whose last run failed, and a later session in which they did not pass in their order. The
 * sessions that a bullet comes from may have found its order by failures.
 */
function refutedBullets(existing: LearntSkill | undefined, cluster: Cluster, { failed }: Evidence): Refuted {
  const later = cluster.filter(({ endedAt }) => endedAt > (existing?.changedAt ?? 0));
  const refuted = (existing?.bullets ?? []).flatMap(({ id, text }) => {
    const spans = spansIn(text);
    const wrong = spans.flatMap((span) => span.split(" && ")).find((span) => failed.has(span));
    const held = later.map((episode) => heldIn(spans, episode)).findLast((each) => each !== undefined);
    if (wrong === undefined && held !== false) return [];
    const reason = wrong === undefined ? "its commands failed in this order" : `\`${wrong}\` failed at its last run`;
    return [[id, reason] as const];
  });
  return new Map(refuted);
}

/** True while the skill's trial runs, without new sessions, and when no run was better than the skill's mean. */
function isUnchanged(skill: LearntSkill, cluster: Cluster, { failed }: Evidence): boolean {
  const { state, uses, sessions, score, pinned } = skill;
  if (pinned || state === "proposed") return true;
  if (doubtsAbout(skill, cluster).size > 0) return false;
  if (state === "trial" && uses.length < TRIAL_USES) return true;
  const known = new Set(sessions);
  if (cluster.every(({ sessionId }) => known.has(sessionId))) return true;
  const own = meanOf(uses.map((use) => use.score)) ?? score ?? 0;
  const { best } = contrast(cluster, failed);
  return best === undefined || own >= outcomeOf(best);
}

type Checked = Pick<Admitted, "cluster" | "evidence" | "existing" | "outdated"> & { readonly refuted: Refuted };

/** Deltas that passed the checks, with the removal of refuted statements, and a record for each other one. */
function admitted(
  proposal: Proposal,
  checked: Checked,
): { readonly deltas: readonly Delta[]; readonly rejects: readonly LearningChange[] } {
  const { cluster, refuted } = checked;
  const rejects: LearningChange[] = [];
  const passed = proposal.deltas.filter((delta) => {
    const problem = deltaProblem(delta, checked);
    if (problem !== undefined) rejects.push(rejection(cluster, "text" in delta ? delta.text : delta.id, problem));
    return problem === undefined;
  });
  const stale = [...refuted.keys()].filter((id) => !passed.some((delta) => delta.op !== "add" && delta.id === id));
  return { deltas: [...stale.map((id): Delta => ({ op: "remove", id })), ...passed], rejects };
}

function deltaProblem(delta: Delta, { cluster, evidence, existing, outdated }: Checked): string | undefined {
  if (delta.op !== "add" && !existing?.bullets.some(({ id }) => id === delta.id))
    return `there is no statement ${delta.id}`;
  if (delta.op === "remove") return undefined;
  const { text, kind } = delta;
  if (kind === "story") return "it tells of one session";
  if (kind === "complaint") return "it says that a tool does not work";
  return (
    statementProblem(text, evidence) ??
    outdated(text) ??
    (existing === undefined ? singleRun(text, cluster) : undefined)
  );
}

/** Reason against a procedure of a new skill that one session went through: a way that nobody took again is no habit. */
function singleRun(text: string, cluster: Cluster): string | undefined {
  const runs = cluster.map((episode) => servedIn(spansIn(text), episode)).filter((served) => served !== undefined);
  const isHabit = runs.length === 0 || runs.filter(Boolean).length >= MIN_RUNS;
  return isHabit ? undefined : "fewer than two sessions went this way";
}

function rejection(cluster: Cluster, text: string, reason: string): LearningChange {
  return {
    loop: "distillation",
    actor: "loop",
    op: "reject",
    before: null,
    after: null,
    target: `s-${nameFrom(cluster)}`,
    evidence: cluster.map(({ sessionId }) => `${sessionId}:0`),
    reason: `Rejected: ${reason}. The statement began with ${JSON.stringify(text.slice(0, 60))}.`,
  };
}

function refused({ cluster, state }: Case, rejects: readonly LearningChange[], reason: string | undefined): Distilled {
  const whole = reason === undefined ? [] : [rejection(cluster, "", reason)];
  return { kind: "refused", state, ledger: [...rejects, ...whole] };
}

async function write(input: Admitted, kit: Kit): Promise<Distilled> {
  const { skills, clock, asks } = kit;
  const { cluster, existing, rejects, state, deltas } = input;
  if (existing !== undefined && (asks || (await skills.standingOf(existing)) === "edited")) {
    return proposed(existing, input, kit);
  }
  const { bullets, next } = withDeltas(existing?.bullets ?? [], deltas, existing?.nextBullet ?? 1);
  const at = clock.now();
  const cause = { actor: "loop", op: existing === undefined ? "add" : "change", reason: reasonOf(cluster) } as const;
  if (existing !== undefined && bullets.length === 0) {
    if (existing.doubt !== undefined) return { kind: "kept", state };
    const doubt = { at, reason: "None of its statements holds any more" };
    return { kind: "learnt", ...doubted(skills, state, existing, doubt) };
  }
  const spans = bullets.flatMap(({ text }) => spansIn(text)).flatMap((span) => span.split(" && "));
  const served = cluster.filter((episode) => servedIn(spans, episode) === true);
  const cites = await stepCitations(spans, filesOf(served), cluster[0]?.cwd ?? "");
  const content = { ...contentOf(input), bullets, cites, changedAt: at };
  const skill: LearntSkill =
    existing === undefined
      ? { ...newSkill(input, at), ...content, nextBullet: next }
      : { ...nextVersion(existing, content), ...evidenceFields(input, existing), nextBullet: next };
  const text = skillText(skill);
  const problem = sizeProblem(text) ?? (await formatProblem(text, skill.name));
  if (problem !== undefined) return refused(input, rejects, problem);
  if (asks) return proposed(skill, input, kit);
  const { skill: stored, files } = written(skills, skill);
  return {
    kind: "learnt",
    state: withSkill(state, stored),
    files,
    id: stored.id,
    ledger: [...rejects, ledgerRecord(existing, stored, cause)],
    notice: `Learnt: "${stored.name}" v${stored.version} from ${cluster.length} sessions`,
  };
}

async function formatProblem(text: string, name: string): Promise<string | undefined> {
  try {
    const parsed = await parseSkill(text, name);
    return parsed.ok ? parsed.deviation : parsed.reason;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * A change that waits for consent: of a file that the user edited, and with `skills.write_approval` each one. A new skill has no
 * file until then.
 */
function proposed(
  skill: LearntSkill,
  { state, deltas, rejects, cluster, existing }: Admitted,
  { skills, asks }: Kit,
): Distilled {
  const { name, id } = skill;
  const proposal = { path: skills.fileOf(name), deltas, bullets: existing?.bullets ?? [] };
  const waiting: LearntSkill =
    existing === undefined
      ? { ...skill, state: "proposed", proposal }
      : { ...skill, proposal, ...seenFields(cluster, existing) };
  const change = `A change of "${name}"${asks ? "" : ", which you edited,"}`;
  const what = existing === undefined ? `A new skill, "${name}" from ${cluster.length} sessions,` : change;
  return { kind: "learnt", state: withSkill(state, waiting), ledger: rejects, id, notice: `${what} waits for you` };
}
