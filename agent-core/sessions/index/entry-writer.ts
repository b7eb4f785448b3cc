/** Writes journal entries into the tables of the index. */
import type { Database, SqlValue, Statement } from "sql.js";
import * as z from "zod";
import { type EntryOf, JOURNAL_VERSION, type JournalEntry } from "../entry.ts";
import { type ShownAs, shownAs } from "../shown-message.ts";
import { rows } from "./open-database.ts";
import { addOutcomes } from "./outcome-sums.ts";
import { foldForSearch, hasUnspacedScript, messageText, spaceCharacters } from "./search-text.ts";

const shown = z.enum(["prompt", "answer"]).nullable() satisfies z.ZodType<ShownAs>;

const stored = z.object({ id: z.number(), text: z.string() });

const place = z.object({
  number: z.number(),
  next: z.number(),
  count: z.number(),
  last: shown,
  isListed: z.union([z.literal(0), z.literal(1)]),
});

/** Progress of session `number`: its next position, the count of its shown messages, and the kind of the last one. */
type Place = z.infer<typeof place>;

export class EntryWriter {
  readonly #database: Database;
  readonly #insertMessage: Statement;
  readonly #insertText: Statement;
  readonly #indexText: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#insertMessage = database.prepare(
      "INSERT INTO messages(session, position, role, shown, at) VALUES(?, ?, ?, ?, ?)",
    );
    this.#insertText = database.prepare("INSERT INTO texts(id, text) VALUES(last_insert_rowid(), ?)");
    this.#indexText = database.prepare("INSERT INTO messages_fts(docid, text) VALUES(last_insert_rowid(), ?)");
  }

  /** `end`: offset in the journal after these entries. Throws on a damaged index. */
  add(id: string, entries: readonly JournalEntry[], end: number): void {
    this.#run("INSERT OR IGNORE INTO sessions(id, root, indexed_bytes) VALUES(?, ?, 0)", [id, id]);
    for (const entry of entries) if (entry.type === "session") this.#begin(id, entry);
    let at = this.#placeOf(id);
    // No list and no search finds it: only its size is kept.
    for (const entry of at.isListed === 1 ? entries : []) {
      if (entry.type === "message") at = this.#addMessage(entry, at);
      else if (entry.type === "rewind") at = this.#takeBack(entry, at);
      else this.#addFact(id, entry);
    }
    if (at.isListed === 1) addOutcomes(this.#database, at.number, entries);
    this.#run(
      `UPDATE sessions SET next_position = ?, shown_count = ?, last_shown = ?, indexed_bytes = ?,
       updated_at = max(updated_at, ?) WHERE id = ?`,
      [at.next, at.count, at.last, end, entries.findLast(({ type }) => type !== "shelf")?.at ?? 0, id],
    );
  }

  /** Removes a session and its messages from the index. */
  forget(id: string): void {
    const session = "(SELECT number FROM sessions WHERE id = ?)";
    const messages = `(SELECT id FROM messages WHERE session = ${session})`;
    // Full-text search reads a text to find the words to remove. So the text must be the indexed form, and is deleted
    // last.
    for (const { id: message, text } of rows(
      this.#database,
      stored,
      `SELECT id, text FROM texts WHERE id IN ${messages}`,
      [id],
    )) {
      if (hasUnspacedScript(text))
        this.#run("UPDATE texts SET text = ? WHERE id = ?", [spaceCharacters(text), message]);
    }
    this.#run(`DELETE FROM messages_fts WHERE docid IN ${messages}`, [id]);
    this.#run(`DELETE FROM texts WHERE id IN ${messages}`, [id]);
    this.#run(`DELETE FROM messages WHERE session = ${session}`, [id]);
    this.#run(`DELETE FROM outcomes WHERE session = ${session}`, [id]);
    this.#run("DELETE FROM sessions WHERE id = ?", [id]);
  }

  /** Ends the use of this writer. Afterwards the database can be saved or closed. */
  free(): void {
    this.#insertMessage.free();
    this.#insertText.free();
    this.#indexText.free();
  }

  #addMessage({ message, position = 0, at }: EntryOf<"message">, before: Place): Place {
    const place = Math.max(before.next, position);
    const text = messageText(message);
    const kind = shownAs(message);
    this.#insertMessage.run([before.number, place, message.role, kind, at]);
    this.#insertText.run([text]);
    this.#indexText.run([spaceCharacters(text)]);
    return counted({ ...before, next: place + 1 }, kind);
  }

  #takeBack({ keep, returned }: EntryOf<"rewind">, { number, next, isListed }: Place): Place {
    for (const range of returned ?? []) {
      this.#run("UPDATE messages SET stands = 1 WHERE session = ? AND position BETWEEN ? AND ?", [number, ...range]);
    }
    if (returned === undefined) {
      this.#run("UPDATE messages SET stands = 0 WHERE session = ? AND position >= ? AND stands", [number, keep]);
    }
    const left = rows(
      this.#database,
      z.object({ shown }),
      "SELECT shown FROM messages WHERE session = ? AND stands AND shown IS NOT NULL ORDER BY position",
      [number],
    );
    const none: Place = { number, next, isListed, count: 0, last: null };
    return left.reduce((place, row) => counted(place, row.shown), none);
  }

  #addFact(id: string, entry: Exclude<JournalEntry, { type: "message" | "rewind" }>): void {
    switch (entry.type) {
      case "title":
        this.#run("UPDATE sessions SET title = ?, folded_title = ? WHERE id = ?", [
          entry.title,
          foldForSearch(entry.title),
          id,
        ]);
        return;
      case "folder":
        this.#run("UPDATE sessions SET cwd = ? WHERE id = ?", [entry.cwd, id]);
        return;
      case "shelf":
        this.#run("UPDATE sessions SET shelf = ? WHERE id = ?", [entry.shelf, id]);
        return;
      case "model":
        this.#run("UPDATE sessions SET model = ? WHERE id = ?", [entry.choice, id]);
        return;
      case "usage":
        this.#addUsage(id, entry);
        return;
      default:
        return; // no search needs the other entries
    }
  }

  #begin(id: string, { version, cwd, at, parent, source, origin }: EntryOf<"session">): void {
    const isListed = version <= JOURNAL_VERSION && origin !== "delegation" ? 1 : 0;
    const starter = origin ?? (source === "import" ? "import" : "user");
    const facts = [isListed, cwd, at, source ?? null, starter, id];
    this.#run(
      "UPDATE sessions SET is_readable = ?, cwd = ?, started_at = ?, source = ?, origin = ? WHERE id = ?",
      facts,
    );
    if (parent === undefined) return;
    // Journals arrive in any order: forks of this session get its root now.
    this.#run("UPDATE sessions SET root = coalesce((SELECT root FROM sessions WHERE id = ?), ?) WHERE root = ?", [
      parent,
      parent,
      id,
    ]);
  }

  #addUsage(id: string, entry: EntryOf<"usage">): void {
    const { model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costUsd } = entry;
    this.#run(
      `UPDATE sessions SET model = ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       cached_input_tokens = cached_input_tokens + ?, reasoning_tokens = reasoning_tokens + ?, cost_usd = cost_usd + ?
       WHERE id = ?`,
      [model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens, costUsd ?? null, id],
    );
  }

  #placeOf(id: string): Place {
    const statement =
      "SELECT number, next_position AS next, shown_count AS count, last_shown AS last, is_readable AS isListed FROM sessions WHERE id = ?";
    const [found] = rows(this.#database, place, statement, [id]);
    if (found === undefined) throw new Error(`The index has no session ${id}, which it was just given.`);
    return found;
  }

  #run(statement: string, parameters: SqlValue[]): void {
    this.#database.run(statement, parameters);
  }
}

/** The parts of one answer, between its tool calls, count as one message. */
function counted(place: Place, kind: ShownAs): Place {
  if (kind === null || (kind === "answer" && place.last === "answer")) return place;
  return { ...place, count: place.count + 1, last: kind };
}
