/** Tables of the index. It is derived from the journals: another version is thrown away and built again. */

/** Counts up with every change of the tables or of what is put into them; kept in the file's `user_version`. */
export const INDEX_VERSION = 7;

/**
 * `position` is the message's place in its session, from 0: unlike a row's number it outlives a rebuild.
 * `is_readable` is 0 for a journal of a later format, `cwd` empty where the line that told of it is damaged.
 * Times are milliseconds since 1970. `indexed_bytes` is how far the journal was read, `root` the session
 * that it was forked from in the first place, else itself. `cost_usd` is NULL once a turn's cost was unknown.
 * `next_position` is the place of the next message; `shown_count` counts the prompts and answers that stand.
 * `folded_title` is the title as it is compared. `source` is NULL for a session that began here. `shown` of a message is
 * 'prompt', 'answer' or NULL, `stands` 0 once it was taken back. Texts lie apart, and messages name their session by its
 * number: a search looks at hundreds of messages, and at the texts of a few, so that what it looks at should be small.
 */
export const SCHEMA = `
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  indexed_bytes INTEGER NOT NULL,
  root TEXT NOT NULL,
  is_readable INTEGER NOT NULL DEFAULT 1,
  cwd TEXT NOT NULL DEFAULT '',
  source TEXT,
  title TEXT,
  folded_title TEXT,
  model TEXT,
  started_at INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL DEFAULT 0,
  next_position INTEGER NOT NULL DEFAULT 0,
  shown_count INTEGER NOT NULL DEFAULT 0,
  last_shown TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_input_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL DEFAULT 0
);
CREATE INDEX sessions_by_update ON sessions(updated_at DESC, id DESC);
CREATE INDEX sessions_by_root ON sessions(root);
CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  shown TEXT,
  stands INTEGER NOT NULL DEFAULT 1,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX messages_by_place ON messages(session, position);
CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE VIRTUAL TABLE messages_fts USING fts4(content="texts", text, tokenize=unicode61, order=desc);
PRAGMA user_version = ${INDEX_VERSION};
`;
