import type { Database } from "sql.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntryWriter } from "../../../../agent-core/sessions/index/entry-writer.ts";
import { openDatabase } from "../../../../agent-core/sessions/index/open-database.ts";
import { searchMessages } from "../../../../agent-core/sessions/index/search-messages.ts";
import { seeded } from "../../approval/support/random.ts";

// Ranks are compared to BM25 computed from the texts themselves.
const SESSIONS = 60;
const MESSAGES = 20;
const VOCABULARY = 300;
const RANKED = 300;
const PATIENCE_MS = 60_000;
const random = seeded(20_261_123);

type Said = { readonly session: string; readonly position: number; readonly at: number; readonly words: string[] };

const said: Said[] = [];
let database: Database;

beforeAll(async () => {
  ({ database } = await openDatabase("/nowhere/index.sqlite"));
  database.run("BEGIN");
  const writer = new EntryWriter(database);
  for (let number = 0; number < SESSIONS; number += 1) {
    const id = `20261120_120000_${String(number).padStart(8, "0")}`;
    const texts = Array.from({ length: MESSAGES }, () => Array.from({ length: 1 + random.below(60) }, word));
    const head = { type: "session", version: 1, id, cwd: "/project", at: number } as const;
    const messages = texts.map((words, position) => {
      const at = random.below(1_000_000);
      said.push({ session: id, position, at, words });
      return { type: "message", message: { role: "user", content: words.join(", ") }, at } as const;
    });
    writer.add(id, [head, ...messages], 1);
  }
  writer.free();
  database.run("COMMIT");
}, PATIENCE_MS);

afterAll(() => database.close());

/** A few words are said far more often than the rest. */
function word(): string {
  return `word${Math.floor(VOCABULARY * (random.below(1_000) / 1_000) ** 2)}`;
}

/** Positions of a phrase in a message. */
function occurrences(phrase: readonly string[], words: readonly string[]): number {
  return words.filter((_, at) => phrase.every((part, offset) => words[at + offset] === part)).length;
}

type Weighed = { readonly phrase: readonly string[]; readonly rarity: number };

function weighed(phrases: readonly (readonly string[])[]): Weighed[] {
  return phrases.map((phrase) => {
    const messages = said.filter(({ words }) => occurrences(phrase, words) > 0).length;
    return { phrase, rarity: Math.log(1 + (said.length - messages + 0.5) / (messages + 0.5)) };
  });
}

function bm25(phrases: readonly Weighed[], { words }: Said, averageLength: number): number {
  return phrases.reduce((sum, { phrase, rarity }) => {
    const count = occurrences(phrase, words);
    return sum + (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * words.length) / averageLength));
  }, 0);
}

type Ranked = { readonly session: string; readonly position: number; readonly at: number; readonly rank: number };

/** The best of each session among the newest messages that have all of the phrases, or any of them. */
function expected(phrases: readonly (readonly string[])[], isAny: boolean): Ranked[] {
  const has = (message: Said) => (phrase: readonly string[]) => occurrences(phrase, message.words) > 0;
  const found = said.filter((message) => (isAny ? phrases.some(has(message)) : phrases.every(has(message))));
  const averageLength = Math.round(said.reduce((sum, { words }) => sum + words.length, 0) / said.length);
  const weights = weighed(phrases);
  const best = new Map<string, Ranked>();
  for (const message of found.toReversed().slice(0, RANKED)) {
    const rank = bm25(weights, message, averageLength);
    const { session, position, at } = message;
    if (rank > (best.get(session)?.rank ?? -1) + 1e-9) best.set(session, { session, position, at, rank });
  }
  return [...best.values()];
}

const rounded = (ranks: readonly number[]): string[] => ranks.map((rank) => rank.toFixed(9));

function check(query: string, hits: readonly Ranked[]): void {
  const found = searchMessages(database, { query, limit: SESSIONS, except: "" });
  const byRank = hits.toSorted((one, other) => other.rank - one.rank);
  expect(rounded(found.map(({ rank }) => rank)), query).toEqual(rounded(byRank.map(({ rank }) => rank)));
  const places = new Map(hits.map(({ session, position }) => [session, position]));
  for (const { sessionId, position, text } of found) {
    expect(position, query).toBe(places.get(sessionId));
    const message = said.find((one) => one.session === sessionId && one.position === position);
    expect(text).toBe(message?.words.join(", "));
  }
}

test("ranks are those of BM25 computed from the texts, for words, all of several, any of several, and phrases", {
  timeout: PATIENCE_MS,
}, () => {
  for (let round = 0; round < 12; round += 1) {
    const one = word();
    const other = word();
    check(one, expected([[one]], false));
    if (one === other) continue;
    check(`${one} OR ${other}`, expected([[one], [other]], true));
    const both = expected([[one], [other]], false);
    check(`${one} ${other}`, both.length > 0 ? both : expected([[one], [other]], true));
    const message = said[random.below(said.length)];
    const phrase = message?.words.slice(0, 2) ?? [];
    check(`"${phrase.join(" ")}"`, expected([phrase], false));
    check(`"${phrase.join(" ")}" ${one}`, phraseAnd(phrase, one));
  }
});

function phraseAnd(phrase: readonly string[], one: string): Ranked[] {
  const both = expected([phrase, [one]], false);
  return both.length > 0 ? both : expected([phrase, [one]], true);
}

test("a limit gives the first of them, by rank or by time", () => {
  const hits = expected([["word0"]], false);
  const found = (sort?: "newest" | "oldest") =>
    searchMessages(database, { query: "word0", limit: 5, except: "", sort }).map(({ at }) => at);
  const times = (order: (one: Ranked, other: Ranked) => number) => hits.toSorted(order).slice(0, 5);
  const at = (ranked: readonly Ranked[]): number[] => ranked.map((hit) => hit.at);
  expect(found()).toEqual(at(times((one, other) => other.rank - one.rank)));
  expect(found("newest")).toEqual(at(times((one, other) => other.at - one.at)));
  expect(found("oldest")).toEqual(at(times((one, other) => one.at - other.at)));
});
