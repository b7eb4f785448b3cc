/**
 * Episodes: one for each session that has ended, as a Markdown file that people read and edit. Everything but the summary
 * and the type of the task is computed from the journal, without a model.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { replaceFile } from "../config/home-file.ts";
import { typedText } from "../messages/message.ts";
import { hasCode } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { oneLine } from "../platform/one-line.ts";
import { redact } from "../providers/redact.ts";
import { feedbackScore } from "../sessions/outcome-rates.ts";
import { isSessionId } from "../sessions/session-files.ts";
import { answerText } from "../sessions/shown-message.ts";
import type { Transcript } from "./transcript.ts";

/** Limits of an episode's file, which people read. */
const MAX_TOOLS = 400;
const MAX_LISTED = 100;
const MAX_TEXT_CHARS = 500;
const MAX_WORDS = 150;

const text = z.string().catch("");
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly().catch([]);

const time = z
  .union([z.string(), z.date()])
  .transform((date) => new Date(date).getTime())
  .pipe(z.number());

const episodeSchema = z.object({
  sessionId: z.string().refine(isSessionId),
  /** Milliseconds since 1970: begin and end. A file has dates. */
  at: time,
  endedAt: time,
  /** Working folder, absolute. */
  cwd: text,
  /** Further workspace folders, absolute. */
  folders: list(z.string()),
  origin: z.string().catch("user"),
  /** Short name in kebab case, `fix-tests`; empty: unknown. */
  taskType: text,
  /** Of the model: `success`, `partial`, `failure`, or empty. */
  outcome: text,
  firstMessage: text,
  /** Messages of the user. */
  messages: z.number().catch(0),
  /** Names of the called tools, in order. */
  tools: list(z.string()),
  /** Absolute paths that were edited or read, each once. */
  paths: list(z.string()),
  /** Shell commands in order; `exit`: null when a signal ended it. */
  commands: list(z.object({ command: z.string(), exit: z.number().nullable() })),
  /** Feedback score from 0 to 1, and the number of signals behind it; null without any. */
  score: z.number().nullable().catch(null),
  signals: z.number().catch(0),
  /** Messages with which the user corrected an answer. */
  corrections: list(z.string()),
  /** Lines of edits that the user undid, or wrote anew. */
  undone: list(z.object({ path: z.string(), lines: z.number(), retyped: z.boolean() })),
  /** Skills that reached the model whole, as `name@version`. */
  skills: list(z.string()),
  /** Of each turn. */
  stopReasons: list(z.string()),
});

export type Episode = z.infer<typeof episodeSchema> & {
  /** At most 150 words. */
  readonly summary: string;
};

/** Part of an episode that a model writes. `corrections`: positions of the messages that reject a result, or their number. */
export type ModelFields = Pick<Episode, "summary" | "taskType" | "outcome"> & {
  readonly corrections?: readonly number[] | number | undefined;
};

/** Episode of a session, as far as the journal shows it. Undefined without a message of the user. */
export function episodeOf(transcript: Transcript): Episode | undefined {
  const { sessionId, at, endedAt, cwd, folders, origin, messages, happened, own } = transcript;
  const asked = messages.filter(({ message }) => message.role === "user" && message.synthetic !== true);
  const [first] = asked;
  if (first === undefined) return undefined;
  const { score, signals } = feedbackScore(own);
  const calls = happened.filter((entry) => entry.type === "tool");
  const verdicts = happened.filter((entry) => entry.type === "verdict" && entry.outcome !== "kept");
  return {
    sessionId,
    at,
    endedAt,
    cwd,
    folders,
    origin,
    score,
    signals,
    taskType: "",
    outcome: "",
    messages: asked.length,
    firstMessage: shortened(wordsOf(first)),
    summary: plainSummary(transcript, wordsOf(first)),
    tools: calls.map(({ name }) => name).slice(0, MAX_TOOLS),
    paths: [...new Set(calls.flatMap(({ locations }) => locations.map(({ path }) => path)))].slice(0, MAX_LISTED),
    commands: calls
      .flatMap(({ command }) =>
        command === undefined ? [] : [{ command: shortened(command.text), exit: command.exit }],
      )
      .slice(-MAX_LISTED),
    corrections: correctedBy(asked, verdicts)
      .map((one) => shortened(wordsOf(one)))
      .slice(-MAX_LISTED),
    undone: verdicts
      .flatMap((entry) =>
        entry.type === "verdict"
          ? [{ path: entry.path, lines: entry.lines, retyped: entry.outcome === "retyped" }]
          : [],
      )
      .slice(-MAX_LISTED),
    skills: [
      ...new Set(
        happened.flatMap((entry) =>
          entry.type === "skill-use" && entry.how !== "offered" ? [`${entry.name}@${entry.version}`] : [],
        ),
      ),
    ],
    stopReasons: happened.flatMap((entry) => (entry.type === "turn-end" ? [entry.stopReason] : [])),
  };
}

type Asked = Transcript["messages"][number];

/** Messages that follow an edit which the user took back. */
function correctedBy(asked: readonly Asked[], undone: readonly { readonly at: number }[]): readonly Asked[] {
  return asked.filter(({ at }, index) => {
    const before = asked[index - 1]?.at;
    return before !== undefined && undone.some((verdict) => verdict.at >= before && verdict.at <= at);
  });
}

/** The episode with the corrections that the model names as well; of a number without positions the last messages count. */
export function withCorrections(
  episode: Episode,
  { messages }: Pick<Transcript, "messages">,
  named: ModelFields["corrections"] = [],
): Episode {
  const [, ...later] = messages.filter(({ message }) => message.role === "user" && message.synthetic !== true);
  const chosen =
    typeof named === "number"
      ? later.slice(later.length - Math.min(named, later.length))
      : later.filter(({ position }) => named.includes(position));
  return corrected(
    episode,
    chosen.map((one) => shortened(wordsOf(one))),
  );
}

/** The episode with these corrections as well. Each one is a signal against the session. */
function corrected(episode: Episode, texts: readonly string[]): Episode {
  const corrections = [...new Set([...episode.corrections, ...texts])];
  const more = corrections.length - episode.corrections.length;
  if (more === 0) return episode;
  const signals = episode.signals + more;
  const score = ((episode.score ?? 0) * episode.signals) / signals;
  return { ...episode, corrections: corrections.slice(-MAX_LISTED), signals, score };
}

/** The words that the user typed. */
function wordsOf({ message }: Asked): string {
  return message.role === "user" ? typedText(message.content) : "";
}

/** Summary without a model: the request, and the last answer. */
function plainSummary({ messages }: Transcript, request: string): string {
  const last = messages.findLast(({ message }) => message.role === "assistant" && Boolean(message.content))?.message;
  const answer = last?.role === "assistant" ? answerText(last) : "";
  const parts = [`Asked: ${shortened(request)}`, ...(answer === "" ? [] : [`Answered: ${shortened(answer)}`])];
  return limitWords(redact(parts.join("\n\n")));
}

/** One line without secrets. */
function shortened(value: string): string {
  return oneLine(redact(value), MAX_TEXT_CHARS);
}

/** Text of at most 150 words. */
export function limitWords(value: string): string {
  const words = [...value.matchAll(/\S+/g)];
  const last = words[MAX_WORDS];
  return last === undefined ? value.trim() : `${value.slice(0, last.index).trim()} …`;
}

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
  .object({ session: z.string().refine(isSessionId), ended: time, project: text, task_type: text, request: text })
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
