import type { Database } from "sql.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EntryWriter } from "../../../../agent-core/sessions/index/entry-writer.ts";
import { openDatabase } from "../../../../agent-core/sessions/index/open-database.ts";
import { titledSessions } from "../../../../agent-core/sessions/index/queries.ts";
import { findSessions } from "../../../../agent-core/sessions/index/search-messages.ts";

let database: Database;

beforeEach(async () => {
  ({ database } = await openDatabase("/nowhere/index.sqlite"));
});

afterEach(() => database.close());

/** A session for each, by number, with what its user said, its title and its folder. */
function store(sessions: readonly (readonly [said: string, title?: string, cwd?: string])[]): void {
  const writer = new EntryWriter(database);
  for (const [number, [said, title, cwd = "/project"]] of sessions.entries()) {
    const head = { type: "session", version: 1, id: idOf(number), cwd, at: number } as const;
    const prompt = { type: "message", message: { role: "user", content: said }, at: number } as const;
    const named = title === undefined ? [] : [{ type: "title", title, at: number } as const];
    writer.add(idOf(number), [head, prompt, ...named], 1);
  }
  writer.free();
}

const idOf = (number: number): string => `20261120_120000_${String(number).padStart(8, "0")}`;
const found = (query: string): number[] =>
  findSessions(database, { query, limit: 10 }).map(({ session: { id } }) => Number(id.slice(-8)));
const titled = (query: string): number[] =>
  titledSessions(database, query, { cwd: undefined, limit: 10 }).map(({ id }) => Number(id.slice(-8)));

test("a word that is still typed finds those it may become, after those it is", () => {
  store([["the parser failed"], ["a pars of it"], ["parsing is hard"], ["nothing"]]);
  expect(found("pars")).toEqual([1, 2, 0]);
  expect(found("pars ")).toEqual([1]); // a blank ends it
  expect(found("the par")).toEqual([0]);
  expect(found("hard pars")).toEqual([2]);
  expect(found("pa")).toEqual([]); // too short to mean anything
});

test("when no message has all of the words, any of them will do, the one that is typed included", () => {
  store([["the parser failed"], ["an elephant"]]);
  expect(found("elephant pars")).toEqual([1, 0]);
});

test("a session is found once, though it has both the word and a longer one", () => {
  store([["parse what the parser parsed"]]);
  expect(found("parse")).toEqual([0]);
});

test.each([
  ["CAFÉ", [0]],
  ["cafe", [0]],
  ["über", [1]],
  ["парсер", [2]],
  ['"disk full"', [3]],
  ["full disk", [4, 3]],
  ["dis*", [4, 3]],
  ["100%", [5]],
  ["100_", []],
])("titles are found whatever the case and the accents: %s", (query, numbers) => {
  store([
    ["1", "Le Café"],
    ["2", "ÜBER uns"],
    ["3", "Парсер чинить"],
    ["4", "Disk full again"],
    ["5", "Full of disks"],
    ["6", "At 100%"],
  ]);
  expect(titled(query)).toEqual(numbers);
});

test.each(["", "  ", "*", '""'])("a query without a word is that of no title: %j", (query) => {
  store([["1", "Le Café"]]);
  expect(titled(query)).toEqual([]);
});

test.each([
  ["/w/shop", [0, 1]],
  ["/w/shop/lib/a", [2, 3]],
  ["/w", []],
])("the sessions of %s are those in it, and in the same folder of its worktrees", (cwd, numbers) => {
  const folders = [
    "/w/shop",
    "/w/shop.worktrees/x",
    "/w/shop/lib/a",
    "/w/shop.worktrees/x/lib/a",
    "/w/shop.worktrees/x/b",
  ];
  store(folders.map((folder) => ["1", "Same", folder]));
  const found = titledSessions(database, "same", { cwd, worktrees: true, limit: 10 });
  expect(found.map(({ id }) => Number(id.slice(-8))).sort()).toEqual(numbers);
});
