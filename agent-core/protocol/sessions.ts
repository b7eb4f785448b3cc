/** Stored and open sessions: start, list, search, import, pages of history, rewind. */
import type { ListSessionsResponse, SessionUpdate } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { inSession, nothing } from "./method.ts";

/** `_meta.hermes` of `session/new` and `session/load`. */
export const HermesSessionMeta = z.object({
  /** The user trusts the workspace. */
  trusted: z.boolean().exactOptional(),
  /** Model of a new session: an id of the config option `model`. */
  model: z.string().exactOptional(),
  /** Text of the client about the conversation's place, for the system prompt of a new session. */
  context: z.string().exactOptional(),
});
export type HermesSessionMeta = z.infer<typeof HermesSessionMeta>;

/** Sandbox of a session's commands; `advice` says how to enable it. Null: commands run on another machine. */
export const HermesSandbox = z
  .object({ isOn: z.boolean(), text: z.string(), advice: z.string().exactOptional() })
  .nullable();
export type HermesSandbox = z.infer<typeof HermesSandbox>;

/** `_meta.hermes` of the response to `session/new`, `load`, `resume` and `fork`. */
export const HermesOpenedMeta = z.object({
  sandbox: HermesSandbox,
  /** Use of a message that comes while a turn runs: `display.busy_input_mode`. Default: `queue`. */
  busyInputMode: z.enum(["queue", "steer", "interrupt"]).exactOptional(),
  /** The client makes a worktree for the first task, and sends it to a new session there. Default: false. */
  startsInWorktree: z.boolean().exactOptional(),
  /** Worktree in which the session goes on, in place of the client's folder. */
  worktree: z.string().exactOptional(),
});
export type HermesOpenedMeta = z.infer<typeof HermesOpenedMeta>;

/**
 * `_meta.hermes` of `session/load`: the agent replays only the last turns, as few as hold `tail` messages and tool
 * results (of a turn with hundreds only its last steps). Default: all. `_hermes/session/earlier` gives the rest.
 * `inWorktree`: a session of a worktree of the folder's repository goes on there. Default: in the folder.
 */
export const HermesLoadMeta = z.object({
  tail: z.int().min(1).exactOptional(),
  inWorktree: z.literal(true).exactOptional(),
});
export type HermesLoadMeta = z.infer<typeof HermesLoadMeta>;

/** The part of a conversation that a client does not have yet. */
export const HermesEarlier = z.object({
  /** Position of the first message that the client has; it asks for a page before this one. */
  before: z.number(),
  /** Number of prompts and answers before it. */
  messages: z.number(),
});
export type HermesEarlier = z.infer<typeof HermesEarlier>;

/** Progress over journals. An equal `done` and `total` means the end. */
export const HermesBuilding = z.object({ done: z.number(), total: z.number() });
export type HermesBuilding = z.infer<typeof HermesBuilding>;

/** `_meta.hermes` of the response to `session/list` while the index is being built: the list is incomplete. */
export type HermesListMeta = { readonly building?: HermesBuilding };

/** Place of a session in lists: on top, or hidden. */
export const HermesShelf = z.enum(["pinned", "archived"]);
export type HermesShelf = z.infer<typeof HermesShelf>;

/**
 * `_meta.hermes` of `session/list`. `none`: sessions that are neither pinned nor archived. Default: all sessions.
 * `limit`: size of the page. Default: 50. `worktrees`: with those of the folder's worktrees. Default: false.
 */
export const HermesListFilter = z.object({
  worktrees: z.boolean().exactOptional(),
  shelf: z.enum([...HermesShelf.options, "none"]).exactOptional(),
  limit: z.int().min(1).max(500).exactOptional(),
});
export type HermesListFilter = z.infer<typeof HermesListFilter>;

/** `asks`: a turn waits for the user. */
export const HermesSessionState = z.enum(["working", "asks"]);
export type HermesSessionState = z.infer<typeof HermesSessionState>;

/** `_meta.hermes` of a session in the response to `session/list`. */
export const HermesListedSession = z.object({
  shelf: HermesShelf.exactOptional(),
  /** Number of prompts and answers. */
  messages: z.number(),
  /** Origin of an imported session. */
  source: z.string().exactOptional(),
  /** A planned job is the origin of the session. */
  isJob: z.boolean().exactOptional(),
  /** US dollars; missing when unknown. */
  costUsd: z.number().exactOptional(),
  /** Turn that runs in any process of this home. */
  state: HermesSessionState.exactOptional(),
  /** Branch of git in the session's folder. */
  branch: z.string().exactOptional(),
});
export type HermesListedSession = z.infer<typeof HermesListedSession>;

export const HermesRename = z.object({ sessionId: z.string(), title: z.string() });
export type HermesRename = z.infer<typeof HermesRename>;

/** Null: neither pinned nor archived. */
export const HermesShelve = z.object({ sessionId: z.string(), shelf: HermesShelf.nullable() });
export type HermesShelve = z.infer<typeof HermesShelve>;

export const HermesExport = z.object({ sessionId: z.string(), format: z.enum(["markdown", "json"]) });
export type HermesExport = z.infer<typeof HermesExport>;

/** `fileName` is a suggestion without a folder. */
export const HermesExported = z.object({ text: z.string(), fileName: z.string() });

/**
 * Search in titles and messages. `query` takes words, "phrases", OR and prefix*. A last word of three letters or more,
 * with nothing after it, also matches longer words. `cwd` limits the search to sessions of this folder. `worktrees`: as
 * HermesListFilter.
 */
export const HermesSearch = z.object({
  query: z.string().min(1),
  worktrees: z.boolean().exactOptional(),
  cwd: z.string().exactOptional(),
  /** Default: 50. */
  limit: z.int().min(1).max(500).exactOptional(),
});

const searchHit = z.object({
  sessionId: z.string(),
  title: z.string().nullable(),
  cwd: z.string(),
  /** ISO 8601. */
  updatedAt: z.string(),
  messages: z.number(),
  shelf: HermesShelf.exactOptional(),
  costUsd: z.number().exactOptional(),
  /** Position of the message that matched; missing when the title matched. */
  position: z.number().exactOptional(),
  /** Text around the first match. */
  snippet: z.string(),
  /** Ranges of `snippet` that matched, in order: start and end. */
  marks: z.array(z.tuple([z.number(), z.number()]).readonly()).readonly(),
});

export const HermesSearchHits = z.object({
  /** Best first, one per session. */
  hits: z.array(searchHit).readonly(),
  /** Progress of the index while it is being built: the search covers only that part. */
  building: HermesBuilding.exactOptional(),
});
export type HermesSearchHits = z.infer<typeof HermesSearchHits>;

/** Titles by session id; empty for a session without one. Sessions that no longer exist are missing. */
export const HermesTitles = z.object({ titles: z.record(z.string(), z.string()) });

export const HermesImport = z.object({
  /** `state.db` or its folder, absolute. Default: Hermes' own home. */
  path: z.string().min(1).exactOptional(),
});
export type HermesImport = z.infer<typeof HermesImport>;

/** Counts of sessions by outcome; a second import adds only new ones. `summary`: the same in words. */
export const HermesImported = z.object({
  imported: z.number(),
  /** Imported earlier: they stay as they are here. */
  unchanged: z.number(),
  /** Imported earlier and deleted here since: left out. */
  deleted: z.number(),
  failed: z.array(z.object({ id: z.string(), why: z.string() })).readonly(),
  summary: z.string(),
});
export type HermesImported = z.infer<typeof HermesImported>;

/** `messages`: size of the page, as `tail` of HermesLoadMeta. Default: all. */
export const HermesEarlierRequest = z.object({
  sessionId: z.string(),
  before: z.int().min(0),
  messages: z.int().min(1).exactOptional(),
});
export type HermesEarlierRequest = z.infer<typeof HermesEarlierRequest>;

/** ACP's own record, checked by its discriminator only: one page can hold thousands. */
const sessionUpdate = z.custom<SessionUpdate>(
  (value) => typeof value === "object" && value !== null && "sessionUpdate" in value,
);

/** `earlier`: null at the beginning of the conversation. */
export const HermesEarlierPage = z.object({
  updates: z.array(sessionUpdate).readonly(),
  earlier: HermesEarlier.nullable(),
});
export type HermesEarlierPage = z.infer<typeof HermesEarlierPage>;

/** `upTo`: position of the last message; default: all messages. */
export const HermesReplayRequest = z.object({ sessionId: z.string(), upTo: z.int().min(0).exactOptional() });

export const HermesReplay = z.object({ updates: z.array(sessionUpdate).readonly() });

export const HermesRewind = z.object({ sessionId: z.string(), position: z.int().min(0) });

/**
 * Part of a model's window. `answers`: with reasoning and tool calls. `notes`: the agent's own, such as the summary of older
 * messages. `hooks`: texts that hooks added to results.
 */
export const HermesContextPart = z.enum([
  ...["system-prompt", "instructions", "memory", "skills", "tools", "notes"],
  ...["user", "answers", "results", "hooks", "pictures"],
] as const);
export type HermesContextPart = z.infer<typeof HermesContextPart>;

/** Contents of the window of a session's model, and usage of the session. Counts are tokens. */
export const HermesContext = z.object({
  used: z.number(),
  window: z.number(),
  /** Estimates whose sum is `used`. */
  parts: z.array(z.object({ part: HermesContextPart, tokens: z.number() })).readonly(),
  /** `/compress` would shorten the conversation. */
  canCompress: z.boolean(),
  /** Usage by model, first used first. `model`: an id of the config option `model`. */
  models: z
    .array(
      z.object({
        model: z.string(),
        inputTokens: z.number(),
        /** Part of `inputTokens`. */
        cachedInputTokens: z.number(),
        outputTokens: z.number(),
        /** US dollars; missing when unknown. */
        costUsd: z.number().exactOptional(),
      }),
    )
    .readonly(),
});
export type HermesContext = z.infer<typeof HermesContext>;

/** Text of the user message at that position; null when the message is not the user's. */
export const HermesRewound = z.object({ prompt: z.string().nullable() });

const pairs = z.array(z.object({ name: z.string(), value: z.string() }));

/** MCP server as in session/new. */
const mcpServer = z.union([
  z.object({ type: z.enum(["http", "sse"]), name: z.string(), url: z.string(), headers: pairs }),
  z.object({ name: z.string(), command: z.string(), args: z.array(z.string()), env: pairs }),
]);

const forkParams = z.object({
  sessionId: z.string(),
  cwd: z.string(),
  additionalDirectories: z.array(z.string()).exactOptional(),
  mcpServers: z.array(mcpServer).exactOptional(),
  _meta: z
    .looseObject({
      /** The fork has only the messages before this position; default: all. `inWorktree`: see `HermesLoadMeta`. */
      hermes: z
        .looseObject({ position: z.int().min(0).exactOptional(), inWorktree: z.literal(true).exactOptional() })
        .exactOptional(),
    })
    .nullable()
    .optional(),
});
const forkResult = z.looseObject({ sessionId: z.string() });

const listParams = z.object({
  cwd: z.string().nullish(),
  cursor: z.string().nullish(),
  /** Default: `exclude`. `HermesListFilter` in `_meta` takes precedence. */
  archived: z.enum(["exclude", "include", "only"]).nullish(),
  _meta: z.unknown().optional(),
});
export type ListParams = z.infer<typeof listParams>;

const HermesAuthStatus = z.object({ state: z.enum(["authenticated", "unauthenticated"]) });

/** Methods of ACP that are not stable yet, so that its library does not type them. */
export const forkMethod = { name: "session/fork", params: forkParams, result: forkResult };
export const unstableMethods = {
  list: { name: "session/list", params: listParams, result: z.custom<ListSessionsResponse>() },
  setTitle: { name: "session/set_title", params: HermesRename, result: nothing },
  archive: { name: "session/archive", params: inSession, result: nothing },
  unarchive: { name: "session/unarchive", params: inSession, result: nothing },
  status: { name: "session/status", params: inSession, result: z.object({ status: z.enum(["open", "saved"]) }) },
  authStatus: { name: "auth/status", params: nothing, result: HermesAuthStatus },
  /** Agent → client. */
  authStatusUpdate: { name: "auth/status_update", params: HermesAuthStatus },
};

export const sessionMethods = {
  rename: { name: "_hermes/session/rename", params: HermesRename, result: nothing },
  /** Pins or archives a session, or undoes both. */
  shelve: { name: "_hermes/session/shelve", params: HermesShelve, result: nothing },
  export: { name: "_hermes/session/export", params: HermesExport, result: HermesExported },
  search: { name: "_hermes/session/search", params: HermesSearch, result: HermesSearchHits },
  titles: {
    name: "_hermes/sessions/titles",
    params: z.object({ ids: z.array(z.string()).max(10_000).readonly() }),
    result: HermesTitles,
  },
  /** A page of the conversation before the replayed part. */
  earlier: { name: "_hermes/session/earlier", params: HermesEarlierRequest, result: HermesEarlierPage },
  /** The updates that `session/load` sends, of a session that stays open. Allowed while a turn runs. */
  replay: { name: "_hermes/session/replay", params: HermesReplayRequest, result: HermesReplay },
  /** Contents of the model's window. Allowed while a turn runs. */
  context: { name: "_hermes/session/context", params: inSession, result: HermesContext },
  /** The session as training data; protocol/trajectory.ts has the schemas of both results, which the agent needs not load. */
  trajectory: { name: "_hermes/session/trajectory", params: inSession, result: nothing },
  /** Runs a command in the place and the sandbox of the session's own commands, without a permission. */
  command: { name: "_hermes/session/command", params: inSession.extend({ command: z.string() }), result: nothing },
  /** Removes the messages from a position on. Refused (-32600) while a turn runs. */
  rewind: { name: "_hermes/session/rewind", params: HermesRewind, result: HermesRewound },
  /** Imports the sessions of an original Hermes home. Fails with -32603 and the reason. */
  import: { name: "_hermes/sessions/import", params: HermesImport, result: HermesImported },
  /** Agent → client: progress of the index. Only where `sessionIndex` is declared, like the next two. */
  building: { name: "_hermes/sessions/building", params: HermesBuilding },
  /** Agent → client: progress of an import. */
  importing: { name: "_hermes/sessions/importing", params: HermesBuilding },
  /** Agent → client: lists of sessions are out of date. */
  changed: { name: "_hermes/sessions/changed", params: nothing },
};
