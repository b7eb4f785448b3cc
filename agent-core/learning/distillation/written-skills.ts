/**
 * Skills of the home that people wrote, judged by the sessions that read them. One whose commands fail, or in whose place a
 * learnt way did the work, is offered to no model in that project, until the user enables it or edits it.
 */
import { stat } from "node:fs/promises";
import { readProcedure } from "../../skills/skill-files.ts";
import { type Skill, skillFile } from "../../skills/skill-places.ts";
import { changeRecord, readRecords, recordOf } from "../../skills/skill-records.ts";
import { isAbout, stepOf, wordsOf } from "../call-checks.ts";
import { spansIn } from "../rule-checks.ts";
import type { Cluster } from "./clusters.ts";
import type { LearntSkill } from "./learnt-skills.ts";
import { fateOf } from "./session-score.ts";
import { uses } from "./skill-of-cluster.ts";

/** Sessions in a row that speak against it: one failure may have another cause. */
const MIN_AGAINST = 2;

type Judged = {
  /** Skills of the home that the loop did not write. */
  readonly written: readonly Skill[];
  readonly learnt: readonly LearntSkill[];
  /** Oldest first. */
  readonly episodes: Cluster;
  /** Folder of the home's skills, absolute. */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Records each new doubt about a skill. Resolves to one line for the user about each. */
export async function judgeWritten({ written, learnt, episodes, folder, at }: Judged): Promise<readonly string[]> {
  const notices: string[] = [];
  const records = written.length === 0 ? {} : await readRecords(folder);
  for (const skill of written) {
    const readers = episodes.filter((episode) => uses(episode, skill));
    if (readers.length === 0) continue;
    const { mtimeMs } = await stat(skillFile(skill));
    const { doubts = {} } = recordOf(records, skill.name);
    for (const [project, own] of Map.groupBy(readers, ({ cwd }) => cwd)) {
      if ((doubts[project]?.at ?? 0) > mtimeMs) continue;
      const since = own.filter(({ endedAt }) => endedAt > mtimeMs);
      const others = learnt.filter((one) => one.project === project && one.doubt === undefined);
      const reason = reasonAgainst(skill, since, others);
      if (reason === undefined) continue;
      await changeRecord(folder, skill.name, (record) => {
        return { ...record, doubts: { ...record.doubts, [project]: { reason, at } } };
      });
      const where = `No longer offered to the model in ${project}: "${skill.name}".`;
      notices.push(`${where} ${reason}. \`/skills enable ${skill.name}\` offers it again.`);
    }
  }
  return notices;
}

/** Reason why the skill does not hold; undefined while nothing speaks against it. `readers`: oldest first. */
function reasonAgainst(skill: Skill, readers: Cluster, learnt: readonly LearntSkill[]): string | undefined {
  const programs = programsOf(skill);
  if (programs.length < 2) return undefined; // no procedure
  const words = wordsOf({ description: `${skill.name} ${skill.description}`, applicableWhen: [] });
  let against = 0;
  for (const episode of readers) {
    const fate = fateOf(programs, episode);
    const better = learnt.find(({ bullets }) => bullets.some(({ text }) => fateOf(spansIn(text), episode) === "held"));
    if (fate === "held") against = 0;
    else if (fate === "failed" || better !== undefined) against += 1;
    // People and models may describe one task in different languages: the names say it, too.
    const task = better && [episode.firstMessage, better.name, better.description].join(" ");
    const isSame = task !== undefined && fate !== "held" && isAbout(words, task);
    if (isSame) return `A session that read it did the work as in "${better?.name}"`;
    if (against === MIN_AGAINST) return `Its commands did not hold in ${MIN_AGAINST} sessions in a row that read it`;
  }
  return undefined;
}

/** Programs that the skill quotes, in their order. Their arguments vary, and a single word is in many texts by chance. */
function programsOf(skill: Skill): readonly string[] {
  const read = readProcedure(skill);
  const lines = read.ok ? spansIn(read.text).flatMap((span) => span.split("\n")) : [];
  return [...new Set(lines.map(stepOf))].filter((program) => /[ /]/.test(program));
}
