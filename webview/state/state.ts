/** State of the panel as one immutable value. Only the reducer makes a new one. */
import type {
  AvailableCommand,
  Cost,
  PlanEntry,
  SessionConfigOption,
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "@zed-industries/agent-client-protocol";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { HermesHookRun } from "../../agent-core/protocol/conversation.ts";
import type { HermesTask } from "../../agent-core/protocol/delegation.ts";
import { INITIAL_FACTS, INITIAL_HISTORY } from "../../agent-core/protocol/initial-facts.ts";
import type {
  HistoryPage,
  PanelEvent,
  QueuedPrompt,
  RestoreFile,
  RestorePreview,
  WorkspaceFacts,
} from "../../agent-core/protocol/panel-events.ts";
import type { HermesContext, HermesEarlier } from "../../agent-core/protocol/sessions.ts";
import type { Activity, CompressionUpdate, ContextPressure, RetryUpdate } from "./agent-meta.ts";
import type { TaskRef } from "./delegation.ts";
import type { StreamedText } from "./streamed-text.ts";

/** A message or a thought. A growing one is `PanelState.open`; a finished one is in `entries`. */
export type TextEntry = {
  readonly type: "user" | "answer" | "thought";
  readonly key: string;
  readonly messageId: string | undefined;
  /** Index of the user's message in its session, once the agent has sent it. */
  readonly position: number | undefined;
  readonly text: StreamedText;
  /** Only of a message of the user. */
  readonly attachments: readonly Attachment[];
  readonly growing: boolean;
  /** Milliseconds of the clock; undefined for a replayed entry. */
  readonly startedAt: number | undefined;
  /** Milliseconds; undefined when unknown. */
  readonly durationMs: number | undefined;
};

/** `stopped`: the turn ended before the call. */
export type ToolStatus = ToolCallStatus | "stopped";

export type ToolEntry = {
  readonly type: "tool";
  readonly key: string;
  readonly id: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly status: ToolStatus;
  readonly content: readonly ToolCallContent[];
  readonly locations: readonly ToolCallLocation[];
  readonly rawInput: unknown;
  /** Milliseconds of the clock; undefined for a replayed call. */
  readonly startedAt: number | undefined;
  readonly durationMs: number | undefined;
  readonly hooks: readonly HermesHookRun[];
  /** The call changes the memory. */
  readonly isMemory: boolean;
  /** The call waits for the user's permission. */
  readonly waiting: boolean;
  /** The user said no, or the turn ended while it asked. */
  readonly isRejected: boolean;
  /** The tool's name; undefined when the agent does not name it. */
  readonly name: string | undefined;
  /** Decisions on its edits, by path. An undo that no redo can end is discarded. */
  readonly decisions: Readonly<Record<string, "kept" | "undone" | "discarded">>;
  /** Tasks of a delegation; undefined for any other call. */
  readonly tasks: readonly HermesTask[] | undefined;
};

/** The call that a call is a part of. `taskId`: of a delegation. */
export type CallParent = { readonly callId: string; readonly taskId: string | undefined };

/** Calls in groups: a group has the calls of a script, or of one task. */
export type NestedCalls = {
  /** Calls of each group, in the order of their start. */
  readonly groups: ReadonlyMap<string, readonly ToolEntry[]>;
  readonly parents: ReadonlyMap<string, CallParent>;
};

export type NoticeEntry = {
  readonly type: "notice";
  readonly key: string;
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  /** Id of the call whose changes of the memory it names. */
  readonly memoryCall?: string;
  /** The wait before a retry. `until`: clock, milliseconds. */
  readonly retry?: RetryUpdate & { readonly until: number };
};

/** Last line of a turn that was stopped or failed. */
export type TurnEndEntry = {
  readonly type: "turn-end";
  readonly key: string;
  readonly tone: "muted" | "error";
  readonly text: string;
  /** Kind of the fault that ended the turn, or the reason for an early end. */
  readonly fault?: string;
  /** Provider whose key is missing or refused. */
  readonly keyFor?: string;
};

/** Line before the entries that a summary replaces for the model. */
export type SummaryEntry = {
  readonly type: "summary";
  readonly key: string;
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Markdown; empty when the model gets no summary. */
  readonly summary: string;
  /** Key of the first entry after them. */
  readonly until: string;
};

/** Finished reads and searches in a row, under one line. Made of the entries for the list of rows. */
export type GroupEntry = { readonly type: "group"; readonly key: string; readonly calls: readonly ToolEntry[] };

export type RestoredEntry = {
  readonly type: "restored";
  readonly key: string;
  readonly text: string;
  readonly leftAlone: readonly RestoreFile[];
  /** Changes that no restore reverts, one sentence each. */
  readonly limits: readonly string[];
  /** Id to undo the restore; undefined when no file changed, or after a later restore. */
  readonly restoreId: string | undefined;
};

export type Entry = TextEntry | ToolEntry | NoticeEntry | TurnEndEntry | SummaryEntry | GroupEntry | RestoredEntry;

/** The part before `entries` of a session that was loaded from its end. */
export type EarlierState =
  | ({ readonly type: "available" | "loading" } & HermesEarlier)
  | ({ readonly type: "failed"; readonly problem: string } & HermesEarlier)
  /** All pages have been loaded. */
  | { readonly type: "none-left" };

/** A summary whose first messages are not loaded yet: its line moves up with each page. */
export type CutSummary = {
  readonly update: CompressionUpdate;
  readonly key: string;
  /** Key of the first entry after its messages; undefined while none of them is loaded, and there is no line. */
  readonly until: string | undefined;
};

export type TerminalState = {
  readonly text: StreamedText;
  readonly exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined;
};

export type PermissionRequest = Extract<PanelEvent, { kind: "permission" }>;
export type QuestionRequest = Extract<PanelEvent, { kind: "question" }>;

/** Fill level and cost of the model's context window. */
export type UsageState = {
  readonly used: number;
  readonly size: number;
  readonly cost: Cost | undefined;
  readonly pressure: ContextPressure;
};

/** Reason why the contents cannot be shown, in one line. */
export type ContextProblem = { readonly problem: string };

/** The page shown. Only the panel changes it; without a page the panel shows the conversation. */
export type Route = {
  /** The list of stored sessions; it covers the other pages. */
  readonly sessions: boolean;
  /** The page of extensions; it covers the setup page. */
  readonly extensions: boolean;
  /** The page that sets up a model. */
  readonly setup: boolean;
  /** The conversation of a sub-agent; undefined while none is shown. The other pages cover it. */
  readonly task: TaskRef | undefined;
  /** A session was chosen in the list, which closes when that session begins. */
  readonly isOpening: boolean;
  /** Increases with each request to focus the search of the list. */
  readonly searchFocus: number;
};

/** An action on an extension: it runs, or has ended with this outcome. */
export type ExtensionAct =
  | { readonly isRunning: true }
  | { readonly isRunning: false; readonly text: string; readonly isError: boolean };

export type PanelState = {
  readonly facts: WorkspaceFacts;
  readonly route: Route;
  /** The list of stored sessions, with the search that the user has typed. */
  readonly history: HistoryPage;
  readonly sessionId: string | undefined;
  /** Undefined until the agent has named the session. */
  readonly title: string | undefined;
  /** Name of the worktree that the session works in. */
  readonly worktree: string | undefined;
  readonly agentName: string;
  /** Another agent than Hermes: it takes no messages into a running turn. */
  readonly isForeign: boolean;
  readonly entries: readonly Entry[];
  /** Tool calls that are shown in the card of another call. */
  readonly nestedCalls: NestedCalls;
  /** Undefined when `entries` starts with the session. */
  readonly earlier: EarlierState | undefined;
  readonly cutSummary: CutSummary | undefined;
  /** Keys of the summaries whose messages are shown. */
  readonly openSummaries: readonly string[];
  /** The growing entry; it follows `entries`. */
  readonly open: TextEntry | undefined;
  readonly nextKey: number;
  readonly running: boolean;
  /** Undefined until the agent reports one in this turn. */
  readonly activity: Activity | undefined;
  /** The user can continue a turn that ended with its window, or a goal, until the next message. */
  readonly paused: "turn" | "goal" | undefined;
  /** The last turn ended with an answer in plan mode, and the user has not decided what follows. */
  readonly hasPlan: boolean;
  readonly runningSince: number | undefined;
  readonly terminals: ReadonlyMap<string, TerminalState>;
  readonly plan: readonly PlanEntry[];
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly QuestionRequest[];
  readonly queue: readonly QueuedPrompt[];
  readonly usage: UsageState | undefined;
  /** Contents of the window, since the user has opened their page. */
  readonly context: HermesContext | ContextProblem | undefined;
  readonly configOptions: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  /** Ids of the calls whose changes of the memory were undone. */
  readonly undoneMemory: readonly string[];
  /** Last action on each extension, by its id. */
  readonly extensionActs: ReadonlyMap<string, ExtensionAct>;
  /** `attentionKey` of each extension that needs attention and whose need the user has seen. */
  readonly seenExtensions: readonly string[];
  readonly restore: { readonly position: number; readonly preview: RestorePreview } | undefined;
  /** Text for screen readers; `serial` changes with each announcement. */
  readonly announcement: { readonly serial: number; readonly text: string };
};

export const emptyState: PanelState = {
  facts: INITIAL_FACTS,
  route: { sessions: false, extensions: false, setup: false, task: undefined, isOpening: false, searchFocus: 0 },
  history: INITIAL_HISTORY,
  sessionId: undefined,
  title: undefined,
  worktree: undefined,
  agentName: "Hermes",
  isForeign: false,
  entries: [],
  nestedCalls: { groups: new Map(), parents: new Map() },
  earlier: undefined,
  cutSummary: undefined,
  openSummaries: [],
  open: undefined,
  nextKey: 0,
  running: false,
  activity: undefined,
  paused: undefined,
  hasPlan: false,
  runningSince: undefined,
  terminals: new Map(),
  plan: [],
  permissions: [],
  questions: [],
  queue: [],
  usage: undefined,
  context: undefined,
  configOptions: [],
  commands: [],
  undoneMemory: [],
  extensionActs: new Map(),
  seenExtensions: [],
  restore: undefined,
  announcement: { serial: 0, text: "" },
};

/** The state without its session: facts, page, seen extensions and the last announcement remain. */
export function withoutSession(state: PanelState): PanelState {
  const { facts, route, history, seenExtensions, announcement } = state;
  return { ...emptyState, facts, route, history, seenExtensions, announcement };
}

/** Has a screen reader read `text` aloud. */
export function announce(state: PanelState, text: string): PanelState {
  return { ...state, announcement: { serial: state.announcement.serial + 1, text } };
}
