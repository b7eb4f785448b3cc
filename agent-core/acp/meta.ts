/**
 * What is ours on top of ACP, in `_meta.hermes` fields; every one has a fallback for clients and agents that do not
 * know it. The extension and the panel import these types and nothing else of the core.
 */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { FileProblems, Problem, ToldProblem } from "../host/problems.ts";
import type { Message } from "../messages/message.ts";
import type { EditorModel, ToolSchema } from "../providers/wire/wire.ts";
import type { ProcessView } from "../tools/terminal/process-watch.ts";

/** `clientCapabilities._meta.hermes` at initialize. */
export type HermesClientCapabilities = {
  /** `fs/write_text_file` honours `_meta.hermes.expected`. */
  readonly expectedText?: boolean;
  /** `_hermes/fs/*` is there. */
  readonly fileMoves?: boolean;
  /** `terminal/create` honours `_meta.hermes`, and `_hermes/terminal/input` is there. */
  readonly terminals?: boolean;
  /** What a compression leaves out is shown by `HermesCompressionMeta`; others get a notice. */
  readonly compressions?: boolean;
  /** `_hermes/lm/*` is there. */
  readonly languageModels?: boolean;
  /** `_hermes/fs/put_back` is there. */
  readonly putBack?: boolean;
  /** `_hermes/editor/problems/*` is there. */
  readonly problems?: boolean;
  /** `_hermes/sessions/building`, `importing` and `changed` are listened to. */
  readonly sessionIndex?: boolean;
  /** `_hermes/process/changed` is there. */
  readonly processes?: boolean;
};

/** `_meta.hermes` of `fs/write_text_file`: the write is refused (-32010) when the document holds anything else. */
export type HermesWriteMeta = {
  readonly expected: { readonly kind: "absent" } | { readonly kind: "text"; readonly text: string };
};

/**
 * `_meta.hermes` of the answer to `fs/write_text_file`: the user decided about the edit before it was written. `text` is
 * what the file holds now (null: there is none); the numbers count hunks.
 */
export type HermesWriteResult = {
  readonly review: {
    readonly text: string | null;
    /** What it held at the moment of writing. */
    readonly before?: string | null;
    readonly kept: number;
    readonly rejected: number;
  };
};

/**
 * Request of the agent: give a file an earlier text again (null: take it away), in its document, and not up for review.
 * Refused (-32010) when the file holds anything but `expected`.
 */
export const PUT_BACK = "_hermes/fs/put_back";
export type HermesPutBack = {
  readonly sessionId: string;
  readonly path: string;
  readonly text: string | null;
  readonly expected: HermesWriteMeta["expected"];
};

/** Requests of the agent about whole files; each is refused (-32010) when the document holds anything but `expected`. */
export const CLIENT_FILES = {
  /** HermesRemove → {}; `_meta.hermes` as of a write when the user decided first. */
  remove: "_hermes/fs/remove",
  /** HermesMove → {} */
  rename: "_hermes/fs/rename",
} as const;

export type HermesRemove = { readonly sessionId: string; readonly path: string; readonly expected: string };
export type HermesMove = {
  readonly sessionId: string;
  readonly from: string;
  readonly to: string;
  readonly expected: string;
};

/** JSON-RPC error code of a refused write; `message` says what changed. */
export const WRITE_CONFLICT = -32010;

/** Requests of the agent around an edit, for what the client's language servers find. */
export const CLIENT_PROBLEMS = {
  /** HermesProblemsWatch → {}; before the edit. */
  watch: "_hermes/editor/problems/watch",
  /** HermesProblems → HermesProblemsFound; after it. Ends the watch, and waits until problems have settled. */
  settled: "_hermes/editor/problems/settled",
} as const;

/** `watchId` is chosen by the agent. */
export type HermesProblemsWatch = { readonly sessionId: string; readonly watchId: string };
/** `paths`: the files that were edited, absolute. */
export type HermesProblems = HermesProblemsWatch & { readonly paths: readonly string[] };
/** Of those files, and of others whose problems have changed since the edit. */
export type HermesProblemsFound = { readonly files: readonly HermesFileProblems[] };
export type HermesFileProblems = FileProblems;
export type HermesProblem = Problem;

/** `_meta.hermes` of `terminal/create`. */
export type HermesTerminalMeta = {
  /** The client writes every byte of output to this file. */
  readonly outputFile: string;
  /** The command as the user knows it. */
  readonly title: string;
  /** `none`: the program finds the end of its input at once. */
  readonly input: "none" | "open";
  /** The program opens a pseudo-terminal itself: what is typed goes to it as it is, its echo comes back. */
  readonly hasPty: boolean;
  /** What carries it out in a shell of the user; absent where none can: on another machine, in the sandbox. */
  readonly userShell?: HermesUserShell;
};

export type HermesUserShell = {
  /** What is typed there; it was judged as a line of this language. */
  readonly line: string;
  readonly language: "sh" | "powershell";
  /** Variables for that shell; null takes one away. */
  readonly env: Readonly<Record<string, string | null>>;
};

/** `_meta.hermes` of its answer: the processes, so that the agent can see whether they wait for input. */
export type HermesTerminalStarted = { readonly pid: number; readonly marker: string };

/** `_meta.hermes` of the answer to `terminal/wait_for_exit`, of a shell that outlives the command: its folder, absolute. */
export type HermesTerminalEnded = { readonly folder: string };

/** Request of the agent: type into a terminal. The answer's `reason` says why it could not be done. */
export const TERMINAL_INPUT = "_hermes/terminal/input";
export type HermesTerminalInput = { readonly sessionId: string; readonly terminalId: string; readonly text: string };

/** `_meta.hermes` of `session/request_permission`. */
export type HermesPermissionMeta = {
  /** Why it asks, one sentence each. */
  readonly reasons: readonly string[];
  /** The command in full, when it is one. */
  readonly command?: string;
  /** What a lasting answer would cover, in plain words. */
  readonly grant?: string;
};

/**
 * `_meta.hermes` of a `user_message_chunk`, and of the `session_info_update` that a turn begins with: where the user's
 * message stands among all that were said in the session, from 0.
 */
export type HermesMessageMeta = { readonly position: number };

/** `_meta.hermes` of a `tool_call_update` that ends a call. */
export type HermesToolMeta = { readonly durationMs?: number };

/** `_meta.hermes` of a tool call's text that names what its edit has broken. */
export type HermesProblemsMeta = { readonly problems: readonly ToldProblem[] };

/** `agentCapabilities._meta.hermes` at initialize. */
export type HermesAgentCapabilities = {
  /** `_hermes/session/steer` is there. */
  readonly steer: boolean;
  /** `_hermes/session/restore_preview`, `restore` and `undo_restore` are there. */
  readonly restore: boolean;
  /** `_hermes/process/*` is there. */
  readonly processes: boolean;
  /** `_meta.hermes.tail` of `session/load` is honoured, and `_hermes/session/earlier` is there. */
  readonly tail: boolean;
};

/**
 * Says something in the middle of a running turn: `{sessionId, prompt}` as in `session/prompt`. It reaches the model after
 * the tool calls of the moment, and comes back as `user_message_chunk` when it does. Refused (-32600) when no turn runs.
 */
export const STEER_METHOD = "_hermes/session/steer";

export type HermesSteerResponse = { readonly queued: true };

/** `_meta.hermes` of `session/new` and `session/load`. */
export type HermesSessionMeta = {
  /** Whether the user trusts the workspace. */
  readonly trusted?: boolean;
  /** The model that a new session begins with: an id of the config option `model`. */
  readonly model?: string;
};

/**
 * `_meta.hermes` of `session/load`: only the last turns are replayed, as few as hold so many messages, tool results
 * included (of a turn of hundreds its last steps); at least 1, default: all. The rest comes with `_hermes/session/earlier`.
 */
export type HermesLoadMeta = HermesSessionMeta & { readonly tail?: number };

/** What was said before the part of a session that a client has. */
export type HermesEarlier = {
  /** Position of the first message that it has: what a page of earlier ones is asked for with. */
  readonly before: number;
  /** Prompts and answers before it, counted as those of a listed session. */
  readonly messages: number;
};

/** `_meta.hermes` of the `session_info_update` that such a replay begins with; absent when it is whole. */
export type HermesEarlierMeta = { readonly earlier: HermesEarlier };

/** A message of the user's by its position, or a tool call by its id. */
export type HermesAnchor = { readonly position: number } | { readonly toolCallId: string };

/**
 * `_meta.hermes` of the `session_info_update` after a compression, and where a replay has one: the model gets a summary
 * instead of the messages from `first` up to `firstKept` (null: the beginning, the end).
 */
export type HermesCompressionMeta = {
  readonly compression: {
    readonly messages: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly summary: string | null;
    readonly first: HermesAnchor | null;
    readonly firstKept: HermesAnchor | null;
  };
};

/** Journals that are read, and how many there are to read. */
export type HermesBuilding = { readonly done: number; readonly total: number };

/** `_meta.hermes` of the answer to `session/list`: the index is being built, and only what is read so far is listed. */
export type HermesListMeta = { readonly building?: HermesBuilding };

/**
 * Agent → client: the index of sessions is being built; `done` is `total` when it is done. Only where
 * `sessionIndex` is declared.
 */
export const INDEX_BUILDING = "_hermes/sessions/building";

/** Agent → client: how far an import is. Only where `sessionIndex` is declared. */
export const IMPORTING = "_hermes/sessions/importing";

/** Agent → client: lists of sessions are out of date. Only where `sessionIndex` is declared. */
export const SESSIONS_CHANGED = "_hermes/sessions/changed";

/** `_meta.hermes` of a session in the answer to `session/list`. */
export type HermesListedSession = {
  /** Prompts and answers that stand. */
  readonly messages: number;
  /** Where it was brought over from; absent: it began here. */
  readonly source?: string;
  /** In US dollars; absent when nothing is known of it. */
  readonly costUsd?: number;
};

/** `_meta.hermes` of `session/fork`: only what was said before this position is taken over; default: all. */
export type HermesForkMeta = { readonly position?: number };

/** Requests of ours about stored and open sessions; an agent that does not know them answers -32601. */
export const HERMES_SESSION_METHODS = {
  /** HermesRename → {} */
  rename: "_hermes/session/rename",
  /** HermesExport → HermesExported */
  export: "_hermes/session/export",
  /** HermesSearch → HermesSearchHits */
  search: "_hermes/session/search",
  /** HermesEarlierRequest → HermesEarlierPage: what a session that was loaded by its tail begins with. */
  earlier: "_hermes/session/earlier",
  /** HermesRewind → HermesRewound: takes back what was said from a position on. Refused (-32600) while a turn runs. */
  rewind: "_hermes/session/rewind",
  /** HermesRestorePreviewRequest → HermesRestorePreview: what going back to a message of the user's would do. */
  restorePreview: "_hermes/session/restore_preview",
  /** HermesRestore → HermesRestored. Refused (-32600) while a turn runs. */
  restore: "_hermes/session/restore",
  /** HermesImport → HermesImported: brings the sessions of an original Hermes home over. Refused (-32603) with why. */
  import: "_hermes/sessions/import",
  /** HermesUndoRestore → HermesRestored: puts the files back to what they were before a restore. */
  undoRestore: "_hermes/session/undo_restore",
} as const;

export type HermesRename = { readonly sessionId: string; readonly title: string };

export type HermesExport = { readonly sessionId: string; readonly format: "markdown" | "json" };

/** `fileName` is a proposal without a folder. */
export type HermesExported = { readonly text: string; readonly fileName: string };

/** In titles and messages; `cwd`: only sessions of this folder; `limit`: default 50. */
export type HermesSearch = { readonly query: string; readonly cwd?: string; readonly limit?: number };

export type HermesSearchHits = {
  /** Best first, one a session. */
  readonly hits: readonly {
    readonly sessionId: string;
    readonly title: string | null;
    readonly cwd: string;
    /** ISO 8601. */
    readonly updatedAt: string;
    readonly messages: number;
    readonly costUsd?: number;
    /** Of the message that was found; absent when it was the title. */
    readonly position?: number;
    /** Around the first place that was found; `marks` are ranges of it, in order. */
    readonly snippet: string;
    readonly marks: readonly (readonly [start: number, end: number])[];
  }[];
  /** The index is being built, and only what is read so far was searched. */
  readonly building?: HermesBuilding;
};

export type HermesImport = {
  /** `state.db` or its folder, absolute; default: in Hermes' own home. */
  readonly path?: string;
  /** Also sessions that were imported once and deleted since; default: no. */
  readonly again?: boolean;
};

/** Counted sessions; a second import adds only what is new. */
export type HermesImported = {
  readonly imported: number;
  /** They had gone on since they were imported. */
  readonly extended: number;
  readonly unchanged: number;
  /** They went on here since they were imported, or are open, and are left as they are. */
  readonly diverged: number;
  /** They were imported once and deleted here since, and are left out. */
  readonly deleted: number;
  readonly failed: readonly { readonly id: string; readonly why: string }[];
  /** The same in words. */
  readonly summary: string;
};

/** `messages`: as `tail` of HermesLoadMeta; default: all. */
export type HermesEarlierRequest = { readonly sessionId: string; readonly before: number; readonly messages?: number };

/** Null when nothing is earlier than that. */
export type HermesEarlierPage = { readonly updates: readonly SessionUpdate[]; readonly earlier: HermesEarlier | null };

export type HermesRewind = { readonly sessionId: string; readonly position: number };

/** What the user's message at that position said, as text; null when it was none of the user's. */
export type HermesRewound = { readonly prompt: string | null };

/** `position` is that of a message of the user's; `withTexts`: also what each text file would hold. */
export type HermesRestorePreviewRequest = {
  readonly sessionId: string;
  readonly position: number;
  readonly withTexts?: boolean;
};

/** A file of a restore. `leftAlone` says why it stays as it is; the numbers count lines, where they were counted. */
export type HermesRestoredFile = {
  /** Absolute. */
  readonly path: string;
  readonly change: "restore" | "remove" | "recreate";
  readonly added?: number;
  readonly removed?: number;
  readonly leftAlone?: string;
  /** What it would hold, when that was asked for and is text; null: nothing. */
  readonly text?: string | null;
};

export type HermesRestorePreview = {
  /** Only those that are not as they shall be. */
  readonly files: readonly HermesRestoredFile[];
  /** How many messages would be taken back with the conversation. */
  readonly messages: number;
  /** What the user's message there said. */
  readonly prompt: string | null;
};

export type HermesRestore = {
  readonly sessionId: string;
  readonly position: number;
  readonly files: boolean;
  readonly conversation: boolean;
};

export type HermesRestored = {
  readonly files: readonly HermesRestoredFile[];
  /** What the user's message said, when the conversation was taken back. */
  readonly prompt: string | null;
  /** By which what was done to files can be undone; absent when nothing was. */
  readonly restoreId?: string;
};

export type HermesUndoRestore = { readonly sessionId: string; readonly restoreId: string };

/** `_meta.hermes` of a `session_info_update`: what was said from this position on is taken back. */
export type HermesRewoundMeta = { readonly rewound: { readonly position: number; readonly prompt: string | null } };

/** Requests of ours to the agent; an agent that does not know them answers -32601. */
export const HERMES_METHODS = {
  /** → HermesProviders: what there is to begin with. */
  providers: "_hermes/providers",
  /** → HermesModels: every model there is, however many. */
  models: "_hermes/models",
  /** HermesKey → HermesKeyCheck: tries a key and keeps nothing of it. */
  checkKey: "_hermes/check_key",
  /** HermesEnvironment → {}: open sessions go on with it. */
  setEnvironment: "_hermes/set_environment",
  /** {} → {}: the user has come to trust the workspace; open sessions may write and run commands from now on. */
  trust: "_hermes/trust",
  /** {sessionId} → HermesGrants: answers of the user that last. */
  grants: "_hermes/grants/list",
  /** HermesRevoke → {}: from now on it asks again. */
  revokeGrant: "_hermes/grants/revoke",
} as const;

export type HermesGrants = {
  /** Those for always first; `description` says in plain words what is allowed, and where. */
  readonly grants: readonly {
    readonly id: string;
    readonly description: string;
    readonly lasting: "session" | "always";
  }[];
};

export type HermesRevoke = { readonly sessionId: string; readonly id: string };

export type HermesProvider = {
  readonly name: string;
  readonly title: string;
  /** Variable that holds its key. */
  readonly keyVariable: string;
  readonly hasKey: boolean;
  /** Where its users get a key. */
  readonly keyPage?: string;
  /** The user must give its address. */
  readonly needsAddress: boolean;
};

/** A model that can be used at once: the id of its choice, and words for people. */
export type HermesOffer = {
  readonly choice: string;
  readonly provider: string;
  readonly title: string;
  readonly model: string;
};

export type HermesProviders = {
  /** Nothing says which model to use. */
  readonly unset: boolean;
  /** Those that take a key. */
  readonly providers: readonly HermesProvider[];
  /** What answers here without one: the editor's models, servers on this machine. */
  readonly offers: readonly HermesOffer[];
};

export type HermesModels = {
  readonly groups: readonly {
    readonly provider: string;
    readonly title: string;
    readonly choices: readonly {
      readonly value: string;
      readonly name: string;
      readonly description?: string | null;
    }[];
  }[];
};

export type HermesKey = { readonly provider: string; readonly key: string; readonly baseUrl?: string };

export type HermesKeyCheck =
  /** `choices`: ids of the models that it reaches, the best first. */
  | { readonly ok: true; readonly message: string; readonly choices: readonly string[] }
  /** `refused`: the endpoint says that the key is wrong; otherwise it could not be asked. */
  | { readonly ok: false; readonly message: string; readonly refused: boolean };

/** Null takes a variable away. */
export type HermesEnvironment = { readonly variables: Readonly<Record<string, string | null>> };

/** Agent → client: the models that the editor offers. Only where `languageModels` is declared. */
export const LM_LIST = "_hermes/lm/list";

export type HermesModelList = { readonly models: readonly EditorModel[] };

/**
 * Agent → client: asks one of those models. The answer comes in `LM_DELTA` notifications; the response says how it
 * ended. `$/cancel_request` ends it at any time.
 */
export const LM_CHAT = "_hermes/lm/chat";

export type HermesChat = {
  /** Names the answer in its deltas. */
  readonly chatId: string;
  readonly model: string;
  /** System message first. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
};

export type HermesChatOutcome =
  /** `parts` were sent in deltas: a response may overtake notifications that were sent before it. */
  | { readonly outcome: "finished"; readonly parts: number }
  /** `message` is the editor's own words, or the model's. */
  | {
      readonly outcome: "failed";
      readonly kind: "model-not-found" | "not-allowed" | "blocked" | "failed";
      readonly message: string;
    };

/** Client → agent: what the model has said since the last one, in order. */
export const LM_DELTA = "_hermes/lm/delta";

export type HermesChatDelta = {
  readonly chatId: string;
  readonly parts: readonly (
    | { readonly type: "text" | "reasoning"; readonly text: string }
    | { readonly type: "call"; readonly callId: string; readonly name: string; readonly input: unknown }
  )[];
};

/** Client → agent: the user saved a file. What commands change at the same time is told apart from it. */
export const FILE_SAVED = "_hermes/file_saved";

export type HermesFileSaved = { readonly path: string };

/** Client → agent: the editor's models are others than before. */
export const LM_CHANGED = "_hermes/lm/changed";

/** Requests of the client about commands that run in the background of a session. */
export const PROCESS_METHODS = {
  /** {sessionId} → HermesProcesses */
  list: "_hermes/process/list",
  /** HermesProcessOutputRequest → HermesProcessOutput */
  output: "_hermes/process/output",
  /** HermesProcessInput → HermesProcessInputAnswer: the user types into it, which the model is told of. */
  input: "_hermes/process/input",
  /** HermesProcessId → {}: the user ends it with all it has started; the model is told. */
  stop: "_hermes/process/stop",
} as const;

/** Agent → client: HermesProcessesChanged. Only where `processes` is declared. */
export const PROCESS_CHANGED = "_hermes/process/changed";

export type HermesProcess = ProcessView;

/** Those that run, and those that have ended without the model knowing by now. */
export type HermesProcesses = { readonly processes: readonly HermesProcess[] };
export type HermesProcessesChanged = HermesProcesses & { readonly sessionId: string };

export type HermesProcessId = { readonly sessionId: string; readonly id: string };
/** `from`: a byte of the output; default: so that the end of it is given. */
export type HermesProcessOutputRequest = HermesProcessId & { readonly from?: number };
/** Whole characters, escape sequences included. `nextByte`: what to go on from. */
export type HermesProcessOutput = { readonly text: string; readonly nextByte: number; readonly totalBytes: number };
/** As typed, with its line break; `\u0003` interrupts, a final `\u0004` ends the input. */
export type HermesProcessInput = HermesProcessId & { readonly text: string };
/** `reason`: why it could not be done. */
export type HermesProcessInputAnswer = { readonly reason?: string };
