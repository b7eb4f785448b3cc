/** Outcomes in the index: one row for each session and day, and the sums of many rows for a report. */
import type { Database } from "sql.js";
import * as z from "zod";
import { localDate } from "../../platform/clock.ts";
import type { JournalEntry } from "../entry.ts";
import { isTask, RATES, type RateName, rateDefinition, samplesOf } from "../outcome-rates.ts";
import {
  addEntry,
  noOutcome,
  noProgress,
  type Outcome,
  type OutcomeProgress,
  outcomeSchema,
  progressSchema,
  type Sums,
} from "../session-outcomes.ts";
import { rows } from "./open-database.ts";

/** Origins whose sessions are tasks of the user. */
const COUNTED_ORIGINS: readonly string[] = ["user", "cron"];

const stateRow = z.object({ startedAt: z.number(), origin: z.string(), progress: z.string().nullable() });

/** Adds new entries of the session `number` to its outcomes. Throws on a damaged index. */
export function addOutcomes(database: Database, number: number, entries: readonly JournalEntry[]): void {
  const statement = "SELECT started_at AS startedAt, origin, progress FROM sessions WHERE number = ?";
  const [found] = rows(database, stateRow, statement, [number]);
  if (found === undefined || !COUNTED_ORIGINS.includes(found.origin)) return;
  const progress = found.progress === null ? noProgress() : progressSchema.parse(JSON.parse(found.progress));
  const days = new Map<string, Outcome>();
  for (const entry of entries) {
    // A fork begins with copies, which are older than itself.
    if (entry.at < found.startedAt || entry.type === "session") continue;
    const day = localDate(entry.at);
    const outcome = days.get(day) ?? storedDay(database, number, day);
    days.set(day, outcome);
    addEntry(outcome, progress, entry);
  }
  store(database, number, days, progress);
}

function store(
  database: Database,
  number: number,
  days: ReadonlyMap<string, Outcome>,
  progress: OutcomeProgress,
): void {
  for (const [day, outcome] of days) {
    const facts = JSON.stringify(outcome);
    database.run("INSERT OR REPLACE INTO outcomes(session, day, facts) VALUES(?, ?, ?)", [number, day, facts]);
  }
  database.run("UPDATE sessions SET progress = ? WHERE number = ?", [JSON.stringify(progress), number]);
}

const factsRow = z.object({ facts: z.string() });

function storedDay(database: Database, number: number, day: string): Outcome {
  const statement = "SELECT facts FROM outcomes WHERE session = ? AND day = ?";
  const [found] = rows(database, factsRow, statement, [number, day]);
  return found === undefined ? noOutcome() : outcomeSchema.parse(JSON.parse(found.facts));
}

/** Days from `from` to `to`, both included, except those in `without`. Local dates, `2026-11-23`. */
export type DayWindow = { readonly from: string; readonly to: string; readonly without?: readonly string[] };

/** Sums of a rate in one window. `of`: tool, model or skill; undefined: all. */
export type RateSums = {
  readonly name: RateName;
  readonly of: string | undefined;
  readonly sums: Sums;
  /** Sessions that make the rate worse, newest first. */
  readonly sessions: readonly string[];
};

export type WindowSums = {
  readonly sessions: number;
  readonly tokens: number;
  readonly usd: number;
  readonly rates: readonly RateSums[];
};

const dayRow = z.object({ id: z.string(), day: z.string(), facts: z.string() });

/** Sums of all rates in each of the windows, in one pass. */
export function outcomeSums(database: Database, windows: readonly DayWindow[]): readonly WindowSums[] {
  const collected = windows.map((window) => ({ window, sums: new Collected() }));
  const first = windows.map(({ from }) => from).sort()[0] ?? "";
  const last =
    windows
      .map(({ to }) => to)
      .sort()
      .at(-1) ?? "";
  const statement = `SELECT s.id AS id, o.day AS day, o.facts AS facts
    FROM outcomes o JOIN sessions s ON s.number = o.session
    WHERE o.day BETWEEN ? AND ? ORDER BY o.day DESC, s.updated_at DESC`;
  for (const { id, day, facts } of rows(database, dayRow, statement, [first, last])) {
    const within = collected.filter(
      ({ window: { from, to, without } }) => day >= from && day <= to && without?.includes(day) !== true,
    );
    if (within.length === 0) continue;
    // `addOutcomes` wrote it, and the snapshot has a hash: a check of 10,000 rows would take a quarter of a second.
    const outcome = JSON.parse(facts) as Outcome;
    for (const { sums } of within) sums.add(id, outcome);
  }
  return collected.map(({ sums }) => sums.result);
}

/** Limit of sessions that a rate names. */
const MAX_SESSIONS = 10;

type Collecting = { sums: Sums; readonly sessions: string[] };

class Collected {
  readonly #rates = new Map<RateName, Map<string | undefined, Collecting>>();
  readonly #sessions = new Set<string>();
  #tokens = 0;
  #usd = 0;

  add(id: string, day: Outcome): void {
    if (isTask(day)) this.#sessions.add(id);
    this.#tokens += day.tokens;
    this.#usd += day.usd;
    // A literal has no other keys.
    for (const name of Object.keys(RATES) as RateName[]) {
      for (const [of, sums] of samplesOf(name, day)) this.#addRate(name, of, { id, sums });
    }
  }

  get result(): WindowSums {
    const rates = [...this.#rates].flatMap(([name, groups]) =>
      [...groups].map(([of, { sums, sessions }]) => ({ name, of, sums, sessions })),
    );
    return { sessions: this.#sessions.size, tokens: this.#tokens, usd: this.#usd, rates };
  }

  #addRate(name: RateName, of: string | undefined, { id, sums }: { readonly id: string; readonly sums: Sums }): void {
    const groups = this.#rates.get(name) ?? new Map<string | undefined, Collecting>();
    this.#rates.set(name, groups);
    const group = groups.get(of) ?? { sums: [0, 0, 0], sessions: [] };
    groups.set(of, group);
    const [count, sum, squares] = group.sums;
    group.sums = [count + sums[0], sum + sums[1], squares + sums[2]];
    const isFull = group.sessions.length >= MAX_SESSIONS || group.sessions.includes(id);
    if (!isFull && isWorse(name, sums)) group.sessions.push(id);
  }
}

/** True when the samples show the rate at its worse side. */
function isWorse(name: RateName, [count, sum]: Sums): boolean {
  const { worse } = rateDefinition(name);
  return worse === "lower" ? sum < count : sum > 0;
}
