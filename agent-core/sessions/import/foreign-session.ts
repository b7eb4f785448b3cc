/** Converts a session of the original Hermes Agent to journal entries. */
import { createHash } from "node:crypto";
import type { Database, SqlValue } from "sql.js";
import * as z from "zod";
import { type ContentPart, contentText, type Message, type ToolCall } from "../../messages/message.ts";
import { attempt } from "../../platform/errors.ts";
import { oneLine } from "../../platform/one-line.ts";
import { redact } from "../../providers/redact.ts";
import type { EntryOf } from "../entry.ts";
import { isSessionId, sessionIdOf } from "../session-files.ts";

/** Prefix of content that is a JSON list of parts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the original marks it by one.
const PARTS_MARK = /^[\u0000\u0001]json:/;
/** Prefix of the original's summary of older messages. */
const SUMMARY_MARK = "[CONTEXT COMPACTION";
const MAX_TITLE_CHARS = 100;
const ID_HASH_CHARS = 8;

export type ForeignEntry = EntryOf<"message" | "tool">;

/** Tokens and dollars of the whole session. */
export type ForeignUsage = Omit<EntryOf<"usage">, "type" | "at">;

const config = z.object({ cwd: z.string().optional(), _delegate_from: z.unknown() }).partial();

const calls = z.array(
  z.object({
    id: z.string().optional(),
    call_id: z.string().optional(),
    function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
  }),
);

const parts = z.array(
  z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.unknown().optional() }),
);
const image = z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]);

/** Our id of the original's session, equal at every import. */
export function foreignId(row: Pick<SessionRow, "id" | "started_at">): string {
  const name = textOf(row.id) ?? "";
  if (isSessionId(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, ID_HASH_CHARS);
  return sessionIdOf(timeOf(row.started_at), hash);
}

/** True for the run of a sub-agent. The session that started it holds its result. */
export function isDelegated(row: SessionRow): boolean {
  return configOf(row)._delegate_from != null;
}

/** Working folder; undefined when unknown. */
export function foreignFolder(row: SessionRow): string | undefined {
  return textOf(row.cwd) || configOf(row).cwd || undefined;
}

export function foreignUsage(row: SessionRow): ForeignUsage {
  const cached = numberOf(row.cache_read_tokens);
  const cost = row.actual_cost_usd ?? row.estimated_cost_usd;
  return {
    model: textOf(row.model) ?? "unknown",
    // Our input tokens include cached ones; the original counts them separately.
    inputTokens: numberOf(row.input_tokens) + cached + numberOf(row.cache_write_tokens),
    outputTokens: numberOf(row.output_tokens),
    cachedInputTokens: cached,
    reasoningTokens: numberOf(row.reasoning_tokens),
    ...(cost !== null && { costUsd: numberOf(cost) }),
  };
}

/** Messages and the displays of tool calls, in order, without messages taken back. */
export function foreignEntries(rows: readonly MessageRow[], began: number): readonly ForeignEntry[] {
  const names = new Map<string, ToolCall>();
  return rows.flatMap((row): ForeignEntry[] => {
    if (row.active === 0 && row.compacted !== 1) return [];
    const message = messageOf(row);
    if (message === undefined) return [];
    const at = timeOf(row.timestamp) || began;
    const entry: ForeignEntry = { type: "message", message, at };
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) names.set(call.id, call);
    return message.role === "tool" ? [shownCall(message, names.get(message.tool_call_id), row, at), entry] : [entry];
  });
}

function shownCall(
  { tool_call_id: callId, content }: Extract<Message, { role: "tool" }>,
  call: ToolCall | undefined,
  row: MessageRow,
  at: number,
): ForeignEntry {
  const name = call?.function.name ?? textOf(row.tool_name) ?? "tool";
  const ok = !/^(?:Error\b|\{"error")/.test(content);
  const shown = { title: titleOf(name, call?.function.arguments ?? ""), kind: "other", locations: [], diffs: [] };
  return { type: "tool", callId, name, ...shown, ok, durationMs: 0, at };
}

/** Name of the tool and its first argument. */
function titleOf(name: string, json: string): string {
  const first = Object.values(parsed(json, z.record(z.string(), z.unknown())) ?? {}).find(
    (value) => typeof value === "string",
  );
  return oneLine(first === undefined ? name : `${name}: ${first}`, MAX_TITLE_CHARS);
}

function messageOf(row: MessageRow): Message | undefined {
  const content = textOf(row.content) ?? "";
  switch (row.role) {
    case "user": {
      const said = contentOf(content);
      if (said.length === 0) return undefined;
      const isOurs = row.display_kind === "hidden" || content.startsWith(SUMMARY_MARK);
      return { role: "user", content: said, ...(isOurs && { synthetic: true }) };
    }
    case "assistant":
      return assistantMessage(contentText(contentOf(content), "\n", "[image]"), row);
    case "tool": {
      const id = textOf(row.tool_call_id);
      // Stored tool output never contains secrets.
      return id
        ? { role: "tool", tool_call_id: id, content: redact(contentText(contentOf(content), "\n", "[image]")) }
        : undefined;
    }
    default:
      return undefined; // a note of the original for itself
  }
}

function assistantMessage(content: string, row: MessageRow): Message | undefined {
  const made = callsOf(textOf(row.tool_calls));
  const reasoning = textOf(row.reasoning) || textOf(row.reasoning_content) || "";
  if (content === "" && made.length === 0 && reasoning === "") return undefined;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(made.length > 0 && { tool_calls: made }),
    ...(reasoning !== "" && { reasoning }),
  };
}

function callsOf(json: string | null): readonly ToolCall[] {
  return (parsed(json ?? "", calls) ?? []).flatMap(({ id, call_id, function: { name, arguments: given } }) => {
    const callId = id ?? call_id;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return callId === undefined ? [] : [{ id: callId, type: "function" as const, function: { name, arguments: text } }];
  });
}

function contentOf(content: string): string | readonly ContentPart[] {
  if (!PARTS_MARK.test(content)) return content;
  return (parsed(content.replace(PARTS_MARK, ""), parts) ?? []).flatMap((part): ContentPart[] => {
    if (part.text !== undefined) return [{ type: "text", text: part.text }];
    const url = image.safeParse(part.image_url).data;
    return url?.startsWith("data:") ? [{ type: "image_url", image_url: { url } }] : [{ type: "text", text: "[image]" }];
  });
}

function configOf(row: SessionRow): z.infer<typeof config> {
  return parsed(textOf(row.model_config) ?? "", config) ?? {};
}

/** Undefined when `json` does not parse or does not fit the schema. */
function parsed<Value>(json: string, schema: z.ZodType<Value>): Value | undefined {
  // Text that is not JSON counts as a missing value.
  return attempt(() => schema.safeParse(JSON.parse(json)).data);
}

/** Columns differ between versions of `state.db`. Missing ones read as null. */

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
/** `row` is the row number, which grows with each message. */
export type MessageRow = Readonly<Record<"row" | (typeof MESSAGE_COLUMNS)[number], SqlValue>>;

/** Ordered by start time. Throws SQLite's error on a damaged file. */
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

/** Text of a value, or null. SQLite returns a text with a NUL as bytes. */
export function textOf(value: SqlValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
}

/** Zero when the value is not a number. */
export function numberOf(value: SqlValue): number {
  const number = Number(value instanceof Uint8Array ? Number.NaN : value);
  return Number.isFinite(number) ? number : 0;
}

/** Milliseconds since 1970, from seconds, milliseconds or a date; zero when there is none. */
export function timeOf(value: SqlValue): number {
  const number = typeof value === "string" && !/^[\d.]+$/.test(value) ? Date.parse(value) : numberOf(value);
  if (!Number.isFinite(number) || number <= 0) return 0;
  const isSeconds = number < 1e11 && !(typeof value === "string" && /[-:]/.test(value));
  return Math.round(isSeconds ? number * 1_000 : number);
}

function columnsOf(database: Database, table: string): ReadonlySet<SqlValue> {
  return new Set(database.exec(`SELECT name FROM pragma_table_info('${table}')`)[0]?.values.flat() ?? []);
}

/** Columns whose text may contain a NUL, which would cut it. */
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
