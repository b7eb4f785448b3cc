/**
 * Messages of the extension to the chat panel: the numbered events of a session's log, facts of the workspace, the list
 * of sessions, and commands. Updates of the agent travel as ACP's own records.
 */
import type {
  AvailableCommand,
  PermissionOption,
  SessionConfigOption,
  SessionUpdate,
  StopReason,
  ToolCallUpdate,
} from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { Attachment, Attachments, MentionItem } from "./attachments.ts";
import { HermesExtensionItem } from "./extensions.ts";
import { HermesSettled } from "./files.ts";
import { HermesProcess } from "./processes.ts";
import { HermesRestoredFile, restoreLimits } from "./restores.ts";
import {
  HermesBuilding,
  HermesContext,
  HermesEarlier,
  HermesSandbox,
  HermesSessionState,
  HermesShelf,
} from "./sessions.ts";
import { HermesOffer } from "./settings.ts";

/** A record of ACP, which the agent's side has checked. */
const acp = <Type>() => z.custom<Type>((value) => typeof value === "object" && value !== null);

/** Life of the agent. */
export const AgentState = z.enum(["starting", "ready", "restarting", "failed"]);
export type AgentState = z.infer<typeof AgentState>;

/** A message that the user sent while a turn ran. `steering`: the turn takes it after its current tool calls. */
export const QueuedPrompt = z.object({
  id: z.string(),
  text: z.string(),
  attachments: Attachments.exactOptional(),
  state: z.enum(["waiting", "steering", "editing"]),
});
export type QueuedPrompt = Readonly<z.infer<typeof QueuedPrompt>>;

/** Pending hunks of a file. `path` is absolute, `label` is for display. */
export const ReviewedFile = z.object({
  path: z.string(),
  label: z.string(),
  /** The agent waits for the verdict before it writes. */
  isWaiting: z.boolean(),
  pendingHunks: z.number(),
  added: z.number(),
  removed: z.number(),
});
export type ReviewedFile = z.infer<typeof ReviewedFile>;

/** Contents of the page that sets up a model. */
export const SetupPage = z.object({
  /** Models that need no key. */
  offers: z.array(HermesOffer).readonly(),
  keys: z.array(z.object({ provider: z.string(), title: z.string(), hasKey: z.boolean() })).readonly(),
  /** Sentence about the place where keys are stored. */
  keyPlace: z.string(),
  /** Provider whose key the editor has forgotten. */
  lost: z.object({ provider: z.string(), title: z.string() }).exactOptional(),
  /** The user opened the page, and can close it. */
  canClose: z.boolean(),
});
export type SetupPage = z.infer<typeof SetupPage>;

/** A stored session in the list. */
export const HistoryItem = z.object({
  sessionId: z.string(),
  title: z.string(),
  /** Milliseconds since 1970. */
  updatedAt: z.number(),
  messages: z.number().optional(),
  /** US dollars; undefined when unknown. */
  costUsd: z.number().optional(),
  /** Folder of the session, unless it is the folder of this workspace. */
  folder: z.string().optional(),
  isCurrent: z.boolean(),
  /** Title of another agent, whose sessions are only opened here. */
  agent: z.string().exactOptional(),
  shelf: HermesShelf.exactOptional(),
  /** Turn that runs in any window or terminal. */
  state: HermesSessionState.exactOptional(),
  /** A planned job is the origin of the session. */
  isJob: z.boolean().exactOptional(),
  /** Text around the first match of a search; `marks` are ranges of `text`, in order. */
  snippet: z
    .object({ text: z.string(), marks: z.array(z.tuple([z.number(), z.number()]).readonly()).readonly() })
    .exactOptional(),
});
export type HistoryItem = z.infer<typeof HistoryItem>;

/** The list of stored sessions. */
export const HistoryPage = z.object({
  /** Empty: all sessions, last used first. */
  query: z.string(),
  /** Includes sessions of other folders. */
  everywhere: z.boolean(),
  /** Only archived sessions, which are hidden otherwise. */
  isArchive: z.boolean(),
  sessions: z.array(HistoryItem).readonly(),
  hasMore: z.boolean(),
  isLoading: z.boolean(),
  /** Progress of the index while it is being built. */
  building: HermesBuilding.exactOptional(),
  /** One line. */
  error: z.string().exactOptional(),
});
export type HistoryPage = z.infer<typeof HistoryPage>;

/** A request that fits the state of the workspace. `icon`: of codicons. */
export const Suggestion = z.object({
  icon: z.string(),
  label: z.string(),
  detail: z.string(),
  prompt: z.string(),
  attachments: Attachments.exactOptional(),
});
export type Suggestion = z.infer<typeof Suggestion>;

/** Contents of the page before the first message. */
export const StartPage = z.object({
  hasRepository: z.boolean(),
  recent: z.array(HistoryItem).readonly(),
  suggestions: z.array(Suggestion).readonly(),
});
export type StartPage = z.infer<typeof StartPage>;

/** A file of a restore. `label` is for display. */
export const RestoreFile = HermesRestoredFile.omit({ text: true }).extend({ label: z.string() });
export type RestoreFile = z.infer<typeof RestoreFile>;

/** `messages`: number of the user's messages that the conversation would lose. `forResend`: for a message's editor. */
export const RestorePreview = z.object({
  forResend: z.boolean().exactOptional(),
  files: z.array(RestoreFile).readonly(),
  limits: restoreLimits,
  messages: z.number(),
});
export type RestorePreview = z.infer<typeof RestorePreview>;

/** Start of a session's log: the panel shows this session and nothing of the one before. */
const sessionEvent = z.object({
  kind: z.literal("session"),
  sessionId: z.string(),
  agentName: z.string(),
  /** Another agent than Hermes: without restores, steering and extensions. Default: false. */
  isForeign: z.boolean().exactOptional(),
  configOptions: z.array(acp<SessionConfigOption>()).readonly(),
  commands: z.array(acp<AvailableCommand>()).readonly(),
});

const turnEvents = [
  /** A turn starts with this message of the user. */
  z.object({ kind: z.literal("prompt"), id: z.string(), text: z.string(), attachments: Attachments.exactOptional() }),
  /** Neighbouring deltas of a text may have been merged. */
  z.object({ kind: z.literal("update"), update: acp<SessionUpdate>() }),
  /** `error`: one line. `fault`: its kind. `fault` and `keyFor` are as in `HermesFaultData`. */
  z.object({
    kind: z.literal("turn-end"),
    stopReason: z.custom<StopReason>((value) => typeof value === "string").exactOptional(),
    error: z.string().exactOptional(),
    fault: z.string().exactOptional(),
    keyFor: z.string().exactOptional(),
  }),
  /** The turn before ended with its window. */
  z.object({ kind: z.literal("interrupted") }),
  z.object({ kind: z.literal("queue"), prompts: z.array(QueuedPrompt).readonly() }),
  /** The messages from this position on were removed. */
  z.object({ kind: z.literal("rewind"), position: z.number() }),
  HermesSettled.extend({ kind: z.literal("reviewed") }),
  /** The session works in the worktree of this name. */
  z.object({ kind: z.literal("worktree"), name: z.string() }),
  z.object({ kind: z.literal("notice"), severity: z.enum(["info", "warning", "error"]), text: z.string() }),
] as const;

const earlierEvents = [
  /** Updates before a position, as the agent replays them; `earlier`: the part before them, null at the beginning. */
  z.object({
    kind: z.literal("earlier-page"),
    before: z.number(),
    updates: z.array(acp<SessionUpdate>()).readonly(),
    earlier: HermesEarlier.nullable(),
  }),
  /** `message`: one line. */
  z.object({ kind: z.literal("earlier-failed"), before: z.number(), message: z.string() }),
] as const;

const restoreEvents = [
  /** Null removes the preview. */
  z.object({ kind: z.literal("restore-preview"), position: z.number(), preview: RestorePreview.nullable() }),
  /** `restoreId`: id to undo the restore; missing when nothing changed. */
  z.object({
    kind: z.literal("restored"),
    /** The messages were taken back, or returned. */
    hasConversation: z.boolean(),
    files: z.array(RestoreFile).readonly(),
    limits: restoreLimits,
    isUndo: z.boolean(),
    restoreId: z.string().exactOptional(),
  }),
] as const;

const terminalEvents = [
  z.object({ kind: z.literal("terminal-output"), terminalId: z.string(), text: z.string() }),
  z.object({
    kind: z.literal("terminal-exit"),
    terminalId: z.string(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
  }),
] as const;

const requestEvents = [
  z.object({
    kind: z.literal("permission"),
    requestId: z.string(),
    toolCall: acp<ToolCallUpdate>(),
    options: z.array(acp<PermissionOption>()).readonly(),
    reasons: z.array(z.string()).readonly(),
    command: z.string().exactOptional(),
    grant: z.string().exactOptional(),
    /** Goal of the task whose sub-agent asks. */
    task: z.string().exactOptional(),
  }),
  /** The request is answered or withdrawn; `label` describes the outcome. */
  z.object({ kind: z.literal("permission-end"), requestId: z.string(), label: z.string() }),
  z.object({
    kind: z.literal("question"),
    requestId: z.string(),
    message: z.string(),
    choices: z.array(z.string()).readonly(),
  }),
  z.object({ kind: z.literal("question-end"), requestId: z.string(), label: z.string() }),
] as const;

/** An event of a session's log. */
export const PanelEvent = z.discriminatedUnion("kind", [
  sessionEvent,
  ...turnEvents,
  ...earlierEvents,
  ...restoreEvents,
  ...terminalEvents,
  ...requestEvents,
]);
export type PanelEvent = z.infer<typeof PanelEvent>;

/** Facts of the workspace, independent of any session. A new panel gets all of them, and again at each change. */
export const WorkspaceFacts = z.object({
  agent: z.object({ state: AgentState, message: z.string().exactOptional() }),
  /** In an untrusted workspace the agent only talks and reads. */
  isTrusted: z.boolean(),
  /** Sandbox of the commands of the session opened last; missing before the first one. */
  sandbox: HermesSandbox.exactOptional(),
  review: z.array(ReviewedFile).readonly(),
  /** Sessions that work, ask or have finished out of sight. `isInSight`: the user sees the session in a panel. */
  background: z
    .array(
      z.object({
        sessionId: z.string(),
        title: z.string().exactOptional(),
        state: z.enum(["working", "asks", "done"]),
        isInSight: z.boolean(),
      }),
    )
    .readonly(),
  /** Number of files whose undo can be redone. */
  undone: z.number(),
  /** Background processes of every open session. */
  processes: z.array(z.object({ sessionId: z.string(), processes: z.array(HermesProcess).readonly() })).readonly(),
  /** MCP servers, plugins, hooks and skills of every open session. */
  extensions: z.array(z.object({ sessionId: z.string(), items: z.array(HermesExtensionItem).readonly() })).readonly(),
  /** The active file or its selection, which the panel sends with the next message. Empty when switched off. */
  suggested: z.array(Attachment).readonly(),
  /** The user wants such suggestions. */
  isSuggesting: z.boolean(),
  /** Null: the page has not been needed yet, or a model is set up. */
  setup: SetupPage.nullable(),
  /** `virtual`: the files of the workspace are on no disk of this machine. Without a folder no session opens. */
  folder: z.enum(["open", "none", "virtual"]),
  /** Null until the host knows whether a model is set up. */
  start: StartPage.nullable(),
  /** The newest of what was learnt, or used of it (`isUse`), until the next prompt. `message`: one line. */
  learnt: z.object({ message: z.string(), canUndo: z.boolean(), isUse: z.boolean().exactOptional() }).nullable(),
});
export type WorkspaceFacts = z.infer<typeof WorkspaceFacts>;

/** An update of the list of stored sessions. The panel requests the list and decides whether it shows it. */
export const HistoryUpdate = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("page"), page: HistoryPage }),
  /** Sessions to append to the list. */
  z.object({ kind: z.literal("next"), sessions: z.array(HistoryItem).readonly(), hasMore: z.boolean() }),
  /** Progress of the index; null when it is complete. */
  z.object({ kind: z.literal("building"), building: HermesBuilding.nullable() }),
]);
export type HistoryUpdate = z.infer<typeof HistoryUpdate>;

/** Outcome of an action on an extension. `message`: one line. */
export const ExtensionActed = z.object({ id: z.string(), message: z.string(), isError: z.boolean() });
export type ExtensionActed = z.infer<typeof ExtensionActed>;

/** A command to the panel, which runs it once. A replay of a log does not repeat commands. */
export const PanelCommand = z.discriminatedUnion("kind", [
  /** Focuses the composer, with `text` before the draft and `attachments` added. `refused`: reasons why others are not. */
  z.object({
    kind: z.literal("compose"),
    text: z.string().exactOptional(),
    attachments: Attachments.exactOptional(),
    refused: z.array(z.string()).exactOptional(),
  }),
  /** Removes a text that `compose` inserted, unless the user has changed it. */
  z.object({ kind: z.literal("withdraw"), text: z.string() }),
  /** Posts the unsent message as `draft`, and empties the composer: the session moves to another panel. */
  z.object({ kind: z.literal("give-draft") }),
  /** The host shows a new session: leads to it and focuses the composer. */
  z.object({ kind: z.literal("new-session") }),
  /** The session shown was deleted: opens a new one and keeps the page. */
  z.object({ kind: z.literal("replace-session") }),
  z.object({ kind: z.literal("open-session"), sessionId: z.string() }),
  z.object({ kind: z.literal("show-sessions") }),
  z.object({ kind: z.literal("show-extensions") }),
  z.object({ kind: z.literal("show-setup") }),
  /** Opens the find bar of the conversation. */
  z.object({ kind: z.literal("find") }),
]);
export type PanelCommand = z.infer<typeof PanelCommand>;

/**
 * Events of the log of the session shown. `first`: number of the first event; numbers are consecutive. `reset`: the panel
 * drops its session, the events start from the beginning.
 */
export const EventsMessage = z.object({
  type: z.literal("events"),
  epoch: z.string(),
  first: z.number(),
  reset: z.boolean(),
  /** A long list travels as JSON text: each window between host and panel would copy a list item by item. */
  events: z.union([z.array(PanelEvent).readonly(), z.string()]),
});
export type EventsMessage = z.infer<typeof EventsMessage>;

export const HostMessage = z.discriminatedUnion("type", [
  EventsMessage,
  z.object({ type: z.literal("facts"), facts: WorkspaceFacts }),
  /** The panel answers with `has-focus`. */
  z.object({ type: z.literal("ask-focus") }),
  z.object({ type: z.literal("history"), update: HistoryUpdate }),
  z.object({ type: z.literal("extension-acted"), acted: ExtensionActed }),
  /** Answer to `context-show`. `problem`: one line. */
  z.object({
    type: z.literal("context"),
    sessionId: z.string(),
    context: z.union([HermesContext, z.object({ problem: z.string() })]),
  }),
  /** Matches of a `mention-search`, best first. A later message with the same id replaces them. */
  z.object({
    type: z.literal("mentions"),
    id: z.number(),
    items: z.array(MentionItem).readonly(),
    isComplete: z.boolean(),
  }),
  /** Events of a sub-agent's conversation; `reset`: from the beginning of what the panel has. */
  z.object({
    type: z.literal("task-events"),
    child: z.string(),
    reset: z.boolean(),
    events: z.array(PanelEvent).readonly(),
  }),
  /** Answer to `check-paths`. */
  z.object({
    type: z.literal("paths-checked"),
    asked: z.array(z.string()).readonly(),
    existing: z.array(z.string()).readonly(),
  }),
  /** The panel answers with `command-done` and the same id. */
  z.object({ type: z.literal("command"), id: z.string(), command: PanelCommand }),
]);
export type HostMessage = z.infer<typeof HostMessage>;
