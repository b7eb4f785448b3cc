/** Searching in what was said: the rows that have the words are ranked first, and only the best are read. */
import type { Database } from "sql.js";
import * as z from "zod";
import { bm25 } from "./bm25.ts";
import { anyOf, matchExpression, whileTyped } from "./match-expression.ts";
import { findSession, type IndexedMessage, type SessionSummary, titledSessions } from "./queries.ts";
import { rows } from "./rows.ts";

/** The newest hits that are ranked: as many as the original looks at. */
const RANKED_ROWS = 300;

/** What is looked at of each row; `root` is that of its session. */
const match = z.object({ id: z.number(), root: z.string(), at: z.number(), info: z.instanceof(Uint8Array) });

type Ranked = Pick<z.infer<typeof match>, "id" | "root" | "at"> & { readonly rank: number };

const found = z.object({
  ...{ id: z.number(), sessionId: z.string() },
  ...{ position: z.number(), role: z.string(), text: z.string(), at: z.number() },
});

export type SearchHit = IndexedMessage & { readonly sessionId: string; readonly rank: number };

/** A session that was found by its title (`hit` is undefined) or by what was said in it. */
export type FoundSession = { readonly session: SessionSummary; readonly hit: SearchHit | undefined };

export type SearchFilter = {
  readonly query: string;
  /** Hits that are given; the rest is not even read. */
  readonly limit: number;
  /** Not in this session, nor in what it shares its beginning with. */
  readonly except: string;
  /** By time instead of by rank. */
  readonly sort?: "newest" | "oldest" | undefined;
  /** Only messages of these roles; default: of all. */
  readonly roles?: readonly string[] | undefined;
  /** Also those that were taken back; default: yes. */
  readonly takenBack?: boolean | undefined;
  /** Only in sessions of this folder. */
  readonly cwd?: string | undefined;
};

/**
 * The best hit of each session, forks counted as one with their origin, best first. When no message has all of the terms,
 * those that have any.
 */
export function searchMessages(database: Database, filter: SearchFilter): readonly SearchHit[] {
  return read(database, ranked(database, filter).slice(0, filter.limit));
}

/**
 * For a query as it is typed. Sessions whose title has all of the words come first, the last used first, then those in
 * which they were said, then those in which a longer word was said that begins with the last one.
 */
export function findSessions(
  database: Database,
  { query, cwd, limit }: { readonly query: string; readonly cwd?: string | undefined; readonly limit: number },
): readonly FoundSession[] {
  const titled = titledSessions(database, query, { cwd, limit }).map((found) => ({ session: found, hit: undefined }));
  if (titled.length >= limit) return titled;
  const names = new Set(titled.map(({ session: { id } }) => id));
  const said = rankedWhileTyped(database, { query, except: "", roles: ["user", "assistant"], takenBack: false, cwd });
  // So many that enough are left when all that have a title are among them.
  const hits = read(database, said.slice(0, limit)).filter(({ sessionId }) => !names.has(sessionId));
  const others = hits.slice(0, limit - titled.length).flatMap((hit) => {
    const session = findSession(database, hit.sessionId);
    return session === undefined ? [] : [{ session, hit }];
  });
  return [...titled, ...others];
}

type Asked = Omit<SearchFilter, "limit">;

function ranked(database: Database, asked: Asked): readonly Ranked[] {
  const hits = withAll(database, asked);
  return hits.length > 0 ? hits : withAny(database, asked);
}

function rankedWhileTyped(database: Database, asked: Asked): readonly Ranked[] {
  const begun = { ...asked, query: whileTyped(asked.query) };
  const whole = withAll(database, asked);
  const roots = new Set(whole.map(({ root }) => root));
  const isBegun = matchExpression(begun.query) !== matchExpression(asked.query);
  const more = isBegun ? withAll(database, begun).filter(({ root }) => !roots.has(root)) : [];
  const hits = [...whole, ...more];
  return hits.length > 0 ? hits : withAny(database, begun);
}

function withAll(database: Database, { query, ...filter }: Asked): readonly Ranked[] {
  const expression = matchExpression(query);
  return expression === undefined ? [] : bestOfSessions(database, expression, filter);
}

/** None when there is but one term: then all of them are any of them. */
function withAny(database: Database, { query, ...filter }: Asked): readonly Ranked[] {
  const expression = matchExpression(query);
  const any = anyOf(expression ?? "");
  return any === (expression ?? "") ? [] : bestOfSessions(database, any, filter);
}

function bestOfSessions(
  database: Database,
  expression: string,
  { except, roles = [], takenBack = true, cwd, sort }: Omit<SearchFilter, "query" | "limit">,
): readonly Ranked[] {
  const matches = rows(
    database,
    match,
    `SELECT m.id, s.root, m.at, matchinfo(messages_fts, 'pcnalx') AS info
     FROM messages_fts JOIN messages m ON m.id = messages_fts.docid JOIN sessions s ON s.number = m.session
     WHERE messages_fts MATCH ? AND s.is_readable AND s.root <> coalesce((SELECT root FROM sessions WHERE id = ?), '')
       AND (m.stands OR ?) AND (? IS NULL OR s.cwd IN (?, ''))
       ${roles.length > 0 ? `AND m.role IN (${roles.map(() => "?").join(", ")})` : ""}
     LIMIT ${RANKED_ROWS}`,
    [expression, except, takenBack ? 1 : 0, cwd ?? null, cwd ?? null, ...roles],
  );
  const rankOf = bm25();
  const best = new Map<string, Ranked>();
  for (const { info, root, id, at } of matches) {
    const rank = rankOf(info);
    if (rank > (best.get(root)?.rank ?? -1)) best.set(root, { id, root, at, rank });
  }
  return [...best.values()].sort(order(sort));
}

/** Among equals the newer one, which full-text search gives first, stays first. */
function order(sort: SearchFilter["sort"]): (one: Ranked, other: Ranked) => number {
  if (sort === undefined) return (one, other) => other.rank - one.rank;
  return sort === "newest" ? (one, other) => other.at - one.at : (one, other) => one.at - other.at;
}

function read(database: Database, hits: readonly Ranked[]): readonly SearchHit[] {
  const statement = `SELECT m.id, s.id AS sessionId, m.position, m.role, t.text, m.at
    FROM messages m JOIN texts t ON t.id = m.id JOIN sessions s ON s.number = m.session
    WHERE m.id IN (${hits.map(() => "?").join(", ")})`;
  const ids = hits.map(({ id }) => id);
  const messages = new Map(rows(database, found, statement, ids).map(({ id, ...message }) => [id, message]));
  return hits.flatMap(({ id, rank }) => {
    const message = messages.get(id);
    return message === undefined ? [] : [{ ...message, rank }];
  });
}
