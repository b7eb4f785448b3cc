/** One cluster becomes a skill, a new version of one, or a rejection with its reason: one model call, then checks in code. */
import { messageOf } from "../../platform/errors.ts";
import { pathBelow } from "../../platform/paths.ts";
import { parseSkill } from "../../skills/skill.ts";
import { isAbout, wordsOf } from "../call-checks.ts";
import { stepCitations } from "../citations.ts";
import type { Episode } from "../episode.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { LoopPorts } from "../loop.ts";
import { spansIn } from "../rule-checks.ts";
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
import { TRIAL_USES } from "./score-uses.ts";
import { type Fate, fateOf, lastFate, meanOf, outcomeOf } from "./session-score.ts";
import { doubted, ledgerRecord, nextVersion, withSkill, written } from "./skill-changes.ts";
import { type Evidence, evidenceOf, statementProblem } from "./skill-evidence.ts";
import {
  type Admitted,
  type Case,
  commonWords,
  contentOf,
  nameFrom,
  newSkill,
  reasonOf,
  seenFields,
  type Task,
  uses,
} from "./skill-of-cluster.ts";
import { skillText, withDeltas } from "./skill-text.ts";

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
  const { cluster, state, skill } = input;
  const existing = state.skills.find(({ id }) => id === skill) ?? skillOf(cluster, state);
  const evidence = evidenceOf(cluster);
  const shown = existing && shownSkill(existing, cluster);
  if (shown === undefined ? isCovered(input, evidence) : isUnchanged(shown, cluster, evidence))
    return { kind: "kept", state };
  const answer = await askForDeltas({ ...input, evidence, existing }, shown, { kit, signal });
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
  shown: Shown | undefined,
  { kit, signal }: { readonly kit: Kit; readonly signal: AbortSignal },
) {
  const { cluster, evidence } = checked;
  const refuted = [...(shown?.against ?? [])].flatMap(([id, reason]) => (reason === AGAINST.failed ? [id] : []));
  const rejects: LearningChange[] = [];
  for (let asks = 1; ; asks += 1) {
    const reasons = rejects.map(({ reason }) => reason);
    const messages = proposalMessages(cluster, { failed: evidence.failed, reasons }, shown);
    const answer = await kit.model.ask("distillation", messages, signal);
    if (!answer.ok) throw new Error(answer.problem);
    const proposal = readProposal(answer.text);
    if (proposal === undefined) return undefined;
    const { deltas, rejects: found } = admitted(proposal, checked, refuted);
    rejects.push(...found);
    const isMissing = (found.length > 0 || refuted.length > 0) && deltas.every(({ op }) => op === "remove");
    if (!isMissing || asks === MAX_ASKS) return { proposal, deltas, rejects };
  }
}

/** Fates that speak against a statement, as the model reads them. */
const AGAINST = {
  failed: "its commands failed in this order",
  objected: "the user corrected a session that had it",
  left: "a later session went another way",
};
type Shown = LearntSkill & ExistingSkill;

/** The skill with reasons against its statements, by the last session that tells. A session that read one without commands tells. */
function shownSkill(skill: LearntSkill, cluster: Cluster): Shown {
  const { name, version, bullets, changedAt, doubt } = skill;
  const later = cluster.filter(({ endedAt }) => endedAt > changedAt);
  const isCorrected = later.some((one) => one.skills.includes(`${name}@${version}`) && one.corrections.length > 0);
  const fateIn = ({ text }: Bullet): Fate => lastFate(spansIn(text), later) ?? (isCorrected ? "objected" : "held");
  const fates = bullets.map((bullet) => [bullet.id, fateIn(bullet)] as const);
  const against = new Map(fates.flatMap(([id, fate]) => (fate === "held" ? [] : [[id, AGAINST[fate]]])));
  const doubtful = doubt === undefined ? bullets.filter(({ id }) => against.has(id)) : bullets;
  const isOther = (one: Episode): boolean =>
    doubtful.every(({ text }) => !["held", "objected"].includes(fateOf(spansIn(text), one) ?? ""));
  // The ways before it are those that it replaced.
  const examples = doubt === undefined ? cluster : later;
  return { ...skill, against, examples: examples.filter(isOther) };
}

/**
 * The tasks of the clusters. All clusters of a skill are one task, with the sessions that read it or whose requests it is about:
 * the first way after a change is unlike.
 */
export function tasksOf(clusters: readonly Cluster[], week: Cluster, state: LearntState): readonly Task[] {
  const own = Map.groupBy(clusters, (cluster) => skillOf(cluster, state));
  const free = week.filter((episode) => !clusters.some((cluster) => cluster.includes(episode)));
  const known = state.skills.map((skill) => {
    const words = wordsOf(skill);
    const readers = skill.state === "retired" ? [] : free.filter((episode) => isOf(episode, skill, words));
    const cluster = [...(own.get(skill) ?? []).flat(), ...readers].toSorted(
      (one, other) => one.endedAt - other.endedAt,
    );
    return { cluster, skill: skill.id };
  });
  const others = own.get(undefined) ?? [];
  return [...known.filter(({ cluster }) => cluster.length > 0), ...others.map((cluster) => ({ cluster }))];
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

/** True when most sessions read a skill of the user, most of these had no failure, and no run was better. */
function isCovered({ cluster, foreign }: Case, { failed }: Evidence): boolean {
  const readers = foreign.home.map((skill) => cluster.filter((episode) => uses(episode, skill)));
  const own = readers.find((of) => of.length >= cluster.length * MIN_READ) ?? [];
  const smooth = own.filter((episode) => outcomeOf(episode) === (episode.score ?? 1));
  const best = contrast(cluster, failed).best;
  const value = meanOf(own.map(outcomeOf)) ?? -1;
  return value >= 0 && smooth.length >= own.length * MIN_READ && (best === undefined || value >= outcomeOf(best));
}

/** True while the skill's trial runs, without new sessions, and when no run was better than its mean. A withheld one is looked at. */
function isUnchanged(skill: Shown, cluster: Cluster, { failed }: Evidence): boolean {
  const { state, uses, sessions, score, pinned, doubt, against, examples } = skill;
  if (pinned || state === "proposed") return true;
  if (doubt !== undefined) return examples.every(({ sessionId }) => sessions.includes(sessionId));
  if (against.size > 0) return false;
  if (state === "trial" && uses.length < TRIAL_USES) return true;
  const known = new Set(sessions);
  if (cluster.every(({ sessionId }) => known.has(sessionId))) return true;
  const own = meanOf(uses.map((use) => use.score)) ?? score ?? 0;
  const { best } = contrast(cluster, failed);
  return best === undefined || own >= outcomeOf(best);
}

type Checked = Pick<Admitted, "cluster" | "evidence" | "existing" | "outdated">;

/** Deltas that passed the checks, with the removal of refuted statements, and a record for each other one. */
function admitted(
  proposal: Proposal,
  checked: Checked,
  refuted: readonly string[],
): { readonly deltas: readonly Delta[]; readonly rejects: readonly LearningChange[] } {
  const { cluster } = checked;
  const rejects: LearningChange[] = [];
  const passed = proposal.deltas.filter((delta) => {
    const problem = deltaProblem(delta, checked);
    if (problem !== undefined) rejects.push(rejection(cluster, "text" in delta ? delta.text : delta.id, problem));
    return problem === undefined;
  });
  const stale = refuted.filter((id) => !passed.some((delta) => delta.op !== "add" && delta.id === id));
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
  const fates = cluster.flatMap((episode) => fateOf(spansIn(text), episode) ?? []);
  const isHabit = fates.length === 0 || fates.filter((fate) => fate === "held").length >= MIN_RUNS;
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
  const ways = bullets.map(({ text }) => spansIn(text));
  const went = cluster.filter((episode) => ways.some((spans) => fateOf(spans, episode) === "held"));
  const steps = ways.flat().flatMap((span) => span.split(" && "));
  const cites = await stepCitations(steps, filesOf(went), cluster[0]?.cwd ?? "");
  const content = { ...contentOf(input), bullets, cites, changedAt: at };
  const skill: LearntSkill =
    existing === undefined
      ? { ...newSkill(input, at), ...content, nextBullet: next }
      : {
          ...nextVersion(existing, content),
          ...seenFields(cluster, existing),
          reason: reasonOf(cluster),
          nextBullet: next,
        };
  const text = skillText(skill);
  const problem = await formatProblem(text, skill.name);
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
