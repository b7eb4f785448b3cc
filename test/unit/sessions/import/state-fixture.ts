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

/** The `-wal` file that leads from one state of a database to a later one, as SQLite writes it; not yet copied back. */
export function logBetween(before: Uint8Array, after: Uint8Array): Buffer {
  const pageBytes = Buffer.from(after).readUInt16BE(16);
  const header = Buffer.alloc(32);
  for (const [at, word] of [0x377f0682, 3_007_000, pageBytes, 0, 11, 22].entries()) header.writeUInt32BE(word, at * 4);
  let sums = summed(header.subarray(0, 24), [0, 0]);
  header.writeUInt32BE(sums[0], 24);
  header.writeUInt32BE(sums[1], 28);
  const count = after.length / pageBytes;
  const pageOf = (bytes: Uint8Array, number: number) => bytes.subarray((number - 1) * pageBytes, number * pageBytes);
  const changed = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => Buffer.compare(pageOf(before, number), pageOf(after, number)) !== 0,
  );
  const frames = changed.map((number) => {
    const frame = Buffer.alloc(24);
    const size = number === changed.at(-1) ? count : 0; // the last frame commits
    for (const [at, word] of [number, size, 11, 22].entries()) frame.writeUInt32BE(word, at * 4);
    sums = summed(Buffer.concat([frame.subarray(0, 8), pageOf(after, number)]), sums);
    frame.writeUInt32BE(sums[0], 16);
    frame.writeUInt32BE(sums[1], 20);
    return Buffer.concat([frame, pageOf(after, number)]);
  });
  return Buffer.concat([header, ...frames]);
}

function summed(bytes: Buffer, [first, second]: readonly [number, number]): [number, number] {
  let sums: [number, number] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    const one = (sums[0] + bytes.readUInt32LE(at) + sums[1]) >>> 0;
    sums = [one, (sums[1] + bytes.readUInt32LE(at + 4) + one) >>> 0];
  }
  return sums;
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
