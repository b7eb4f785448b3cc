/** One cluster becomes a skill, a new version of one, or a rejection with its reason: one model call, then checks in code. */
import { join } from "node:path";
import { wordRow } from "../../memory/statement.ts";
import { messageOf } from "../../platform/errors.ts";
import { nameProblem, parseSkill, SKILL_FILE } from "../../skills/skill.ts";
import type { Skill } from "../../skills/skill-places.ts";
import type { Episode } from "../episodes.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { LoopPorts } from "../loop.ts";
import { type Cluster, contentWords } from "./clusters.ts";
import { meanOf, outcomeOf } from "./judge-uses.ts";
import type { LearntChange, LearntSkill, LearntSkills, LearntState } from "./learnt-skills.ts";
import { contrast, type Delta, type ExistingSkill, type Proposal, proposalMessages, readProposal } from "./proposal.ts";
import type { OutdatedCheck } from "./score-uses.ts";
import { ledgerRecord, nextVersion, retired, withSkill, written } from "./skill-changes.ts";
import { type Evidence, evidenceOf, textProblem } from "./skill-evidence.ts";
import { sizeProblem, skillText, withDeltas } from "./skill-text.ts";

/** Uses of a version before it is changed again. */
const TRIAL_USES = 3;
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

export type Case = {
  readonly cluster: Cluster;
  readonly state: LearntState;
  /** Reason why a statement contradicts what the facts say now. */
  readonly outdated: OutdatedCheck;
  /** Skills that are not this loop's: those of the home, and all names. */
  readonly foreign: { readonly home: readonly Skill[]; readonly names: ReadonlySet<string> };
};

/** `asks`: nothing is written without the user's consent. */
type Kit = Pick<LoopPorts, "model" | "clock"> & { readonly skills: LearntSkills; readonly asks: boolean };

/** Rejects with the signal's reason, and when the model fails. */
export async function distillCluster(input: Case, kit: Kit, signal: AbortSignal): Promise<Distilled> {
  const { cluster, state } = input;
  const existing = skillOf(cluster, state);
  const covering = existing === undefined ? coveringSkill(input) : undefined;
  const evidence = evidenceOf(cluster);
  const refuted = refutedBullets(existing, evidence);
  if (isGoodEnough({ existing, covering, refuted }, cluster, evidence)) return { kind: "kept", state };
  const shown = shownSkill({ existing, covering, refuted }, cluster);
  const answer = await askForDeltas({ ...input, evidence, existing, refuted }, shown, { kit, signal });
  if (answer === undefined) return refused(input, [], "the model's answer is not a JSON object");
  const { proposal, deltas, rejects } = answer;
  if (deltas.length === 0 && existing !== undefined && rejects.length === 0) return { kind: "kept", state };
  if (deltas.length === 0) return refused(input, rejects, undefined);
  const whole = { ...input, existing, evidence, proposal, deltas, rejects };
  return covering === undefined ? apply(whole, kit) : proposeTo(covering, whole, kit);
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

type Subject = {
  readonly existing: LearntSkill | undefined;
  readonly covering: Skill | undefined;
  readonly refuted: ReadonlyMap<string, string>;
};

function isGoodEnough({ existing, covering, refuted }: Subject, cluster: Cluster, evidence: Evidence): boolean {
  if (covering !== undefined) return isAsGoodAs(covering, cluster, evidence);
  return existing !== undefined && refuted.size === 0 && isUnchanged(existing, cluster, evidence);
}

/** The skill as the model gets it, with the reasons against its statements. */
function shownSkill({ existing, covering, refuted }: Subject, cluster: Cluster): ExistingSkill | undefined {
  if (existing === undefined) return covering && { ...covering, bullets: [], refuted };
  if (!isCorrected(existing, cluster)) return { ...existing, refuted };
  const doubts = existing.bullets.map(({ id }) => [id, "the user corrected a session that had it"] as const);
  return { ...existing, refuted: new Map([...doubts, ...refuted]) };
}

/** True when the user corrected a session that used this version. */
function isCorrected({ name, version }: LearntSkill, cluster: Cluster): boolean {
  return cluster.some(({ skills, corrections }) => corrections.length > 0 && skills.includes(`${name}@${version}`));
}

/** The learnt skill that comes from sessions of the cluster, or that they read. */
function skillOf(cluster: Cluster, { skills }: LearntState): LearntSkill | undefined {
  const project = cluster[0]?.cwd;
  return skills.find((skill) => {
    if (skill.project !== project || skill.state === "retired") return false;
    return cluster.some((episode) => skill.sessions.includes(episode.sessionId) || uses(episode, skill));
  });
}

/** Skill of the user that the sessions of the cluster read. */
function coveringSkill({ cluster, foreign, state }: Case): Skill | undefined {
  const demoted = new Set(state.demoted.flatMap(({ name, restoredAt }) => (restoredAt === null ? [name] : [])));
  return foreign.home.find((skill) => {
    const readers = cluster.filter((episode) => uses(episode, skill)).length;
    return !demoted.has(skill.name) && readers >= cluster.length * MIN_READ;
  });
}

/** True without a score of the skill, and when no run was better. */
function isAsGoodAs({ name, score }: Skill, cluster: Cluster, { failed }: Evidence): boolean {
  const own = meanOf(cluster.filter((episode) => uses(episode, { name })).map(outcomeOf)) ?? score;
  const { best } = contrast(cluster, failed);
  return own === undefined || best === undefined || own >= outcomeOf(best);
}

/** Reasons against bullets: commands whose last run failed. */
function refutedBullets(existing: LearntSkill | undefined, { failed }: Evidence): ReadonlyMap<string, string> {
  return new Map(
    (existing?.bullets ?? []).flatMap(({ id, text }) => {
      const spans = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, span = ""]) => span.split(" && "));
      const wrong = spans.find((span) => failed.has(span));
      return wrong === undefined ? [] : [[id, `\`${wrong}\` failed at its last run`] as const];
    }),
  );
}

/** True while the skill's trial runs, without new sessions, and when no run was better than the skill's mean. */
function isUnchanged(skill: LearntSkill, cluster: Cluster, { failed }: Evidence): boolean {
  const { state, uses, sessions, score, pinned } = skill;
  if (pinned || state === "proposed") return true;
  if (isCorrected(skill, cluster)) return false;
  if (state === "trial" && uses.length < TRIAL_USES) return true;
  const known = new Set(sessions);
  if (cluster.every(({ sessionId }) => known.has(sessionId))) return true;
  const own = meanOf(uses.map((use) => use.score)) ?? score ?? 0;
  const { best } = contrast(cluster, failed);
  return best === undefined || own >= outcomeOf(best);
}

type Checked = Pick<Admitted, "cluster" | "evidence" | "existing" | "outdated"> & Pick<Subject, "refuted">;

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

function deltaProblem(delta: Delta, { evidence, existing, outdated }: Checked): string | undefined {
  if (delta.op !== "add" && !existing?.bullets.some(({ id }) => id === delta.id))
    return `there is no statement ${delta.id}`;
  return delta.op === "remove" ? undefined : (textProblem(delta.text, evidence) ?? outdated(delta.text));
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

type Admitted = Case & {
  readonly existing: LearntSkill | undefined;
  readonly evidence: Evidence;
  readonly proposal: Proposal;
  readonly deltas: readonly Delta[];
  readonly rejects: readonly LearningChange[];
};

async function apply(input: Admitted, kit: Kit): Promise<Distilled> {
  const { existing } = input;
  const standing = existing === undefined ? "own" : await kit.skills.standingOf(existing);
  if (existing !== undefined && (standing === "edited" || kit.asks)) return propose(input, existing, kit);
  return write(input, kit);
}

async function write(input: Admitted, { skills, clock, asks }: Kit): Promise<Distilled> {
  const { cluster, existing, rejects, state, deltas } = input;
  const { bullets, next } = withDeltas(existing?.bullets ?? [], deltas, existing?.nextBullet ?? 1);
  const at = clock.now();
  const cause = { actor: "loop", op: existing === undefined ? "add" : "change", reason: reasonOf(cluster) } as const;
  if (existing !== undefined && bullets.length === 0) {
    const gone = { ...cause, reason: "None of its statements holds any more." };
    return { kind: "learnt", ...retired(skills, state, { skill: existing, cause: gone, at }) };
  }
  const content = { ...contentOf(input), bullets, changedAt: at };
  const skill: LearntSkill =
    existing === undefined
      ? { ...newSkill(input, at), ...content, nextBullet: next }
      : { ...nextVersion(existing, content), ...evidenceFields(input, existing), nextBullet: next };
  const text = skillText(skill);
  const problem = sizeProblem(text) ?? (await formatProblem(text, skill.name));
  if (problem !== undefined) return refused(input, rejects, problem);
  if (asks) return proposeNew(skill, input, skills);
  const { skill: stored, files } = written(skills, skill, existing);
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
    return parsed.ok ? undefined : parsed.reason;
  } catch (error) {
    return messageOf(error);
  }
}

/** A new skill that waits for consent: it has no file yet. */
function proposeNew(
  skill: LearntSkill,
  { state, deltas, rejects, cluster }: Admitted,
  skills: LearntSkills,
): Distilled {
  const proposal = { path: skills.fileOf(skill.name), deltas, bullets: [] };
  const proposed: LearntSkill = { ...skill, state: "proposed", proposal };
  return {
    kind: "learnt",
    state: withSkill(state, proposed),
    ledger: rejects,
    id: skill.id,
    notice: `A new skill, "${skill.name}" from ${cluster.length} sessions, waits for you`,
  };
}

/** A file that the user changed is the user's, and with `skills.write_approval` each one: the change waits for consent. */
function propose(
  { state, deltas, rejects, cluster }: Admitted,
  existing: LearntSkill,
  { skills, asks }: Kit,
): Distilled {
  const path = skills.fileOf(existing.name);
  const proposal = { path, deltas, bullets: existing.bullets };
  const skill: LearntSkill = { ...existing, proposal, ...seenFields(cluster, existing) };
  return {
    kind: "learnt",
    state: withSkill(state, skill),
    ledger: rejects,
    id: skill.id,
    notice: `A change of "${skill.name}"${asks ? "" : ", which you edited,"} waits for you`,
  };
}

/** A skill that the user wrote: its change waits for consent. */
function proposeTo({ name, folder, description }: Skill, input: Admitted, { clock }: Kit): Distilled {
  const at = clock.now();
  const deltas = input.deltas.filter(({ op }) => op === "add");
  if (deltas.length === 0) return refused(input, input.rejects, undefined);
  const skill: LearntSkill = {
    ...newSkill(input, at),
    ...contentOf(input),
    id: `s-${name}`,
    name,
    description,
    state: "proposed",
    version: 0,
    bullets: [],
    nextBullet: 1,
    changedAt: at,
    proposal: { path: join(folder, SKILL_FILE), deltas, bullets: [] },
  };
  return {
    kind: "learnt",
    state: withSkill(input.state, skill),
    ledger: input.rejects,
    id: skill.id,
    notice: `A change of your skill "${name}" waits for you`,
  };
}

function contentOf({ proposal, cluster, evidence }: Admitted) {
  const written = proposal.description;
  const isGood = written.length <= 500 && textProblem(written, evidence) === undefined;
  const when = proposal.applicableWhen.filter((text) => textProblem(text, evidence) === undefined);
  return {
    description: isGood ? written : `Steps for tasks such as: ${commonWords(cluster).join(" ")}.`,
    applicableWhen: when,
    tools: [...new Set(cluster.flatMap(({ tools }) => tools))],
    score: meanOf(cluster.map(outcomeOf)),
  };
}

function newSkill(input: Admitted, at: number) {
  const name = freeName(input);
  const before = input.state.skills.find((skill) => skill.name === name);
  return {
    id: `s-${name}`,
    name,
    project: input.cluster[0]?.cwd ?? "",
    state: "trial" as const,
    createdAt: at,
    uses: [],
    pinned: false,
    earlier: [],
    hashes: before?.hashes ?? [],
    version: (before?.version ?? 0) + 1,
    ...evidenceFields(input, undefined),
  };
}

function evidenceFields({ cluster }: Admitted, existing: LearntSkill | undefined) {
  const without = existing === undefined ? cluster : cluster.filter((episode) => !uses(episode, existing));
  const measured = without.length >= TRIAL_USES ? meanOf(without.map(outcomeOf)) : null;
  return { ...seenFields(cluster, existing), baseline: measured ?? existing?.baseline ?? 0, reason: reasonOf(cluster) };
}

function seenFields(cluster: Cluster, existing: LearntSkill | undefined) {
  return { sessions: [...new Set([...(existing?.sessions ?? []), ...cluster.map(({ sessionId }) => sessionId)])] };
}

function uses({ skills }: Episode, { name }: Pick<LearntSkill, "name">): boolean {
  return skills.some((use) => use.startsWith(`${name}@`));
}

function reasonOf(cluster: Cluster): string {
  const corrections = cluster.flatMap((episode) => episode.corrections).length;
  const corrected =
    corrections === 0 ? "" : `, with ${corrections} ${corrections === 1 ? "correction" : "corrections"}`;
  return `${cluster.length} sessions of the last 7 days had such a task${corrected}.`;
}

/** Name that the model proposes, else one of the words of the messages; with a number when it is in use. */
function freeName({ proposal, cluster, state, foreign }: Admitted): string {
  const proposed = proposal.name.toLowerCase();
  const base = nameProblem(proposed) === undefined && proposed.length <= 48 ? proposed : nameFrom(cluster);
  const used = (name: string): boolean =>
    foreign.names.has(name) || state.skills.some((skill) => skill.name === name && skill.state !== "retired");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!used(name)) return name;
  }
}

function nameFrom(cluster: Cluster): string {
  const words = commonWords(cluster).flatMap((word) => word.match(/[a-z0-9]+/g) ?? []);
  return words.slice(0, 4).join("-").slice(0, 48).replace(/-$/, "") || "repeated-task";
}

/** Words of all messages, in the order of the first one. */
function commonWords(cluster: Cluster): readonly string[] {
  const lists = cluster.map(({ firstMessage }) => contentWords(firstMessage));
  const isCommon = (word: string): boolean =>
    contentWords(word).some((stem) => lists.every((list) => list.includes(stem)));
  return [...new Set(wordRow(cluster[0]?.firstMessage ?? ""))].filter(isCommon);
}
