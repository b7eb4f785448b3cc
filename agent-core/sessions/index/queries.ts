/** Queries of the index, except the full-text search. */
import type { Database } from "sql.js";
import * as z from "zod";
import { sameFolderAs } from "../../platform/paths.ts";
import { IN_WORKTREE } from "../../protocol/worktrees.ts";
import { rows } from "./open-database.ts";
import { cutQuery, foldForSearch } from "./search-text.ts";

const session = z.object({
  id: z.string(),
  cwd: z.string(),
  title: z.string().nullable(),
  shelf: z.enum(["pinned", "archived"]).nullable(),
  model: z.string().nullable(),
  startedAt: z.number(),
  updatedAt: z.number(),
  /** Count of prompts and answers that were not taken back. */
  shownCount: z.number(),
  /** Position of the session's next message. */
  nextPosition: z.number(),
  /** `import` for an imported session; null for one that began here. */
  source: z.string().nullable(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** US dollars; null when unknown. */
  costUsd: z.number().nullable(),
});

/** A session as lists show it. Times are milliseconds since 1970. */
export type SessionSummary = z.infer<typeof session>;

const message = z.object({ position: z.number(), role: z.string(), text: z.string(), at: z.number() });

/** `position` counts from 0 in the session. `text` has at most 8,000 characters. */
export type IndexedMessage = z.infer<typeof message>;

const SESSION_COLUMNS = `id, cwd, title, shelf, model, started_at AS startedAt, updated_at AS updatedAt,
  shown_count AS shownCount, next_position AS nextPosition, source, input_tokens AS inputTokens, output_tokens AS outputTokens, cost_usd AS costUsd`;

/** Only sessions of the folder `cwd`; with `worktrees` also those of the same folder in worktrees. */
export type InFolder = { readonly cwd?: string | undefined; readonly worktrees?: boolean | undefined };

export type ListFilter = InFolder & {
  readonly limit: number;
  /** The last session of the previous page. */
  readonly after?: Pick<SessionSummary, "id" | "updatedAt"> | undefined;
  /** Only pinned or archived sessions, or only the others; `listed`: not archived. Default: all. */
  readonly shelf?: "pinned" | "archived" | "none" | "listed" | undefined;
  /** Leaves out this session. */
  readonly except?: string | undefined;
};

/** JSON list of the names that sessions have for a folder: its own, and those through links. Null for all folders. */
export function namesOfFolder(database: Database, { cwd: folder, worktrees = false }: InFolder): string | null {
  if (folder === undefined) return null;
  const named = rows(database, z.object({ cwd: z.string() }), "SELECT DISTINCT cwd FROM sessions", []);
  const isFolder = sameFolderAs(folder);
  const isOf = (cwd: string): boolean => isFolder(cwd) || (worktrees && isFolder(cwd.replace(IN_WORKTREE, "$1")));
  return JSON.stringify(["", ...named.map(({ cwd }) => cwd).filter(isOf)]);
}

/** Sessions with messages, the most recently used first. */
export function listSessions(
  database: Database,
  { limit, after, shelf, except, ...folder }: ListFilter,
): readonly SessionSummary[] {
  return rows(
    database,
    session,
    `SELECT ${SESSION_COLUMNS} FROM sessions
     WHERE is_readable AND next_position > 0 AND ($folders IS NULL OR cwd IN (SELECT value FROM json_each($folders))) AND ($except IS NULL OR id <> $except)
       AND ($shelf IS NULL OR coalesce(shelf, 'none') = $shelf OR ($shelf = 'listed' AND shelf IS NOT 'archived')) AND ($after IS NULL OR (updated_at, id) < ($at, $after))
     ORDER BY updated_at DESC, id DESC LIMIT $limit`,
    {
      $folders: namesOfFolder(database, folder),
      $after: after?.id ?? null,
      $at: after?.updatedAt ?? null,
      $except: except ?? null,
      $shelf: shelf ?? null,
      $limit: limit,
    },
  );
}

/** Undefined when the session is missing or unreadable. */
export function findSession(database: Database, id: string): SessionSummary | undefined {
  return rows(database, session, `SELECT ${SESSION_COLUMNS} FROM sessions WHERE is_readable AND id = ?`, [id])[0];
}

/** Title of each of these sessions that exists; null for one without a title. */
export function sessionTitles(
  database: Database,
  ids: readonly string[],
): readonly { readonly id: string; readonly title: string | null }[] {
  const row = z.object({ id: z.string(), title: z.string().nullable() });
  return rows(database, row, "SELECT id, title FROM sessions WHERE id IN (SELECT value FROM json_each(?))", [
    JSON.stringify(ids),
  ]);
}

/** A quoted phrase, or a word without a final `*`: the search finds any part of a title anyway. */
const TITLE_TERM = /"([^"]+)"|([^\s"]*[^\s"*])/g;

/** Sessions whose title has all these words and phrases, the most recently used first. */
export function titledSessions(
  database: Database,
  query: string,
  { limit, ...folder }: Pick<ListFilter, "cwd" | "worktrees" | "limit">,
): readonly SessionSummary[] {
  const words = [...foldForSearch(cutQuery(query)).matchAll(TITLE_TERM)].map(([, phrase, word = ""]) => phrase ?? word);
  if (words.length === 0) return [];
  const conditions = words.map(() => "AND folded_title LIKE ? ESCAPE '!'").join(" ");
  return rows(
    database,
    session,
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE is_readable AND next_position > 0 AND cwd IN (SELECT value FROM json_each(coalesce(?, json_array(cwd))))
     ${conditions} ORDER BY updated_at DESC, id DESC LIMIT ?`,
    [namesOfFolder(database, folder), ...words.map((word) => `%${word.replaceAll(/[%_!]/g, "!$&")}%`), limit],
  );
}

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number(),
  unpriced: z.number(),
  costUsd: z.number(),
});

/** `costUsd` is undefined when the cost of any session is unknown. */
export type IndexedUsage = Omit<z.infer<typeof usage>, "unpriced" | "costUsd"> & {
  readonly costUsd: number | undefined;
};

/** Total usage of all sessions used at or after `at`, without session `except`. */
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

/** Titles of this session and of all forks with the same origin. */
export function relatedTitles(database: Database, id: string): readonly string[] {
  const statement = `SELECT title FROM sessions WHERE title IS NOT NULL
    AND root = (SELECT root FROM sessions WHERE id = ?)`;
  return rows(database, z.object({ title: z.string() }), statement, [id]).map(({ title }) => title);
}
