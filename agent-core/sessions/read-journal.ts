/** Reads a journal back: from its lines to the session as it stands. */
import { readFile } from "node:fs/promises";
import { Conversation } from "./conversation.ts";
import { JOURNAL_VERSION, type JournalEntry, parseEntry } from "./entry.ts";

export type StoredSession = {
  readonly id: string;
  /** Working folder, absolute. */
  readonly cwd: string;
  readonly mode: string | undefined;
  readonly title: string | undefined;
  readonly systemPrompt: string | undefined;
  /** The model that was chosen last, as `provider:model`. */
  readonly model: string | undefined;
  readonly reasoningEffort: string | undefined;
  readonly conversation: Conversation;
  /** The plan as it was last. */
  readonly todos: readonly StoredTodo[];
  /** Everything, in order, for a replay. */
  readonly entries: readonly JournalEntry[];
  /** Lines that could not be read and were left out; a torn last line is not counted. */
  readonly damagedLines: number;
};

export type StoredTodo = Extract<JournalEntry, { type: "todos" }>["items"][number];

export type ReadSession =
  | { readonly ok: true; readonly session: StoredSession }
  | { readonly ok: false; readonly message: string };

/** Reads the journal at `path`; the failure message is one line for people. */
export async function readJournal(path: string): Promise<ReadSession> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return {
      ok: false,
      message: missing ? "there is no such session" : `its journal cannot be read: ${String(error)}`,
    };
  }
  return restore(text);
}

function restore(text: string): ReadSession {
  const whole = text.endsWith("\n") ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  const lines = whole.split("\n").filter((line) => line !== "");
  const entries = lines.map(parseEntry).filter((entry) => entry !== undefined);
  const head = entries.find((entry) => entry.type === "session");
  if (head === undefined) return { ok: false, message: "its journal has no readable beginning" };
  if (head.version > JOURNAL_VERSION) {
    return { ok: false, message: `its journal has format ${head.version}; this Hermes knows up to ${JOURNAL_VERSION}` };
  }
  return {
    ok: true,
    session: {
      id: head.id,
      cwd: head.cwd,
      mode: entries.findLast((entry) => entry.type === "mode")?.mode,
      systemPrompt: entries.findLast((entry) => entry.type === "system-prompt")?.text,
      title: entries.findLast((entry) => entry.type === "title")?.title,
      model: entries.findLast((entry) => entry.type === "model")?.choice,
      reasoningEffort: entries.findLast((entry) => entry.type === "reasoning-effort")?.effort,
      conversation: conversationOf(entries),
      todos: entries.findLast((entry) => entry.type === "todos")?.items ?? [],
      entries,
      damagedLines: lines.length - entries.length,
    },
  };
}

function conversationOf(entries: readonly JournalEntry[]): Conversation {
  const conversation = new Conversation();
  for (const entry of entries) {
    if (entry.type === "message") conversation.append(entry.message, entry.position);
    if (entry.type === "rewind") conversation.rewind(entry.keep);
    if (entry.type === "compression") conversation.compress(entry);
  }
  return conversation;
}
