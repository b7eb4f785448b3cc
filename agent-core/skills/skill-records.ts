/** Use counts of skills, in one file in the home's skills folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readJsonFile, replaceFile } from "../config/home-file.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";

const RECORDS_FILE = ".usage.json";

const recordSchema = z.object({
  /** Turns in which the skill's text reached the model. */
  uses: z.number().catch(0),
  /** Uses whose turns ended without an error or a cancel, and whose edits the user did not undo. */
  successes: z.number().catch(0),
  /** ISO time of the last use. */
  lastUsed: z.string().exactOptional(),
  /** Projects, as absolute folders, in which its steps did not hold. `at`: milliseconds since 1970. */
  doubts: z.record(z.string(), z.object({ reason: z.string(), at: z.number() })).exactOptional(),
});

const recordsSchema = z.record(z.string(), recordSchema);

export type SkillRecord = z.infer<typeof recordSchema>;
export type SkillRecords = Readonly<Record<string, SkillRecord>>;

const NO_RECORD: SkillRecord = { uses: 0, successes: 0 };

export function recordOf(records: SkillRecords, name: string): SkillRecord {
  return Object.hasOwn(records, name) ? (records[name] ?? NO_RECORD) : NO_RECORD;
}

/** Records of all skills, by name. A damaged file counts as empty. */
export async function readRecords(skillsFolder: string): Promise<SkillRecords> {
  const path = join(skillsFolder, RECORDS_FILE);
  return existsSync(path) ? (recordsSchema.safeParse(await readJsonFile(path)).data ?? {}) : {};
}

/** Changes the record of one skill, also between other processes. Rejects when writing fails. */
export async function changeRecord(
  skillsFolder: string,
  name: string,
  change: (record: SkillRecord) => SkillRecord,
): Promise<void> {
  makeFolder(skillsFolder, 0o700);
  const path = join(skillsFolder, RECORDS_FILE);
  await withLock(`${path}.lock`, async () => {
    const records = await readRecords(skillsFolder);
    const changed = { ...records, [name]: change(recordOf(records, name)) };
    await replaceFile(path, `${JSON.stringify(changed, undefined, 2)}\n`);
  });
}
