/** Rows of `state.db`, whatever its version has of the columns: what is missing is null. */
import type { Database, SqlValue } from "sql.js";

const SESSION_COLUMNS = [
  "title",
  "model",
  "model_config",
  "cwd",
  "source",
  "parent_session_id",
  "started_at",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "estimated_cost_usd",
  "actual_cost_usd",
] as const;

const MESSAGE_COLUMNS = [
  "role",
  "content",
  "tool_call_id",
  "tool_calls",
  "tool_name",
  "timestamp",
  "reasoning",
  "reasoning_content",
  "active",
  "compacted",
  "display_kind",
] as const;

export type SessionRow = Readonly<Record<"id" | (typeof SESSION_COLUMNS)[number], SqlValue>>;
/** `row` is its number, which grows with each message. */
export type MessageRow = Readonly<Record<"row" | (typeof MESSAGE_COLUMNS)[number], SqlValue>>;

/** By the time that they began. Throws SQLite's error on a damaged file. */
export function sessionRows(database: Database): readonly SessionRow[] {
  const has = columnsOf(database, "sessions");
  const order = has.has("started_at") ? "started_at, id" : "id";
  return select(
    database,
    `SELECT id, ${selected(SESSION_COLUMNS, has)} FROM sessions ORDER BY ${order}`,
  ) as SessionRow[];
}

export function messageRows(database: Database, session: SqlValue): readonly MessageRow[] {
  const has = columnsOf(database, "messages");
  const statement = `SELECT rowid AS row, ${selected(MESSAGE_COLUMNS, has)} FROM messages WHERE session_id = ? ORDER BY rowid`;
  return select(database, statement, [session]) as MessageRow[];
}

/** The text of a value; null where there is none. A text with a NUL in it comes as its bytes. */
export function textOf(value: SqlValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
}

/** Zero where there is no number. */
export function numberOf(value: SqlValue): number {
  const number = Number(value instanceof Uint8Array ? Number.NaN : value);
  return Number.isFinite(number) ? number : 0;
}

/** Milliseconds since 1970: of seconds, milliseconds, or a date as text; zero where there is none. */
export function timeOf(value: SqlValue): number {
  const number = typeof value === "string" && !/^[\d.]+$/.test(value) ? Date.parse(value) : numberOf(value);
  if (!Number.isFinite(number) || number <= 0) return 0;
  const isSeconds = number < 1e11 && !(typeof value === "string" && /[-:]/.test(value));
  return Math.round(isSeconds ? number * 1_000 : number);
}

function columnsOf(database: Database, table: string): ReadonlySet<SqlValue> {
  return new Set(database.exec(`SELECT name FROM pragma_table_info('${table}')`)[0]?.values.flat() ?? []);
}

/** In these a NUL may stand, at which a text would be cut. */
const AS_BYTES = ["content", "tool_calls", "reasoning", "reasoning_content"];

function selected(columns: readonly string[], has: ReadonlySet<SqlValue>): string {
  const value = (name: string): string => {
    if (!has.has(name)) return "NULL";
    return AS_BYTES.includes(name) ? `CAST(${name} AS BLOB)` : name;
  };
  return columns.map((name) => `${value(name)} AS ${name}`).join(", ");
}

function select(database: Database, statement: string, parameters: SqlValue[] = []): Record<string, SqlValue>[] {
  const prepared = database.prepare(statement, parameters);
  try {
    const found: Record<string, SqlValue>[] = [];
    while (prepared.step()) found.push(prepared.getAsObject());
    return found;
  } finally {
    prepared.free();
  }
}
