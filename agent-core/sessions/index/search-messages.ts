/** Full-text search over messages. The newest matching rows are ranked; only the best are read. */
import type { Database } from "sql.js";
import * as z from "zod";
import { rows } from "./open-database.ts";
import {
  findSession,
  type IndexedMessage,
  type InFolder,
  namesOfFolder,
  type SessionSummary,
  titledSessions,
} from "./queries.ts";
import { matchAny, matchExpression, prefixQuery } from "./search-text.ts";

/** Count of newest hits that are ranked, as in the original Hermes Agent. */
const RANKED_ROWS = 300;

/** `root`: the root of the message's session. */
const match = z.object({ id: z.number(), root: z.string(), at: z.number(), info: z.instanceof(Uint8Array) });

type Ranked = Pick<z.infer<typeof match>, "id" | "root" | "at"> & { readonly rank: number };

const found = z.object({
  id: z.number(),
  sessionId: z.string(),
  position: z.number(),
  role: z.string(),
  text: z.string(),
  at: z.number(),
});

export type SearchHit = IndexedMessage & { readonly sessionId: string; readonly rank: number };

/** A session found by its title (`hit` is undefined) or by one of its messages. */
export type FoundSession = { readonly session: SessionSummary; readonly hit: SearchHit | undefined };

export type SearchFilter = InFolder & {
  readonly query: string;
  /** Count of hits to read. */
  readonly limit: number;
  /** Leaves out this session and all that share its origin. */
  readonly except: string;
  /** Order by time. Default: by rank. */
  readonly sort?: "newest" | "oldest" | undefined;
  /** Only messages of these roles. Default: all. */
  readonly roles?: readonly string[] | undefined;
  /** Includes messages that were taken back. Default: true. */
  readonly takenBack?: boolean | undefined;
};

/**
 * The best hit of each session, best first; a session and its forks count as one. If no message has all terms, one term
 * is enough.
 */
export function searchMessages(database: Database, filter: SearchFilter): readonly SearchHit[] {
  return read(database, ranked(database, filter).slice(0, filter.limit));
}

/**
 * Sessions for a query that is still being typed: first those with all words in their title, most recent first; then
 * those with a message that has the words; then those where the last word begins a longer one.
 */
export function findSessions(
  database: Database,
  { query, limit, ...folder }: InFolder & { readonly query: string; readonly limit: number },
): readonly FoundSession[] {
  const titled = titledSessions(database, query, { ...folder, limit }).map((session) => ({ session, hit: undefined }));
  if (titled.length >= limit) return titled;
  const names = new Set(titled.map(({ session: { id } }) => id));
  const spoken = { query, except: "", roles: ["user", "assistant"], takenBack: false };
  const said = rankedWhileTyped(database, { ...spoken, ...folder });
  // Enough hits remain when sessions found by title are removed.
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
  const begun = { ...asked, query: prefixQuery(asked.query) };
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

/** Empty for a single term: the result would be the same. */
function withAny(database: Database, { query, ...filter }: Asked): readonly Ranked[] {
  const expression = matchExpression(query);
  const any = matchAny(expression ?? "");
  return any === (expression ?? "") ? [] : bestOfSessions(database, any, filter);
}

function bestOfSessions(
  database: Database,
  expression: string,
  { except, roles = [], takenBack = true, sort, ...folder }: Omit<SearchFilter, "query" | "limit">,
): readonly Ranked[] {
  const matches = rows(
    database,
    match,
    `SELECT m.id, s.root, m.at, matchinfo(messages_fts, 'pcnalx') AS info
     FROM messages_fts JOIN messages m ON m.id = messages_fts.docid JOIN sessions s ON s.number = m.session
     WHERE messages_fts MATCH ? AND s.is_readable AND s.root <> coalesce((SELECT root FROM sessions WHERE id = ?), '')
       AND (m.stands OR ?) AND s.cwd IN (SELECT value FROM json_each(coalesce(?, json_array(s.cwd))))
       ${roles.length > 0 ? `AND m.role IN (${roles.map(() => "?").join(", ")})` : ""}
     LIMIT ${RANKED_ROWS}`,
    [expression, except, takenBack ? 1 : 0, namesOfFolder(database, folder), ...roles],
  );
  const rankOf = bm25();
  const best = new Map<string, Ranked>();
  for (const { info, root, id, at } of matches) {
    const rank = rankOf(info);
    if (rank > (best.get(root)?.rank ?? -1)) best.set(root, { id, root, at, rank });
  }
  return [...best.values()].sort(order(sort));
}

/** Of equal ranks the newer hit stays first, as full-text search returns it. */
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

/** The usual constants of Okapi BM25: saturation of repeated words, and weight of the length. */
const K1 = 1.2;
const B = 0.75;
/** Numbers before those of the phrases: phrases, columns, rows, average length, length of this row. */
const HEAD_WORDS = 5;
/** Numbers per phrase: hits in this row, hits in all rows, rows with hits. */
const PHRASE_WORDS = 3;

/**
 * Okapi BM25 for one search over FTS4's `matchinfo(…, 'pcnalx')` of a table with one text column. Higher is better. A
 * `matchinfo` is SQLite's blob in this machine's byte order. The first call computes what all rows share.
 */
export function bm25(): (matchinfo: Uint8Array) => number {
  let rarities: readonly number[] | undefined;
  return ({ buffer, byteOffset, byteLength }) => {
    const words = new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT);
    rarities ??= raritiesOf(words);
    const averageLength = Math.max(1, words[3] ?? 0);
    const length = words[4] ?? 0;
    const saturation = K1 * (1 - B + (B * length) / averageLength);
    let rank = 0;
    for (const [phrase, rarity] of rarities.entries()) {
      const hits = words[HEAD_WORDS + phrase * PHRASE_WORDS] ?? 0;
      rank += (rarity * hits * (K1 + 1)) / (hits + saturation);
    }
    return rank;
  };
}

function raritiesOf(words: Uint32Array): readonly number[] {
  const [phrases = 0, , rows = 0] = words;
  return Array.from({ length: phrases }, (_, phrase) => {
    const rowsWithHits = words[HEAD_WORDS + phrase * PHRASE_WORDS + 2] ?? 0;
    return Math.log(1 + (rows - rowsWithHits + 0.5) / (rowsWithHits + 0.5));
  });
}
