/** The learnt skills as the user sees them, and the user's actions: undo, forget, pin, and consent to a proposal. */
import { readFile } from "node:fs/promises";
import { valuesIn } from "../../memory/statement.ts";
import type { LearntAction, LearntItem } from "../../protocol/learning.ts";
import { parseSkill } from "../../skills/skill.ts";
import { readRecords, recordOf, type SkillRecords } from "../../skills/skill-records.ts";
import type { LearntOutcome, LearntStore, LoopPorts } from "../loop.ts";
import type { LearntChange, LearntSkill, LearntSkills, LearntState } from "./learnt-skills.ts";
import { meanOf } from "./session-score.ts";
import { ledgerRecord, standingFile, sure, takenBack, withoutSkill, withSkill, written } from "./skill-changes.ts";
import { withDeltasIn } from "./skill-text.ts";

type Done = LearntChange & { readonly message: string; readonly isRefused?: true };

export function learntStore(skills: LearntSkills, { ledger, clock }: Pick<LoopPorts, "ledger" | "clock">): LearntStore {
  return {
    async items() {
      const [state, records] = await Promise.all([skills.read(), readRecords(skills.folder)]);
      const items = state.skills.map((skill) => skillItem(skill, skills, records));
      return items.toSorted((one, other) => other.at - one.at);
    },
    async act(id, action) {
      let outcome: LearntOutcome | undefined;
      await skills.change(async (state) => {
        const skill = state.skills.find((each) => each.id === id);
        const done = skill && (await actOnSkill({ skills, state, at: clock.now() }, skill, action));
        outcome = done && { ok: done.isRefused !== true, message: done.message };
        return done;
      });
      if (action === "forget" && outcome?.ok === true) await ledger.forget(id);
      return outcome;
    },
    async forgetSession(sessionId) {
      await forgetThose(({ sessions }) => sessions.includes(sessionId), [sessionId]);
    },
    async forgetFact({ text, sessions }) {
      const values = valuesIn(text);
      if (values.size > 0) await forgetThose((skill) => holdsAll(skill, values), sessions);
    },
  };

  /** Forgets skills. Their sessions may teach them anew, without the `spent` ones. */
  async function forgetThose(isMeant: (skill: LearntSkill) => boolean, spent: readonly string[]): Promise<void> {
    for (const skill of (await skills.read()).skills.filter(isMeant)) {
      await skills.change(async (state) => {
        const { state: without, ...done } = await forget({ skills, state, at: clock.now() }, skill);
        return { ...done, state: { ...without, spent: [...state.spent, ...spent] } };
      });
      await ledger.forget(skill.id);
    }
  }
}

/** True for a skill of which one step, in any of its versions, holds all these values. */
function holdsAll(skill: LearntSkill, values: ReadonlySet<string>): boolean {
  const steps = [skill, ...skill.earlier].flatMap(({ bullets }) => bullets);
  return steps.some(({ text }) => [...values].every((value) => text.toLowerCase().includes(value)));
}

function skillItem(skill: LearntSkill, skills: LearntSkills, records: SkillRecords): LearntItem {
  const { id, name, description, project, reason, sessions, changedAt, state, pinned, version, uses, proposal, doubt } =
    skill;
  const isRetired = state === "retired";
  const shown = isRetired ? [] : ([pinned ? "unpin" : "pin"] as const);
  return {
    id,
    loop: "distillation",
    kind: "skill",
    scope: project,
    reason:
      doubt === undefined ? reason : `Not offered now: ${doubt.reason}. A session that goes its way brings it back.`,
    sessions,
    at: changedAt,
    pinned,
    text: [`${name}: ${description}`, ...proposedLines(skill)].join("\n"),
    seen: sessions.length,
    used: recordOf(records, name).uses,
    state: proposal === undefined ? state : "proposed",
    ...(isRetired || isNew(skill, skills) ? {} : { path: proposal?.path ?? skills.fileOf(name) }),
    version: String(version),
    score: meanOf(uses.map(({ score }) => score)),
    uses: uses.length,
    actions: [...(proposal === undefined ? [] : (["accept"] as const)), "undo", ...shown, "forget"],
  };
}

/** True for a new skill that waits for consent: it has no file yet. */
function isNew({ name, state, proposal }: LearntSkill, skills: LearntSkills): boolean {
  return state === "proposed" && proposal?.path === skills.fileOf(name);
}

/** Statements of the proposed change. */
function proposedLines({ proposal }: LearntSkill): readonly string[] {
  return (proposal?.deltas ?? []).map((delta) => {
    if (delta.op === "add") return `+ ${delta.text}`;
    const before = proposal?.bullets.find(({ id }) => id === delta.id)?.text ?? delta.id;
    return delta.op === "remove" ? `− ${before}` : `− ${before}\n+ ${delta.text}`;
  });
}

type Surroundings = { readonly skills: LearntSkills; readonly state: LearntState; readonly at: number };

async function actOnSkill(where: Surroundings, skill: LearntSkill, action: LearntAction): Promise<Done> {
  const { state } = where;
  switch (action) {
    case "pin":
    case "unpin": {
      const isPinned = action === "pin";
      const pinned = { ...sure(skill), pinned: isPinned, cites: isPinned ? [] : skill.cites };
      const cause = { actor: "user", op: action, reason: "The user said so." } as const;
      const message = isPinned ? "is never changed or retired by itself" : "may change by itself again";
      const files = skill.state === "proposed" ? [] : [standingFile(where.skills, pinned)];
      const ledger = [ledgerRecord(skill, pinned, cause)];
      return { state: withSkill(state, pinned), files, ledger, message: `"${skill.name}" ${message}.` };
    }
    case "accept":
    case "both":
      return accept(where, skill);
    case "undo":
      return undo(where, skill);
    case "forget":
      return forget(where, skill);
  }
}

/** Removes the file and the record. The sessions that it came from teach no new skill. */
async function forget({ skills, state }: Surroundings, skill: LearntSkill): Promise<Done> {
  const cause = { actor: "user", op: "forget", reason: "The user said so." } as const;
  const record = { ...ledgerRecord(skill, undefined, cause), before: null };
  const files = skill.state === "proposed" ? [] : await skills.forgotten(skill);
  return { state: withoutSkill(state, skill), files, ledger: [record], message: `Forgotten: "${skill.name}".` };
}

/** Takes back the last change: a proposal, a retirement, or a version. */
async function undo(where: Surroundings, skill: LearntSkill): Promise<Done> {
  const { skills, state, at } = where;
  const { proposal, ...rest } = skill;
  const cause = { actor: "user", op: "undo", reason: "The user took it back." } as const;
  if (proposal !== undefined) {
    const isUsers = skill.state === "proposed";
    return {
      state: isUsers ? withoutSkill(state, skill) : withSkill(state, rest),
      message: `The change of "${skill.name}" is dropped.`,
    };
  }
  if (skill.state === "retired") {
    const back: LearntSkill = { ...skill, state: "active", changedAt: at, uses: [], reason: cause.reason };
    const { skill: stored, files } = written(skills, back);
    const ledger = [ledgerRecord(undefined, stored, cause)];
    return { state: withSkill(state, stored), files, ledger, message: `"${skill.name}" is used again.` };
  }
  if ((await skills.standingOf(skill)) === "edited") {
    const message = `You edited "${skill.name}". Change or delete ${skills.fileOf(skill.name)} yourself.`;
    return { state, message, isRefused: true };
  }
  const previous = skill.earlier.at(-1);
  const message =
    previous === undefined ? `"${skill.name}" is removed.` : `"${skill.name}" is version ${previous.version} again.`;
  return { ...takenBack(skills, state, { skill, cause, at }), message };
}

/** Writes a proposed change into the user's file, as it is now. */
async function accept({ skills, state, at }: Surroundings, skill: LearntSkill): Promise<Done> {
  const { proposal, ...rest } = skill;
  if (proposal === undefined) return { state, message: `"${skill.name}" has no proposed change.`, isRefused: true };
  if (isNew(skill, skills)) {
    const { skill: stored, files } = written(skills, { ...rest, state: "trial", changedAt: at });
    const cause = { actor: "user", op: "add", reason: "The user accepted it." } as const;
    const ledger = [ledgerRecord(undefined, stored, cause)];
    return { state: withSkill(state, stored), files, ledger, message: `"${skill.name}" is on trial now.` };
  }
  const before = await readFile(proposal.path, "utf8").catch(() => undefined);
  if (before === undefined) return { state, message: `${proposal.path} cannot be read.`, isRefused: true };
  const text = withDeltasIn(before, proposal.deltas, proposal.bullets);
  const parsed = await parseSkill(text, skill.name);
  if (!parsed.ok) return { state, message: `The changed skill would not load: ${parsed.reason}.`, isRefused: true };
  const cause = { actor: "user", op: "change", reason: "The user accepted the change." } as const;
  return {
    // A skill of the user does not become one of the loop.
    state: skill.state === "proposed" ? withoutSkill(state, skill) : withSkill(state, rest),
    files: [{ op: "write", path: proposal.path, text }],
    ledger: [ledgerRecord(skill, rest, cause)],
    message: `"${skill.name}" is changed.`,
  };
}
