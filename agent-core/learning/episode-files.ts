/** Files of episodes: Markdown that people read and edit, one for each session that has ended. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { replaceFile } from "../config/home-file.ts";
import { hasCode } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { isSessionId } from "../sessions/session-files.ts";
import {
  corrected,
  type Episode,
  episodeSchema,
  episodeText,
  episodeTime,
  limitWords,
  type ModelFields,
} from "./episode.ts";

/** Absolute path of a session's episode. */
export function episodePath(home: string, { sessionId }: Pick<Episode, "sessionId">): string {
  return join(episodesFolder(home), sessionId.slice(0, 4), sessionId.slice(4, 6), `${sessionId}.md`);
}

function episodesFolder(home: string): string {
  return join(learningFolder(home), "episodes");
}

/** Writes an episode. A summary that a person edited stays. Rejects when writing fails. */
export async function writeEpisode(home: string, episode: Episode, fields?: ModelFields): Promise<Episode> {
  const path = episodePath(home, episode);
  const before = await readEpisodeFile(path);
  const isEdited = before !== undefined && before.written !== hashOf(before.episode.summary);
  const kept = before !== undefined && before.episode.taskType !== "" ? before.episode : undefined;
  const { summary, taskType, outcome } = fields ?? kept ?? episode;
  const marked = corrected(episode, fields === undefined && kept !== undefined ? kept.corrections : []);
  const whole = { ...marked, taskType, outcome, summary: isEdited ? before.episode.summary : limitWords(summary) };
  makeFolder(dirname(path), 0o700);
  await replaceFile(path, formatEpisode(whole, isEdited ? before.written : hashOf(whole.summary)));
  return whole;
}

/** Replaces an episode with a shorter one, such as without something that the user had forgotten. */
export async function rewriteEpisode(home: string, episode: Episode): Promise<void> {
  await replaceFile(episodePath(home, episode), formatEpisode(episode, hashOf(`${episode.summary}.`)));
}

/** Episodes whose sessions ended between the two times (milliseconds since 1970), oldest first. */
export async function readEpisodes(
  home: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Episode[]> {
  const paths = await episodePaths(home, from, to);
  const read = await Promise.all(paths.map(readEpisode));
  return read
    .filter((episode) => episode !== undefined)
    .filter(({ endedAt }) => endedAt >= from && endedAt <= to)
    .toSorted((one, other) => one.endedAt - other.endedAt);
}

/** Undefined for a missing file, and for one that is no longer a valid episode. */
export async function readEpisode(path: string): Promise<Episode | undefined> {
  return (await readEpisodeFile(path))?.episode;
}

async function readEpisodeFile(path: string): Promise<EpisodeFile | undefined> {
  const written = await readFile(path, "utf8").catch(() => undefined);
  return written === undefined ? undefined : parseFile(written);
}

/** Part of an episode with which the first message of a session is matched. */
export type EpisodeBrief = Pick<Episode, "sessionId" | "endedAt" | "cwd" | "taskType" | "firstMessage" | "summary">;

/** Files as read last, by path. Each first message is matched with hundreds of episodes, which seldom change. */
const briefs = new Map<string, { readonly version: string; readonly brief: EpisodeBrief | undefined }>();
/** Several times the episodes that one message is matched with; of 1 kB each. */
const MAX_BRIEFS = 1_000;
/** Files between two tasks; they take about 2 ms. */
const FILES_PER_TASK = 50;

/** Reads the valid episodes for a match. The first request of a session waits for it. */
export async function readBriefs(paths: readonly string[]): Promise<readonly EpisodeBrief[]> {
  const read: (EpisodeBrief | undefined)[] = [];
  for (const [at, path] of paths.entries()) {
    if (at % FILES_PER_TASK === FILES_PER_TASK - 1) await setImmediate();
    read.push(await readBrief(path));
  }
  return read.filter((brief) => brief !== undefined);
}

/** Reads without the thread pool, which takes four times as long for small files. */
async function readBrief(path: string): Promise<EpisodeBrief | undefined> {
  let version: string;
  let written: string;
  try {
    const found = statSync(path, { bigint: true });
    version = `${found.ino} ${found.size} ${found.mtimeNs}`;
    const known = briefs.get(path);
    if (known?.version === version) return known.brief;
    written = readFileSync(path, "utf8");
  } catch {
    return undefined; // removed since, or not readable
  }
  const brief = briefOf(written) ?? (await parseFile(written))?.episode;
  if (briefs.size >= MAX_BRIEFS) briefs.clear();
  briefs.set(path, { version, brief });
  return brief;
}

const briefSchema = z
  .object({
    session: z.string().refine(isSessionId),
    ended: episodeTime,
    project: episodeText,
    task_type: episodeText,
    request: episodeText,
  })
  .transform(({ session, ended, project, task_type: taskType, request }) => {
    return { sessionId: session, endedAt: ended, cwd: project, taskType, firstMessage: request };
  });

/** Undefined for a file that a person wrote otherwise. A check of all fields takes several times as long. */
function briefOf(file: string): EpisodeBrief | undefined {
  const [head = "", matter = ""] = FRONT_MATTER.exec(file) ?? [];
  const brief = briefSchema.safeParse(jsonLines(matter)).data;
  return brief && { ...brief, summary: file.slice(head.length).trim() };
}

/** Time before its end that a session may have begun. Milliseconds. */
const LONGEST_SESSION_MS = 62 * 24 * 60 * 60 * 1_000;

/** Paths of the episodes of sessions that began in these months, oldest first. Rejects when a folder cannot be read. */
export async function episodePaths(home: string, from = 0, to = Number.MAX_SAFE_INTEGER): Promise<readonly string[]> {
  const folder = episodesFolder(home);
  const first = monthOf(from - LONGEST_SESSION_MS);
  const last = monthOf(to);
  const years = (await names(folder)).filter((year) => /^\d{4}$/.test(year)).toSorted();
  const months = await Promise.all(
    years.map(async (year) => (await names(join(folder, year))).toSorted().map((month) => ({ year, month }))),
  );
  const wanted = months.flat().filter(({ year, month }) => `${year}${month}` >= first && `${year}${month}` <= last);
  const files = await Promise.all(
    wanted.map(async ({ year, month }) => {
      const found = await names(join(folder, year, month));
      return found
        .filter((name) => name.endsWith(".md"))
        .toSorted()
        .map((name) => join(folder, year, month, name));
    }),
  );
  return files.flat();
}

/** `202611`, in UTC as the ids of sessions. */
function monthOf(at: number): string {
  const limited = Math.min(Math.max(at, 0), Date.UTC(9999, 11));
  return new Date(limited).toISOString().slice(0, 7).replace("-", "");
}

async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Keys of the front matter, in the order of the file, with the fields that they hold. */
const KEYS: Readonly<Record<string, keyof z.infer<typeof episodeSchema>>> = {
  session: "sessionId",
  begun: "at",
  ended: "endedAt",
  project: "cwd",
  folders: "folders",
  origin: "origin",
  task_type: "taskType",
  outcome: "outcome",
  score: "score",
  signals: "signals",
  request: "firstMessage",
  messages: "messages",
  corrections: "corrections",
  undone: "undone",
  commands: "commands",
  tools: "tools",
  paths: "paths",
  skills: "skills",
  stop_reasons: "stopReasons",
};

/** `written`: hash of the summary that the loop wrote. Each line is JSON, which is YAML too. */
function formatEpisode(episode: Episode, written: string): string {
  const { at, endedAt } = episode;
  const shown = { ...episode, at: new Date(at).toISOString(), endedAt: new Date(endedAt).toISOString() };
  const lines = Object.entries(KEYS).map(([key, field]) => `${key}: ${JSON.stringify(shown[field])}`);
  return `---\n${lines.join("\n")}\nwritten: "${written}"\n---\n\n${episode.summary}\n`;
}

type EpisodeFile = { readonly episode: Episode; readonly written: string };

/** Undefined when the text is not an episode. */
async function parseFile(file: string): Promise<EpisodeFile | undefined> {
  const [head, matter = ""] = FRONT_MATTER.exec(file) ?? [];
  if (head === undefined) return undefined;
  const values = jsonLines(matter) ?? (await yamlValues(matter));
  const fields = Object.entries(KEYS).map(([key, field]) => [field, values[key]]);
  const parsed = episodeSchema.safeParse(Object.fromEntries(fields)).data;
  if (parsed === undefined) return undefined;
  const summary = file.slice(head.length).trim();
  return { episode: { ...parsed, summary }, written: String(values["written"]) };
}

/** Undefined when a person wrote other YAML. Much faster than a parser of YAML. */
function jsonLines(matter: string): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const line of matter.split("\n")) {
    const [, key, json = ""] = /^(\w+): (.*?)\r?$/.exec(line) ?? [];
    const value = key === undefined ? undefined : parseJson(json);
    if (key === undefined || value === undefined) return undefined;
    values[key] = value;
  }
  return values;
}

async function yamlValues(matter: string): Promise<Record<string, unknown>> {
  const { parseYaml } = await import("../config/yaml.ts");
  try {
    return Object(parseYaml(matter));
  } catch {
    return {}; // the file counts as no episode
  }
}

function hashOf(summary: string): string {
  return createHash("sha256").update(summary.trim()).digest("hex").slice(0, 12);
}
