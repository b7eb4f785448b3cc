/** An episode: what one ended session was, computed from its journal without a model, but for the summary and the type of the task. */
import * as z from "zod";
import { typedText } from "../messages/message.ts";
import { oneLine } from "../platform/one-line.ts";
import { redact } from "../providers/redact.ts";
import { feedbackScore } from "../sessions/outcome-rates.ts";
import { isSessionId } from "../sessions/session-files.ts";
import { answerText } from "../sessions/shown-message.ts";
import type { Transcript } from "./transcript.ts";

/** Limits of an episode, which people read. */
const MAX_TOOLS = 400;
const MAX_LISTED = 100;
const MAX_TEXT_CHARS = 500;
const MAX_WORDS = 150;

/** A missing text is empty. */
export const episodeText = z.string().catch("");
const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly().catch([]);

export const episodeTime = z
  .union([z.string(), z.date()])
  .transform((date) => new Date(date).getTime())
  .pipe(z.number());

export const episodeSchema = z.object({
  sessionId: z.string().refine(isSessionId),
  /** Milliseconds since 1970: begin and end. A file has dates. */
  at: episodeTime,
  endedAt: episodeTime,
  /** Working folder, absolute. */
  cwd: episodeText,
  /** Further workspace folders, absolute. */
  folders: list(z.string()),
  origin: z.string().catch("user"),
  /** Short name in kebab case, `fix-tests`; empty: unknown. */
  taskType: episodeText,
  /** Of the model: `success`, `partial`, `failure`, or empty. */
  outcome: episodeText,
  firstMessage: episodeText,
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
export function corrected(episode: Episode, texts: readonly string[]): Episode {
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
