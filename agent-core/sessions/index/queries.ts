/** What the index is asked, but for searches in what was said. */
import type { Database } from "sql.js";
import * as z from "zod";
import { folded } from "./folded.ts";
import { cutQuery } from "./match-expression.ts";
import { rows } from "./rows.ts";

const session = z.object({
  id: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  model: z.string().nullable(),
  startedAt: z.number(),
  updatedAt: z.number(),
  /** Prompts and answers that stand: what the user sees of it. */
  shownCount: z.number(),
  /** The place that its next message has. */
  nextPosition: z.number(),
  /** Where it was brought over from; null: it began here. */
  source: z.string().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** In US dollars; null when it is unknown. */
  costUsd: z.number().nullable(),
});

/** A session as lists show it; times are milliseconds since 1970. */
export type SessionSummary = z.infer<typeof session>;

const message = z.object({ position: z.number(), role: z.string(), text: z.string(), at: z.number() });

/** `position` counts from 0 in its session; `text` is cut at 8,000 characters. */
export type IndexedMessage = z.infer<typeof message>;

const SESSION_COLUMNS = `id, cwd, title, model, started_at AS startedAt, updated_at AS updatedAt,
  shown_count AS shownCount, next_position AS nextPosition, source, input_tokens AS inputTokens, output_tokens AS outputTokens, cost_usd AS costUsd`;

export type ListFilter = {
  readonly limit: number;
  /** Only sessions of this folder. */
  readonly cwd?: string | undefined;
  /** Where the list goes on: behind the place that a session had when it was listed. */
  readonly after?: Pick<SessionSummary, "id" | "updatedAt"> | undefined;
  /** Not this session. */
  readonly except?: string | undefined;
};

/** Sessions with messages, the last used first. */
export function listSessions(database: Database, { limit, cwd, after, except }: ListFilter): readonly SessionSummary[] {
  return rows(
    database,
    session,
    `SELECT ${SESSION_COLUMNS} FROM sessions
     WHERE is_readable AND next_position > 0 AND ($cwd IS NULL OR cwd IN ($cwd, '')) AND ($except IS NULL OR id <> $except)
       AND ($after IS NULL OR (updated_at, id) < ($at, $after))
     ORDER BY updated_at DESC, id DESC LIMIT $limit`,
    {
      $cwd: cwd ?? null,
      $after: after?.id ?? null,
      $at: after?.updatedAt ?? null,
      $except: except ?? null,
      $limit: limit,
    },
  );
}

/** Undefined when there is no such session, or none that can be read. */
export function findSession(database: Database, id: string): SessionSummary | undefined {
  return rows(database, session, `SELECT ${SESSION_COLUMNS} FROM sessions WHERE is_readable AND id = ?`, [id])[0];
}

/** A quoted phrase, else a word with what belongs to it, but for a `*` at its end: any part of a title is found anyway. */
const TITLE_TERM = /"([^"]+)"|([^\s"]*[^\s"*])/g;

/** Sessions whose title has all of these words and quoted phrases, the last used first. */
export function titledSessions(
  database: Database,
  query: string,
  { cwd, limit }: Pick<ListFilter, "cwd" | "limit">,
): readonly SessionSummary[] {
  const words = [...folded(cutQuery(query)).matchAll(TITLE_TERM)].map(([, phrase, word = ""]) => phrase ?? word);
  if (words.length === 0) return [];
  const conditions = words.map(() => "AND folded_title LIKE ? ESCAPE '!'").join(" ");
  return rows(
    database,
    session,
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE is_readable AND next_position > 0 AND (? IS NULL OR cwd IN (?, ''))
     ${conditions} ORDER BY updated_at DESC, id DESC LIMIT ?`,
    [cwd ?? null, cwd ?? null, ...words.map((word) => `%${word.replaceAll(/[%_!]/g, "!$&")}%`), limit],
  );
}

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number(),
  unpriced: z.number(),
  costUsd: z.number(),
});

/** `costUsd` is undefined when that of any session is unknown. */
export type IndexedUsage = Omit<z.infer<typeof usage>, "unpriced" | "costUsd"> & {
  readonly costUsd: number | undefined;
};

/** What the sessions took that were used at or after `at`, but for `except`: each as a whole. */
export function usageSince(database: Database, at: number, except: string): IndexedUsage {
  const [sum] = rows(
    database,
    usage,
    `SELECT coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
       coalesce(sum(cached_input_tokens), 0) AS cachedInputTokens, coalesce(sum(cost_usd), 0) AS costUsd,
       coalesce(sum(cost_usd IS NULL), 0) AS unpriced
     FROM sessions WHERE updated_at >= ? AND id <> ?`,
    [at, except],
  );
  const { unpriced = 0, costUsd = 0, ...tokens } = sum ?? { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  return { ...tokens, costUsd: unpriced > 0 ? undefined : costUsd };
}

/** Messages of a session from position `from` to `to`, both included. */
export function messagesBetween(database: Database, id: string, from: number, to: number): readonly IndexedMessage[] {
  return rows(
    database,
    message,
    `SELECT position, role, text, at FROM messages JOIN texts USING (id)
     WHERE session = (SELECT number FROM sessions WHERE id = ?) AND position BETWEEN ? AND ? ORDER BY position`,
    [id, from, to],
  );
}

/** Titles of the sessions that share their beginning with this one, itself included. */
export function relatedTitles(database: Database, id: string): readonly string[] {
  const statement = `SELECT title FROM sessions WHERE title IS NOT NULL
    AND root = (SELECT root FROM sessions WHERE id = ?)`;
  return rows(database, z.object({ title: z.string() }), statement, [id]).map(({ title }) => title);
}
