/**
 * Skills of the home that people wrote, judged by the sessions that read them. One whose commands fail is offered to no model
 * in that project, until a session shows that they hold, or the user enables or edits it.
 */
import { stat } from "node:fs/promises";
import { plainReaders } from "../../approval/rules/looks.ts";
import { isCheckCommand } from "../../sessions/session-outcomes.ts";
import { readProcedure } from "../../skills/skill-files.ts";
import { type Skill, skillFile } from "../../skills/skill-places.ts";
import { changeRecord, readRecords, recordOf } from "../../skills/skill-records.ts";
import { stepOf } from "../call-checks.ts";
import type { Episode } from "../episode.ts";
import { spansIn } from "../rule-checks.ts";
import type { Cluster } from "./clusters.ts";
import { uses } from "./skill-of-cluster.ts";

/** Sessions in a row that speak against it: one failure may have another cause. */
const MIN_AGAINST = 2;
const REASON = `Its commands did not hold in ${MIN_AGAINST} sessions in a row that read it`;

/**
 * Records each new doubt about a skill, and ends those that a later session refuted. `written`: skills of the home, whose folder
 * is `folder`, that the loop did not write; `episodes`: oldest first. Resolves to a line for the user about each new doubt.
 */
export async function judgeWritten(
  written: readonly Skill[],
  episodes: Cluster,
  folder: string,
  at: number,
): Promise<readonly string[]> {
  const notices: string[] = [];
  const records = await readRecords(folder);
  for (const skill of written.filter(({ name }) => episodes.some((episode) => uses(episode, { name })))) {
    const programs = programsOf(skill);
    const { mtimeMs } = await stat(skillFile(skill));
    const { doubts: known = {} } = recordOf(records, skill.name);
    const later = episodes.filter((episode) => uses(episode, skill) && episode.endedAt > mtimeMs);
    for (const [project, own] of Map.groupBy(later, ({ cwd }) => cwd)) {
      const recent = own.flatMap((episode) => isHeld(programs, episode) ?? []).slice(-MIN_AGAINST);
      const fails = recent.length === MIN_AGAINST && !recent.includes(true);
      const isDoubted = (known[project]?.at ?? 0) > mtimeMs;
      if (isDoubted ? recent.at(-1) !== true : !fails) continue;
      await changeRecord(folder, skill.name, ({ doubts, ...record }) => {
        const { [project]: _, ...others } = doubts ?? {};
        return { ...record, doubts: fails ? { ...others, [project]: { reason: REASON, at } } : others };
      });
      const where = `No longer offered to the model in ${project}: "${skill.name}".`;
      if (fails) notices.push(`${where} ${REASON}. \`/skills enable ${skill.name}\` offers it again.`);
    }
  }
  return notices;
}

/** False when one of the commands failed for good, and others passed after it. The last run of each counts. */
function isHeld(programs: readonly string[], { commands, corrections }: Episode): boolean | undefined {
  const runs = commands.flatMap(({ command, exit }) => command.split(" && ").map((part) => ({ part, exit })));
  const own = new Map(runs.map(({ part, exit }, at) => [stepOf(part), { part, exit, at }]));
  const last = programs.flatMap((program) => own.get(program) ?? []);
  const failed = last.find(({ part, exit }) => exit !== 0 && !isCheckCommand(part));
  if (failed === undefined) return (last.length > 0 && corrections.length === 0) || undefined;
  const isOther = ({ part, exit }: (typeof runs)[number]): boolean =>
    exit === 0 && !programs.includes(stepOf(part)) && !plainReaders.has(part.replace(/\s.*/, ""));
  return runs.slice(failed.at).some(isOther) ? false : undefined;
}

/** Programs that the skill quotes. Their arguments vary, and a single word is in many texts by chance. */
function programsOf(skill: Skill): readonly string[] {
  const read = readProcedure(skill);
  const lines = read.ok ? spansIn(read.text).flatMap((span) => span.split("\n")) : [];
  const programs = [...new Set(lines.map(stepOf))].filter((program) => /[ /]/.test(program));
  return programs.length < 2 ? [] : programs; // one command is no procedure
}
