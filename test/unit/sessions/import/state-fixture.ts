/** A `state.db` as the original Hermes Agent writes it, by SQLite itself. */
import initSqlJs, { type Database } from "sql.js";

export type ForeignSession = {
  readonly id: string;
  readonly title?: string;
  readonly parent?: string;
  readonly config?: object;
  readonly messages: readonly Readonly<Record<string, string | number | Uint8Array>>[];
};

/** Seconds since 1970 at which sessions begin: 2026-04-02 11:22:33 UTC. */
export const BEGAN = 1_775_128_953;

export async function newState(): Promise<Database> {
  const database = new (await initSqlJs()).Database();
  database.run(`
    CREATE TABLE schema_version(version INTEGER);
    CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, system_prompt TEXT,
      parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
      input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
      cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, estimated_cost_usd REAL, title TEXT,
      something_newer TEXT);
    CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
      content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER,
      finish_reason TEXT, reasoning TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
  `);
  return database;
}

export function addSession(database: Database, { id, title, parent, config, messages }: ForeignSession): void {
  database.run(
    `INSERT INTO sessions(id, source, model, model_config, parent_session_id, started_at, input_tokens, output_tokens,
     cache_read_tokens, reasoning_tokens, estimated_cost_usd, title)
     VALUES(?, 'cli', 'anthropic/claude-opus-4.6', ?, ?, ?, 100, 20, 50, 5, 0.25, ?)`,
    [id, config ? JSON.stringify(config) : null, parent ?? null, BEGAN, title ?? null],
  );
  for (const message of messages) addMessage(database, id, message);
}

export function addMessage(database: Database, session: string, message: ForeignSession["messages"][number]): void {
  const count = Number(database.exec("SELECT count(*) FROM messages")[0]?.values[0]?.[0] ?? 0);
  const columns = { session_id: session, timestamp: BEGAN + count, ...message };
  const names = Object.keys(columns);
  database.run(
    `INSERT INTO messages(${names.join(", ")}) VALUES(${names.map(() => "?").join(", ")})`,
    Object.values(columns),
  );
  database.run("UPDATE messages SET content = CAST(content AS TEXT) WHERE typeof(content) = 'blob'");
}

/** A conversation with everything that one may have. */
export const CONVERSATION: ForeignSession = {
  id: "20260402_112233_ab12cd",
  title: "Mend the parser",
  config: { cwd: "/project/parser" },
  messages: [
    { role: "session_meta", content: "{}" },
    { role: "user", content: "why is it slow?" },
    {
      role: "assistant",
      content: "",
      reasoning: "I should look.",
      tool_calls: JSON.stringify([
        { id: "call_1", type: "function", function: { name: "terminal", arguments: '{"command":"time make"}' } },
      ]),
    },
    { role: "tool", tool_call_id: "call_1", tool_name: "terminal", content: "real 9s, key sk-abcdef1234567890" },
    { role: "assistant", content: "It reads each file twice." },
    { role: "user", content: "taken back", active: 0 },
    { role: "user", content: "summed up later", active: 0, compacted: 1 },
    { role: "user", content: "[CONTEXT COMPACTION — REFERENCE ONLY] …" },
    {
      role: "user",
      // As text with a NUL in it, at which a careless reader would cut.
      content: new TextEncoder().encode(
        `\u0000json:${JSON.stringify([
          { type: "text", text: "and this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ])}`,
      ),
    },
  ],
};
