/** All that the panel shows, as one immutable value. Only reduce.ts makes a new one. */
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
import type {
  HistoryPage,
  PanelEvent,
  QueuedPrompt,
  RestoreFile,
  RestorePreview,
  WorkspaceFacts,
} from "../../agent-core/protocol/panel-events.ts";
import type { HermesEarlier } from "../../agent-core/protocol/sessions.ts";
import type { CompressionUpdate, ContextPressure } from "./agent-meta.ts";
import type { StreamedText } from "./streamed-text.ts";

/** A message or a thought. While it grows it is `PanelState.open`, then it moves to the end of `entries`. */
export type TextEntry = {
  readonly type: "user" | "answer" | "thought";
  readonly key: string;
  readonly messageId: string | undefined;
  /** Of a message of the user's: its place among all of the session, once the agent has said it. */
  readonly position: number | undefined;
  readonly text: StreamedText;
  readonly growing: boolean;
  /** Milliseconds of the clock; undefined when the entry was replayed. */
  readonly startedAt: number | undefined;
  /** How long it grew, in milliseconds; undefined when unknown. */
  readonly durationMs: number | undefined;
};

/** State of a tool call: ACP's own, and `stopped` for one that the end of its turn cut off. */
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
  /** Milliseconds of the clock; undefined when the call was replayed. */
  readonly startedAt: number | undefined;
  readonly durationMs: number | undefined;
  /** A permission request for this call is open. */
  readonly waiting: boolean;
  /** How its permission request ended. */
  readonly verdict: string | undefined;
};

export type NoticeEntry = {
  readonly type: "notice";
  readonly key: string;
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
};

/** The last line of a turn that ended in any way but the ordinary one. */
export type TurnEndEntry = {
  readonly type: "turn-end";
  readonly key: string;
  readonly tone: "muted" | "error";
  readonly text: string;
};

/** Stands before entries that the model gets a summary of instead. */
export type SummaryEntry = {
  readonly type: "summary";
  readonly key: string;
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Markdown; empty when the messages were just left out. */
  readonly summary: string;
  /** Key of the first entry after them. */
  readonly until: string;
};

/** Files were put back. */
export type RestoredEntry = {
  readonly type: "restored";
  readonly key: string;
  readonly text: string;
  readonly leftAlone: readonly RestoreFile[];
  /** What undoes it; undefined when nothing can be undone, or a later one stands before it. */
  readonly restoreId: string | undefined;
};

export type Entry = TextEntry | ToolEntry | NoticeEntry | TurnEndEntry | SummaryEntry | RestoredEntry;

/** What comes before `entries`, when a session was opened by its end. */
export type EarlierState =
  | ({ readonly type: "there" | "asked" } & HermesEarlier)
  | ({ readonly type: "failed"; readonly problem: string } & HermesEarlier)
  /** Page by page all of it has come. */
  | { readonly type: "none-left" };

/** A compression whose first messages have not come yet: its line moves up with each page. */
export type CutSummary = {
  readonly update: CompressionUpdate;
  /** Of its line. */
  readonly key: string;
  /** Key of the first entry after what is under it; undefined while all of that is earlier, and there is no line. */
  readonly until: string | undefined;
};

export type TerminalState = {
  readonly text: StreamedText;
  readonly exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined;
};

export type PermissionRequest = Extract<PanelEvent, { kind: "permission" }>;
export type QuestionRequest = Extract<PanelEvent, { kind: "question" }>;

/** What the agent's message window holds and costs. */
export type UsageState = {
  readonly used: number;
  readonly size: number;
  readonly cost: Cost | undefined;
  readonly pressure: ContextPressure;
};

/** The page shown. Only the panel changes it; without a page the panel shows the conversation. */
export type Route = {
  /** The list of stored sessions; it covers the setup page. */
  readonly sessions: boolean;
  /** The page that sets up a model. */
  readonly setup: boolean;
  /** A session was chosen in the list, which closes when that session begins. */
  readonly isOpening: boolean;
  /** Increases with each request to focus the search of the list. */
  readonly searchFocus: number;
};

export type PanelState = {
  readonly facts: WorkspaceFacts;
  readonly route: Route;
  /** The list of stored sessions; undefined until the host has answered. */
  readonly history: HistoryPage | undefined;
  readonly sessionId: string | undefined;
  readonly agentName: string;
  readonly entries: readonly Entry[];
  /** Undefined when `entries` begins with the beginning of the session. */
  readonly earlier: EarlierState | undefined;
  readonly cutSummary: CutSummary | undefined;
  /** Keys of the summaries whose messages are shown. */
  readonly openSummaries: readonly string[];
  /** The entry that still grows; it follows `entries`. */
  readonly open: TextEntry | undefined;
  /** Number of the next entry's key. */
  readonly nextKey: number;
  readonly running: boolean;
  readonly runningSince: number | undefined;
  readonly terminals: ReadonlyMap<string, TerminalState>;
  readonly plan: readonly PlanEntry[];
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly QuestionRequest[];
  readonly queue: readonly QueuedPrompt[];
  readonly usage: UsageState | undefined;
  readonly configOptions: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  /** What going back to before the message at a position would do; undefined while nobody asks. */
  readonly restore: { readonly position: number; readonly preview: RestorePreview } | undefined;
  /** For screen readers; `serial` changes when the same words are to be said again. */
  readonly announcement: { readonly serial: number; readonly text: string };
};

export const emptyState: PanelState = {
  facts: { agent: { state: "starting" }, isTrusted: true, review: [], processes: [], setup: null },
  route: { sessions: false, setup: false, isOpening: false, searchFocus: 0 },
  history: undefined,
  sessionId: undefined,
  agentName: "Hermes",
  entries: [],
  earlier: undefined,
  cutSummary: undefined,
  openSummaries: [],
  open: undefined,
  nextKey: 0,
  running: false,
  runningSince: undefined,
  terminals: new Map(),
  plan: [],
  permissions: [],
  questions: [],
  queue: [],
  usage: undefined,
  configOptions: [],
  commands: [],
  restore: undefined,
  announcement: { serial: 0, text: "" },
};

/** The state without its session: facts, page and the last announcement remain. */
export function withoutSession({ facts, route, history, announcement }: PanelState): PanelState {
  return { ...emptyState, facts, route, history, announcement };
}

/** The same state, with `text` to be said by a screen reader. */
export function announce(state: PanelState, text: string): PanelState {
  return { ...state, announcement: { serial: state.announcement.serial + 1, text } };
}
