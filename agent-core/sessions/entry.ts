/** The lines of a journal. Entries are only ever added; a reader gets the session by applying them in order. */
import * as z from "zod";
import { type Message, messageSchema as message } from "../messages/message.ts";
import { parseJson } from "../platform/json.ts";
import { HermesHookRun } from "../protocol/conversation.ts";
import { HermesTask } from "../protocol/delegation.ts";
import { HermesNewProblem } from "../protocol/editor.ts";
import { outcomeEntries } from "./outcome-entries.ts";

/** Version of the format. A reader refuses newer versions. */
export const JOURNAL_VERSION = 1;

/** Largest distance of a date from 1970, in milliseconds (ECMA-262, time values). */
const MAX_TIME = 8.64e15;

/** An invalid time becomes 0, so that the entry itself stays readable. */
const at = z.number().min(-MAX_TIME).max(MAX_TIME).catch(0);

const textDiff = z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string().nullable() });

/** The texts of a large diff are in the checkpoints' store, by their SHA-256. Null: no file. */
const hashDiff = z.object({ path: z.string(), oldHash: z.string().nullable(), newHash: z.string().nullable() });

const fileState = z.object({
  /** SHA-256 of the file's bytes, or of a link's target. It names a copy in the checkpoints' store. Null: no file. */
  hash: z.string().nullable(),
  /** Permission bits. */
  mode: z.number(),
  link: z.literal(true).exactOptional(),
  /** SHA-256 of unsaved text in the editor. */
  unsaved: z.string().exactOptional(),
});

/** Content that git has. It is copied after the entry; a `git-copies` entry names the copy. */
const inGit = z.object({
  /** Id of git's object. */
  git: z.string(),
  /** Folder of the repository's objects, absolute. */
  gitFolder: z.string(),
  mode: z.number(),
});

/** `null`: the file did not exist. `unknown`: it existed, and neither the store nor git has its content. */
const earlier = z.union([fileState, inGit, z.null(), z.literal("unknown")]);

const fileChange = z.object({
  type: z.literal("file-change"),
  /** Absolute. */
  path: z.string(),
  by: z.enum(["edit", "command", "restore"]),
  /** Id of the tool call or of the restore; of a sub-agent's change, the ids of its delegation and its task. */
  source: z.string(),
  /** Sources of other commands that ran when a file changed, any of which may have changed it. */
  others: z.array(z.string()).exactOptional(),
  before: earlier,
  /** Reason why `before` is unknown, as the end of a sentence about the file. */
  lacks: z.string().exactOptional(),
  after: fileState.nullable(),
  /** Folders created for the file, absolute, outermost first. */
  folders: z.array(z.string()).exactOptional(),
  /** Position of the session's next message at that moment. */
  position: z.number(),
  at: z.number(),
});

/** Copies in the checkpoints' store: the SHA-256 of each content by the id of git's object. */
const gitCopies = z.object({ type: z.literal("git-copies"), hashes: z.record(z.string(), z.string()), at: z.number() });

/**
 * A command whose changes are logged at its end; after a `begin` without an `end` they are unknown. A `note` is about a
 * command whose changes are not logged.
 */
const watchedCommand = z.object({
  type: z.literal("watched-command"),
  /** As of a file change. */
  source: z.string(),
  phase: z.enum(["begin", "end", "note"]),
  /** Changes that no restore reverts, one sentence each. */
  lacks: z.array(z.string()).readonly().exactOptional(),
  position: z.number(),
  at: z.number(),
});

/**
 * A restore of files to their state before the message at `position`. A `begin` without an `end` was interrupted. A `write`
 * precedes the writes of `files`; a `file-change` follows each write.
 */
const restoreEntry = z.object({
  type: z.literal("restore"),
  id: z.string(),
  phase: z.enum(["begin", "write", "end"]),
  files: z
    .array(
      z.object({
        path: z.string(),
        before: fileState.nullable(),
        after: fileState.nullable(),
        folders: z.array(z.string()).exactOptional(),
      }),
    )
    .readonly()
    .exactOptional(),
  position: z.number(),
  at: z.number(),
});

const entrySchema = z.discriminatedUnion("type", [
  /** First line of every journal. `at` is milliseconds since 1970 in all entries. */
  z.object({
    type: z.literal("session"),
    version: z.number(),
    id: z.string(),
    cwd: z.string(),
    /** Further workspace folders at the start, absolute. */ folders: z.array(z.string()).readonly().exactOptional(),
    /** Session that this one was forked from, or that delegated its task. */ parent: z.string().exactOptional(),
    /** `import`: an original Hermes home is the source. */ source: z.literal("import").exactOptional(),
    /** Id of the session in that home. */ original: z.string().exactOptional(),
    /** Starter of the session. Older journals lack it: then it is `import` if `source` is, else `user`. */
    origin: z.enum(["user", "delegation", "cron", "learning", "batch", "import"]).exactOptional(),
    at,
  }),
  /** `position` counts all messages of the session from 0, including those taken back. */
  z.object({ type: z.literal("message"), position: z.number().exactOptional(), message, at }),
  /** The messages from position `keep` on were taken back. Their lines stay in the file. */
  z.object({
    type: z.literal("rewind"),
    keep: z.number(),
    /** The next message asks again: it owns the file changes that answered the message at `keep`. */
    isRetry: z.literal(true).exactOptional(),
    /** The rewind before it was taken back: these positions returned, both ends included. */
    returned: z.array(z.tuple([z.number(), z.number()])).exactOptional(),
    at,
  }),
  /** A summary replaces older messages. It replaces the compression before it as a whole. */
  z.object({
    type: z.literal("compression"),
    /** Id of the next link in the lineage. The session keeps its own id. */ child: z.string(),
    strategy: z.string(),
    dropped: z.array(z.tuple([z.number(), z.number()])),
    summary: z.string().nullable(),
    shortened: z.array(z.object({ position: z.number(), content: z.string() })),
    /** Estimated tokens of the conversation. */ tokensBefore: z.number(),
    tokensAfter: z.number(),
    /** The provider refused the request as too long. */
    refused: z.literal(true).exactOptional(),
    at,
  }),
  /** The display of a tool call, for a replay. */
  z.object({
    type: z.literal("tool"),
    callId: z.string(),
    name: z.string(),
    title: z.string(),
    kind: z.string(),
    /** Call that this one is a part of. Such a call has no message. */
    parent: z.string().exactOptional(),
    locations: z.array(z.object({ path: z.string(), line: z.number().exactOptional() })),
    diffs: z.array(z.union([textDiff, hashDiff])),
    problems: z.array(HermesNewProblem).exactOptional(),
    hooks: z.array(HermesHookRun).exactOptional(),
    /** Tasks of a delegation at its end. */
    tasks: z.array(HermesTask).readonly().exactOptional(),
    /** Pages that the call read or found. */
    links: z.array(z.object({ title: z.string(), url: z.string() })).exactOptional(),
    /** Shell command that ended; `exit`: null when a signal ended it. */
    command: z.object({ text: z.string(), exit: z.number().nullable() }).exactOptional(),
    ok: z.boolean(),
    /** The user said no. */
    rejected: z.boolean().exactOptional(),
    durationMs: z.number(),
    at,
  }),
  /** A task of the delegation `callId` has begun in the session `child`. */
  z.object({
    type: z.literal("delegation"),
    callId: z.string(),
    task: z.string(),
    goal: z.string(),
    dependsOn: z.array(z.string()).readonly(),
    child: z.string(),
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
  /** The first message of every request. */
  z.object({ type: z.literal("system-prompt"), text: z.string(), at }),
  z.object({ type: z.literal("title"), title: z.string(), at }),
  /** The session goes on in another working folder, absolute. */
  z.object({ type: z.literal("folder"), cwd: z.string(), at }),
  /** The user pinned or archived the session; null: neither any more. */
  z.object({ type: z.literal("shelf"), shelf: z.enum(["pinned", "archived"]).nullable(), at }),
  z.object({ type: z.literal("mode"), mode: z.string(), at }),
  /** Goal of the user: `text` with its criteria, and `turns` of its `budget` that are used. */
  z.object({
    type: z.literal("goal"),
    text: z.string(),
    state: z.enum(["active", "paused", "met", "cleared"]),
    turns: z.number(),
    budget: z.number(),
    at,
  }),
  /** The user's choice of a model, as `provider:model`. */
  z.object({ type: z.literal("model"), choice: z.string(), at }),
  z.object({ type: z.literal("reasoning-effort"), effort: z.string(), at }),
  /** Sum over the model calls of a turn. */
  z.object({
    type: z.literal("usage"),
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cachedInputTokens: z.number(),
    reasoningTokens: z.number(),
    /** US dollars; absent when the price is unknown. */ costUsd: z.number().exactOptional(),
    /** Size of the last call: tokens by the provider's count, and by our estimate. */
    context: z.object({ counted: z.number(), estimated: z.number() }).exactOptional(),
    at,
  }),
  fileChange,
  gitCopies,
  watchedCommand,
  restoreEntry,
  /** A line for the user about work outside the turns, such as a memory review. */
  z.object({
    type: z.literal("notice"),
    text: z.string(),
    /** Call whose writes the user can undo. */ callId: z.string(),
    /** Position of the message after it. */ position: z.number(),
    at,
  }),
  ...outcomeEntries,
  z.object({
    type: z.literal("turn-end"),
    stopReason: z.string(),
    error: z.string().exactOptional(),
    /** Kind of the fault of `error`. */ fault: z.string().exactOptional(),
    /** Provider whose key is missing or refused. */ keyFor: z.string().exactOptional(),
    /** From the prompt to the first text or thought of the model. Milliseconds. */
    firstTokenMs: z.number().exactOptional(),
    at,
  }),
]);

export type JournalEntry = z.infer<typeof entrySchema>;

export type TextDiff = z.infer<typeof textDiff>;

export type StoredDiff = TextDiff | z.infer<typeof hashDiff>;

export type FileState = z.infer<typeof fileState>;

export type FileChange = Omit<z.infer<typeof fileChange>, "type" | "at">;

export type SessionOrigin = NonNullable<EntryOf<"session">["origin"]>;

export type EntryOf<Type extends JournalEntry["type"]> = Extract<JournalEntry, { type: Type }>;

/** Parses one line. Undefined for a torn or damaged line and for an entry of a later version. */
export function parseEntry(line: string): JournalEntry | undefined {
  const json = parseLine(line);
  return json === undefined ? undefined : checkEntry(json);
}

/** Returns the message of an entry. Throws when the entry is not a message, because another program changed the file. */
export function messageIn(entry: JournalEntry | undefined): Message {
  if (entry?.type !== "message") throw new Error("The session's journal was changed while it was in use.");
  return entry.message;
}

/** Characters around a line that are not JSON: zeros after a power cut, an editor's byte order mark. */
const AROUND = /^[\0\ufeff]|\0$/;
const AROUND_ALL = /^[\0\ufeff]+|\0+$/g;

/** Parses the JSON of a line without checking its shape. Undefined when it is not JSON. */
export function parseLine(line: string): unknown {
  return parseJson(AROUND.test(line) ? line.replaceAll(AROUND_ALL, "") : line); // undefined for a torn line
}

/** Undefined when `json` is not an entry of this version. */
export function checkEntry(json: unknown): JournalEntry | undefined {
  return entrySchema.safeParse(json).data;
}
