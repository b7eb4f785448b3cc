/** The lines of a journal. What happened is only ever added; reading them in order gives the session as it is. */
import * as z from "zod";
import type { Message } from "../messages/message.ts";
import { fileChange, restoreEntry } from "./file-change.ts";
import { outcomeEntries } from "./outcomes.ts";

/** Version of the format; a reader refuses newer ones rather than guess. */
export const JOURNAL_VERSION = 1;

const toolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const contentPart = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);

const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: z.string() }),
  z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(contentPart).readonly()]),
    synthetic: z.literal(true).exactOptional(),
  }),
  z.object({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    tool_calls: z.array(toolCall).readonly().exactOptional(),
    reasoning: z.string().exactOptional(),
    reasoning_details: z.array(z.unknown()).readonly().exactOptional(),
    unfinished: z.string().exactOptional(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
]) satisfies z.ZodType<Message>;

/** Furthest from 1970 that a date can be, either way; ECMA-262, time values. Milliseconds. */
const MAX_TIME = 8.64e15;

/** What was said is no less said for a time that is none. */
const at = z.number().min(-MAX_TIME).max(MAX_TIME).catch(0);

const fileDiff = z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string().nullable() });

const entrySchema = z.discriminatedUnion("type", [
  /** First line of every journal. `at` is milliseconds since 1970, as everywhere below. */
  z.object({
    type: z.literal("session"),
    version: z.number(),
    id: z.string(),
    cwd: z.string(),
    /** Session it was forked from. */ parent: z.string().exactOptional(),
    /** Where it was brought over from; absent: it began here. */ source: z.literal("import").exactOptional(),
    /** Its id there. */ original: z.string().exactOptional(),
    /** Starter of the session; absent in journals written before it was recorded: `user`, or `import` by `source`. */
    origin: z.enum(["user", "delegation", "cron", "learning", "batch", "import"]).exactOptional(),
    at,
  }),
  /** `position` counts every message of the session from 0, also those that were taken back. */
  z.object({
    type: z.literal("message"),
    position: z.number().exactOptional(),
    message,
    /** Its number where it was brought over from. */ imported: z.number().exactOptional(),
    at,
  }),
  /** The messages from position `keep` on were taken back; nothing is ever removed from the file. */
  z.object({ type: z.literal("rewind"), keep: z.number(), at }),
  /** Older messages gave way to a summary; it replaces the compression before it as a whole. */
  z.object({
    type: z.literal("compression"),
    /** Id of the lineage's next link; the session keeps its own. */ child: z.string(),
    strategy: z.string(),
    dropped: z.array(z.tuple([z.number(), z.number()])),
    summary: z.string().nullable(),
    shortened: z.array(z.object({ position: z.number(), content: z.string() })),
    /** Tokens of the conversation, as estimated. */ tokensBefore: z.number(),
    tokensAfter: z.number(),
    at,
  }),
  /** How a tool call was shown, for a replay. */
  z.object({
    type: z.literal("tool"),
    callId: z.string(),
    name: z.string(),
    title: z.string(),
    kind: z.string(),
    locations: z.array(z.object({ path: z.string(), line: z.number().exactOptional() })),
    diffs: z.array(fileDiff),
    problems: z
      .array(z.object({ path: z.string(), line: z.number(), severity: z.enum(["error", "warning"]), text: z.string() }))
      .exactOptional(),
    ok: z.boolean(),
    durationMs: z.number(),
    at,
  }),
  z.object({
    type: z.literal("todos"),
    items: z.array(
      z.object({
        id: z.string(),
        content: z.string(),
        status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
      }),
    ),
    at,
  }),
  /** What every request of the session begins with. */
  z.object({ type: z.literal("system-prompt"), text: z.string(), at }),
  z.object({ type: z.literal("title"), title: z.string(), at }),
  z.object({ type: z.literal("mode"), mode: z.string(), at }),
  /** The model that the user chose, as `provider:model`. */
  z.object({ type: z.literal("model"), choice: z.string(), at }),
  z.object({ type: z.literal("reasoning-effort"), effort: z.string(), at }),
  /** What a turn's model calls took together. */
  z.object({
    type: z.literal("usage"),
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cachedInputTokens: z.number(),
    reasoningTokens: z.number(),
    /** In US dollars; absent when the model's price is unknown. */ costUsd: z.number().exactOptional(),
    at,
  }),
  fileChange,
  restoreEntry,
  ...outcomeEntries,
  z.object({ type: z.literal("turn-end"), stopReason: z.string(), error: z.string().exactOptional(), at }),
]);

export type JournalEntry = z.infer<typeof entrySchema>;

/** Starter of a session. */
export type SessionOrigin = NonNullable<EntryOf<"session">["origin"]>;

export type EntryOf<Type extends JournalEntry["type"]> = Extract<JournalEntry, { type: Type }>;

/** Reads one line; undefined when it is not an entry of this version (torn, damaged, or of a later one). */
export function parseEntry(line: string): JournalEntry | undefined {
  const json = parseLine(line);
  return json === undefined ? undefined : checkEntry(json);
}

/** Of an entry that was a message when it was written. Throws when it is none any more. */
export function messageIn(entry: JournalEntry | undefined): Message {
  if (entry?.type !== "message") throw new Error("The session's journal was changed while it was in use.");
  return entry.message;
}

/** Around a line: zeros of a disk that lost power, the mark that some editors begin a file with. JSON has none. */
const AROUND = /^[\0\ufeff]|\0$/;
const AROUND_ALL = /^[\0\ufeff]+|\0+$/g;

/** The JSON of a line, not checked any further; undefined when it is none. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(AROUND.test(line) ? line.replaceAll(AROUND_ALL, "") : line);
  } catch {
    return undefined; // a torn or damaged line, which the caller counts
  }
}

/** Undefined when it is not an entry of this version. */
export function checkEntry(json: unknown): JournalEntry | undefined {
  return entrySchema.safeParse(json).data;
}
