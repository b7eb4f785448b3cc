/** Changes of one learnt skill, each with its files and its record in the ledger: versions, retirement and return. */
import type { LearningChange } from "../learning-ledger.ts";
import {
  type FileChange,
  hashOf,
  type LearntChange,
  type LearntSkill,
  type LearntSkills,
  type LearntState,
  type SkillContent,
} from "./learnt-skills.ts";
import { skillText } from "./skill-text.ts";

/** Versions of a skill that can return. */
const KEPT_VERSIONS = 5;
/** Sessions in the list of those that no new skill comes from. */
const MAX_SPENT = 5_000;

type Cause = { readonly actor: LearningChange["actor"]; readonly op: LearningChange["op"]; readonly reason: string };

/** Text of the item in the ledger. */
function itemText({ name, version, bullets }: LearntSkill): string {
  return [`${name} v${version}`, ...bullets.map(({ text }) => `- ${text}`)].join("\n");
}

export function ledgerRecord(
  before: LearntSkill | undefined,
  after: LearntSkill | undefined,
  { actor, op, reason }: Cause,
): LearningChange {
  const { id, sessions } = after ?? before ?? { id: "", sessions: [] };
  return {
    loop: "distillation",
    actor,
    op,
    reason,
    target: id,
    before: before === undefined ? null : itemText(before),
    after: after === undefined ? null : itemText(after),
    evidence: sessions.map((session) => `${session}:0`),
  };
}

/** State with the skill in place of the one with its id, or added. */
export function withSkill(state: LearntState, skill: LearntSkill): LearntState {
  const others = state.skills.filter(({ id }) => id !== skill.id);
  return { ...state, skills: [...others, skill] };
}

export function withoutSkill(state: LearntState, skill: LearntSkill): LearntState {
  const spent = [...new Set([...state.spent, ...skill.sessions, ...skill.uses.map(({ sessionId }) => sessionId)])];
  return { ...state, skills: state.skills.filter(({ id }) => id !== skill.id), spent: spent.slice(-MAX_SPENT) };
}

/** Writes the skill's file. `before`: the version in the file, which is kept beside it. */
export function written(
  skills: LearntSkills,
  skill: LearntSkill,
  before: LearntSkill | undefined,
): { readonly skill: LearntSkill; readonly files: readonly FileChange[] } {
  const text = skillText(skill);
  const kept: readonly FileChange[] =
    before === undefined
      ? []
      : [{ op: "write", path: skills.versionFile(before.name, before.version), text: skillText(before) }];
  const file: FileChange = { op: "write", path: skills.fileOf(skill.name), text };
  return { skill: { ...skill, hashes: [...new Set([...skill.hashes, hashOf(text)])] }, files: [...kept, file] };
}

/** The skill with a new version of its content, on trial. */
export function nextVersion(skill: LearntSkill, content: Omit<SkillContent, "version">): LearntSkill {
  const { version, description, applicableWhen, tools, bullets, score, changedAt } = skill;
  const old: SkillContent = { version, description, applicableWhen, tools, bullets, score, changedAt };
  const earlier = [...skill.earlier, old].slice(-KEPT_VERSIONS);
  return { ...skill, ...content, version: version + 1, earlier, state: "trial", uses: [] };
}

/** Retires the skill: its folder moves to the archive. */
export function retired(
  skills: LearntSkills,
  state: LearntState,
  { skill, cause, at }: { readonly skill: LearntSkill; readonly cause: Cause; readonly at: number },
): LearntChange {
  const gone: LearntSkill = { ...skill, state: "retired", reason: cause.reason, changedAt: at };
  return {
    state: withSkill(state, gone),
    files: [skills.archived(skill.name)],
    ledger: [ledgerRecord(skill, undefined, cause)],
  };
}

/** The version before returns; the first version is retired, and its sessions teach no new skill. */
export function takenBack(
  skills: LearntSkills,
  state: LearntState,
  change: { readonly skill: LearntSkill; readonly cause: Cause; readonly at: number },
): LearntChange {
  const { skill, cause, at } = change;
  const previous = skill.earlier.at(-1);
  if (previous === undefined) {
    const change = retired(skills, state, { skill, cause, at });
    return { ...change, state: { ...change.state, spent: withoutSkill(state, skill).spent } };
  }
  const earlier = skill.earlier.slice(0, -1);
  const back: LearntSkill = {
    ...skill,
    ...previous,
    earlier,
    changedAt: at,
    state: "active",
    uses: [],
    reason: cause.reason,
  };
  const { skill: stored, files } = written(skills, back, skill);
  return { state: withSkill(state, stored), files, ledger: [ledgerRecord(skill, stored, cause)] };
}
