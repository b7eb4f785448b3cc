/** Changes of one learnt skill, each with its files and its record in the ledger: versions, retirement and return. */
import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import { STANDING_FILE } from "../../skills/skill-files.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type {
  FileChange,
  LearntChange,
  LearntSkill,
  LearntSkills,
  LearntState,
  SkillContent,
} from "./learnt-skills.ts";
import { skillText } from "./skill-text.ts";

/** Versions of a skill that can return. */
const KEPT_VERSIONS = 5;
/** Sessions in the list of those that no new skill comes from. */
const MAX_SPENT = 5_000;

type Cause = { readonly actor: LearningChange["actor"]; readonly op: LearningChange["op"]; readonly reason: string };

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

/** File beside SKILL.md with what the skill cites, and with its doubt. */
export function standingFile(skills: LearntSkills, { name, cites, doubt }: LearntSkill): FileChange {
  const text = `${JSON.stringify({ cites, doubt: doubt?.reason })}\n`;
  return { op: "write", path: join(dirname(skills.fileOf(name)), STANDING_FILE), text };
}

/** Writes the skill's files. */
export function written(
  skills: LearntSkills,
  skill: LearntSkill,
): { readonly skill: LearntSkill; readonly files: readonly FileChange[] } {
  const text = skillText(skill);
  const file: FileChange = { op: "write", path: skills.fileOf(skill.name), text };
  const hashes = [...new Set([...skill.hashes, hash("sha256", text)])];
  return { skill: { ...skill, hashes }, files: [file, standingFile(skills, skill)] };
}

/** The skill without a doubt. */
export function sure({ doubt: _, ...skill }: LearntSkill): LearntSkill {
  return skill;
}

/** The skill with a new version of its content, on trial. */
export function nextVersion(skill: LearntSkill, content: Omit<SkillContent, "version">): LearntSkill {
  const { version, description, applicableWhen, tools, bullets, cites, score, changedAt } = skill;
  const old: SkillContent = { version, description, applicableWhen, tools, bullets, cites, score, changedAt };
  const earlier = [...skill.earlier, old].slice(-KEPT_VERSIONS);
  return { ...sure(skill), ...content, version: version + 1, earlier, state: "trial", uses: [] };
}

/** No session is offered the skill until one of its kind goes its way, or shows another one. */
export function doubted(
  skills: LearntSkills,
  state: LearntState,
  skill: LearntSkill,
  doubt: NonNullable<LearntSkill["doubt"]>,
): LearntChange {
  const after = { ...skill, doubt };
  const record = ledgerRecord(skill, after, { actor: "loop", op: "change", reason: doubt.reason });
  return { state: withSkill(state, after), files: [standingFile(skills, after)], ledger: [record] };
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
    const gone: LearntSkill = { ...skill, state: "retired", reason: cause.reason, changedAt: at };
    return {
      state: { ...withSkill(state, gone), spent: withoutSkill(state, skill).spent },
      files: [skills.archived(skill.name)],
      ledger: [ledgerRecord(skill, undefined, cause)],
    };
  }
  const earlier = skill.earlier.slice(0, -1);
  const back: LearntSkill = {
    ...sure(skill),
    ...previous,
    earlier,
    changedAt: at,
    state: "active",
    uses: [],
    reason: cause.reason,
  };
  const { skill: stored, files } = written(skills, back);
  return { state: withSkill(state, stored), files, ledger: [ledgerRecord(skill, stored, cause)] };
}
