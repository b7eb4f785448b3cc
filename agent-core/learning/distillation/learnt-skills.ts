/**
 * Skills that the loop wrote, with their versions, uses and counters, which are stored beside the skills. A change is written
 * into one file first and then carried out, so that a killed process carries it out at its next start.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { skillsFolder } from "../../config/home.ts";
import { readJsonFile, replaceFile, writeJsonFile } from "../../config/home-file.ts";
import type { Clock } from "../../platform/clock.ts";
import { withLock } from "../../platform/locks/file-lock.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import { SKILL_FILE } from "../../skills/skill.ts";
import { LEARNT_CATEGORY } from "../../skills/skill-library.ts";
import { skillRecords } from "../call-checks.ts";
import type { LearningChange, LearningLedger } from "../learning-ledger.ts";
import { bulletSchema, deltaSchema } from "./proposal.ts";
import { scoredUse } from "./session-score.ts";

const names = z.array(z.string()).readonly();

/** Parts of a skill that its SKILL.md is made of. */
const contentSchema = z.object({
  version: z.number(),
  description: z.string(),
  applicableWhen: names,
  tools: names,
  bullets: z.array(bulletSchema).readonly(),
  /** Texts of its steps that files of the project show: `bin/README: bin/publish`. */
  cites: names.default([]),
  /** Mean score of the sessions that it comes from. */
  score: z.number().nullable(),
  /** Milliseconds since 1970. */
  changedAt: z.number(),
});
export type SkillContent = z.infer<typeof contentSchema>;

const skillSchema = contentSchema.extend({
  /** `s-<name>`. */
  id: z.string(),
  name: z.string(),
  /** Folder of the project, absolute. */
  project: z.string(),
  state: z.enum(["trial", "active", "proposed", "retired"]),
  createdAt: z.number(),
  /** Number of the next bullet. */
  nextBullet: z.number(),
  /** Sessions that it comes from, oldest first. */
  sessions: names,
  /** Of this version. */
  uses: z.array(scoredUse).readonly(),
  pinned: z.boolean(),
  reason: z.string(),
  /** No session is offered it until one goes its way. `at`: milliseconds since 1970. `byHarm`: no fact or file is the reason. */
  doubt: z.object({ at: z.number(), reason: z.string(), byHarm: z.boolean().exactOptional() }).exactOptional(),
  /** Versions before this one, oldest first. */
  earlier: z.array(contentSchema).readonly(),
  /** SHA-256 of every SKILL.md that the loop wrote. Any other text is the user's. */
  hashes: names,
  /** Change of a file of the user, which waits for the user. `path`: absolute; `bullets`: those that the deltas name. */
  proposal: z
    .object({ path: z.string(), deltas: z.array(deltaSchema).readonly(), bullets: z.array(bulletSchema).readonly() })
    .exactOptional(),
});
export type LearntSkill = z.infer<typeof skillSchema>;

const fileChangeSchema = z.discriminatedUnion("op", [
  z.object({ op: z.literal("write"), path: z.string(), text: z.string() }),
  z.object({ op: z.literal("move"), path: z.string(), to: z.string() }),
  /** A folder with everything in it. */
  z.object({ op: z.literal("remove"), path: z.string() }),
]);
export type FileChange = z.infer<typeof fileChangeSchema>;

const stateSchema = z.object({
  skills: z.array(skillSchema).readonly(),
  /** Sessions of retired and forgotten skills, which no new skill comes from. */
  spent: names,
  /** Work of a local day, `2026-11-23`. `sessions`: those whose clusters are done. */
  daily: z.object({
    day: z.string(),
    sessions: names,
    isDone: z.boolean(),
  }),
  lastRun: z.object({ at: z.number(), result: z.string() }).nullable(),
  pending: z
    .object({
      at: z.number(),
      files: z.array(fileChangeSchema).readonly(),
      ledger: z.array(z.custom<LearningChange>((value) => typeof value === "object" && value !== null)).readonly(),
    })
    .nullable(),
});
export type LearntState = Omit<z.infer<typeof stateSchema>, "pending">;

const EMPTY: z.infer<typeof stateSchema> = {
  skills: [],
  spent: [],
  daily: { day: "", sessions: [], isDone: false },
  lastRun: null,
  pending: null,
};

export type LearntChange = {
  readonly state: LearntState;
  readonly files?: readonly FileChange[];
  readonly ledger?: readonly LearningChange[];
};

export class LearntSkills {
  readonly #path: string;
  readonly #skills: string;
  readonly #ledger: LearningLedger;
  readonly #clock: Pick<Clock, "now">;

  constructor(home: string, ledger: LearningLedger, clock: Pick<Clock, "now">) {
    this.#path = skillRecords(home);
    this.#skills = skillsFolder(home);
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** Folder of the home's skills, absolute. */
  get folder(): string {
    return this.#skills;
  }

  /** SKILL.md of a learnt skill, absolute. */
  fileOf(name: string): string {
    return join(this.#skills, LEARNT_CATEGORY, name, SKILL_FILE);
  }

  async read(): Promise<LearntState> {
    return this.#read();
  }

  /** Changes the state, its files and the ledger as one, after what a killed process left unfinished. Rejects when writing fails; the next call completes it. */
  async change(
    make: (state: LearntState) => Promise<LearntChange | undefined> | LearntChange | undefined,
  ): Promise<void> {
    makeFolder(dirname(this.#path), 0o700);
    await withLock(`${this.#path}.lock`, async () => {
      await this.#complete();
      const change = await make(await this.#read());
      if (change === undefined) return;
      const { state, files = [], ledger = [] } = change;
      await writeJsonFile(this.#path, { ...state, pending: { at: this.#clock.now(), files, ledger } });
      await this.#complete();
    });
  }

  /** Text of a learnt skill's file: of the loop, changed by somebody else, or missing. */
  async standingOf({ name, hashes }: Pick<LearntSkill, "name" | "hashes">): Promise<"own" | "edited" | "missing"> {
    const text = await readFile(this.fileOf(name), "utf8").catch(() => undefined);
    if (text === undefined) return "missing";
    return hashes.includes(hash("sha256", text)) ? "own" : "edited";
  }

  /** Move of a skill's folder out of the used ones. */
  archived(name: string): FileChange {
    const to = join(this.#skills, ".archive", `${name}-${this.#clock.now()}`);
    return { op: "move", path: dirname(this.fileOf(name)), to };
  }

  /** Removal of the skill's folder and of its archived ones. A file that the user edited goes to the archive instead. */
  async forgotten(skill: Pick<LearntSkill, "name" | "hashes">): Promise<readonly FileChange[]> {
    const { name } = skill;
    const archive = join(this.#skills, ".archive");
    const archived = (await readdir(archive).catch(() => []))
      .filter((folder) => folder.startsWith(`${name}-`) && /^\d+$/.test(folder.slice(name.length + 1)))
      .map((folder): FileChange => ({ op: "remove", path: join(archive, folder) }));
    const isEdited = (await this.standingOf(skill)) === "edited";
    return [...archived, isEdited ? this.archived(name) : { op: "remove", path: dirname(this.fileOf(name)) }];
  }

  async #read(): Promise<z.infer<typeof stateSchema>> {
    return stateSchema.safeParse(await readJsonFile(this.#path)).data ?? EMPTY;
  }

  /** Repeats harmlessly what a killed process had already done. */
  async #complete(): Promise<void> {
    const { pending, ...state } = await this.#read();
    if (pending === null) return;
    for (const file of pending.files) await carryOut(file);
    await this.#record(pending.ledger, pending.at);
    await writeJsonFile(this.#path, { ...state, pending: null });
  }

  async #record(changes: readonly LearningChange[], since: number): Promise<void> {
    if (changes.length === 0) return;
    const key = ({ op, target, before, after, reason }: LearningChange): string =>
      JSON.stringify([op, target, before, after, reason]);
    const known = new Set((await this.#ledger.read()).filter(({ at }) => at >= since).map(key));
    await this.#ledger.append(changes.filter((change) => !known.has(key(change))));
  }
}

async function carryOut(change: FileChange): Promise<void> {
  const { path } = change;
  if (change.op === "write") {
    makeFolder(dirname(path), 0o700);
    const before = await readFile(path, "utf8").catch(() => undefined);
    if (before !== change.text) await replaceFile(path, change.text);
    return;
  }
  if (!existsSync(path)) return;
  if (change.op === "remove") await rm(path, { recursive: true });
  else {
    makeFolder(dirname(change.to), 0o700);
    await rename(path, change.to);
  }
  // A category without a skill would be listed as a broken skill.
  await rmdir(dirname(path)).catch(() => undefined);
}
