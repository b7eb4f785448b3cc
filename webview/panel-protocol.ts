/**
 * The messages between the extension host and the chat panel. Host to panel is one ordered channel of numbered
 * events; what an agent sends travels as ACP's own types, untouched. The panel sends intents, never command ids,
 * shell text or free paths: every file it names came to it in an event.
 */
import type {
  AvailableCommand,
  PermissionOption,
  SessionConfigOption,
  SessionUpdate,
  StopReason,
  ToolCallUpdate,
} from "@zed-industries/agent-client-protocol";

/** Life of the agent behind the panel. */
export type AgentState = "starting" | "ready" | "restarting" | "failed";

/**
 * A message typed while a turn runs. It waits for the turn's end, is on its way into the turn, or is being changed: then
 * neither it nor what stands behind it is sent.
 */
export type QueuedPrompt = {
  readonly id: string;
  readonly text: string;
  readonly state: "waiting" | "steering" | "editing";
};

/** Pending hunks of one file. `path` is absolute, `label` is what to show (relative to the workspace). */
export type ReviewedFile = {
  readonly path: string;
  readonly label: string;
  /** The agent waits for the verdict before anything is written. */
  readonly isWaiting: boolean;
  readonly pendingHunks: number;
  readonly added: number;
  readonly removed: number;
};

/** A command that goes on in the background, or has ended without the agent knowing by now. */
export type PanelProcess = {
  readonly id: string;
  /** In one line. */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** `left-behind`: the command itself has ended, what it started runs. */
  readonly state: "running" | "waits-for-input" | "left-behind" | "ended";
  /** How it ended. */
  readonly note?: string;
  readonly terminalId?: string;
};

/** A line like this, printed last, asks for what nobody shall read over a shoulder: what is typed then is not shown. */
export const ASKS_FOR_SECRET = /pass(?:word|phrase|code)|secret|token|\bpin\b/i;

/** What there is to begin with. */
export type SetupPage = {
  /** Models that answer here without a key. `title` names who has it. */
  readonly offers: readonly {
    readonly choice: string;
    readonly provider: string;
    readonly title: string;
    readonly model: string;
  }[];
  /** Providers that take a key. */
  readonly keys: readonly { readonly provider: string; readonly title: string; readonly hasKey: boolean }[];
  /** Somebody asked for the page; what was shown before comes back when it is closed. */
  readonly canClose: boolean;
};

/** A stored session in the list of sessions. */
export type HistoryItem = {
  readonly sessionId: string;
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Undefined when the agent does not say. */
  readonly messages: number | undefined;
  /** US dollars; undefined when unknown. */
  readonly costUsd: number | undefined;
  /** Its folder, when it is another than this workspace's. */
  readonly folder: string | undefined;
  readonly isCurrent: boolean;
  /** Where what was searched for stands in it; `marks` are ranges of `text`, in order. */
  readonly snippet?: { readonly text: string; readonly marks: readonly (readonly [start: number, end: number])[] };
};

/** The page with the stored sessions. */
export type HistoryPage = {
  /** What was searched for; empty: the sessions as they were used last. */
  readonly query: string;
  /** Also those of other folders. */
  readonly everywhere: boolean;
  readonly sessions: readonly HistoryItem[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** The index is being built: how many sessions are in it, of how many. */
  readonly building?: { readonly done: number; readonly total: number };
  /** What went wrong, in one line. */
  readonly error?: string;
};

/** A file of a restore; `leftAlone` says why it stays as it is. `label` is what to show. */
export type RestoreFile = {
  readonly label: string;
  readonly path: string;
  readonly change: "restore" | "remove" | "recreate";
  readonly added?: number;
  readonly removed?: number;
  readonly leftAlone?: string;
};

/** What going back to before a message would do. */
export type RestorePreview = { readonly files: readonly RestoreFile[]; readonly messages: number };

/** What was said before the first message that the panel has. */
export type EarlierMessages = {
  /** Position of that message. */
  readonly before: number;
  /** Prompts and answers before it. */
  readonly messages: number;
};

/** One event of the panel's channel. */
export type PanelEvent =
  /** A session begins or takes the panel: what was shown before goes away. */
  | {
      readonly kind: "session";
      readonly sessionId: string;
      readonly cwd: string;
      readonly agentName: string;
      readonly configOptions: readonly SessionConfigOption[];
      readonly commands: readonly AvailableCommand[];
    }
  /** The user's own message, when its turn begins. */
  | { readonly kind: "prompt"; readonly id: string; readonly text: string }
  /** What the agent sent, verbatim. Message chunks may have been merged. */
  | { readonly kind: "update"; readonly update: SessionUpdate }
  /** What was said there, as the agent would replay it. */
  | {
      readonly kind: "earlier-page";
      readonly before: number;
      readonly updates: readonly SessionUpdate[];
      /** What is earlier still. */
      readonly earlier: EarlierMessages | null;
    }
  /** It could not be had: why, in one line. */
  | { readonly kind: "earlier-failed"; readonly before: number; readonly message: string }
  /** The turn is over: why, or what went wrong in one line. */
  | { readonly kind: "turn-end"; readonly stopReason?: StopReason; readonly error?: string }
  /** The messages from this position on were taken back. */
  | { readonly kind: "rewind"; readonly position: number }
  /** What going back to before the message at `position` would do; null takes the card away. */
  | { readonly kind: "restore-preview"; readonly position: number; readonly preview: RestorePreview | null }
  /** Files were put back; `restoreId` undoes that, and is absent when nothing was done to files. */
  | {
      readonly kind: "restored";
      readonly files: readonly RestoreFile[];
      readonly isUndo: boolean;
      readonly restoreId?: string;
    }
  /** A piece of output of a terminal that a tool call shows. */
  | { readonly kind: "terminal-output"; readonly terminalId: string; readonly text: string }
  | {
      readonly kind: "terminal-exit";
      readonly terminalId: string;
      readonly exitCode: number | null;
      readonly signal: string | null;
    }
  | {
      readonly kind: "permission";
      readonly requestId: string;
      readonly toolCall: ToolCallUpdate;
      readonly options: readonly PermissionOption[];
      readonly reasons: readonly string[];
      readonly command?: string;
      readonly grant?: string;
    }
  /** Answered here, in a native prompt, or withdrawn; `label` says how it ended. */
  | { readonly kind: "permission-end"; readonly requestId: string; readonly label: string }
  | {
      readonly kind: "question";
      readonly requestId: string;
      readonly message: string;
      readonly choices: readonly string[];
    }
  | { readonly kind: "question-end"; readonly requestId: string; readonly label: string }
  | { readonly kind: "queue"; readonly prompts: readonly QueuedPrompt[] }
  | { readonly kind: "notice"; readonly severity: "info" | "warning" | "error"; readonly text: string };

/** Facts of the workspace, independent of any session. The host sends all of them to a new panel and at each change. */
export type WorkspaceFacts = {
  readonly agent: { readonly state: AgentState; readonly message?: string };
  /** In an untrusted workspace the agent only talks and reads. */
  readonly isTrusted: boolean;
  readonly review: readonly ReviewedFile[];
  /** Background processes of every open session. */
  readonly processes: readonly { readonly sessionId: string; readonly processes: readonly PanelProcess[] }[];
  /** Contents of the setup page; null: a model is set up, or the page has not been needed yet. */
  readonly setup: SetupPage | null;
};

/** An update of the list of stored sessions; the panel asks for the list and decides whether to show it. */
export type HistoryUpdate =
  | { readonly kind: "page"; readonly page: HistoryPage }
  /** More sessions, to append to the list. */
  | { readonly kind: "next"; readonly sessions: readonly HistoryItem[]; readonly hasMore: boolean }
  /** Progress of the index; null when it is complete. */
  | { readonly kind: "building"; readonly building: NonNullable<HistoryPage["building"]> | null };

/** A command to the panel. The panel runs each command once; a replay of the log does not repeat it. */
export type PanelCommand =
  /** Focuses the composer, with `text` inserted before the draft. */
  | { readonly kind: "compose"; readonly text?: string }
  /** Opens a new session and focuses the composer. */
  | { readonly kind: "new-session" }
  /** The session shown was deleted: opens a new one and keeps the page. */
  | { readonly kind: "replace-session" }
  | { readonly kind: "open-session"; readonly sessionId: string }
  | { readonly kind: "show-sessions" }
  | { readonly kind: "show-setup" };

/** Host to panel. */
export type HostMessage =
  | EventsMessage
  | { readonly type: "facts"; readonly facts: WorkspaceFacts }
  | { readonly type: "history"; readonly update: HistoryUpdate }
  /** The panel answers with `command-done` and the same id. */
  | { readonly type: "command"; readonly id: string; readonly command: PanelCommand };

/**
 * Numbered events of the session's log. `first` is the number of the first event; numbers are consecutive. `reset`: the
 * panel drops the session it has, the events start from nothing.
 */
export type EventsMessage = {
  readonly type: "events";
  readonly epoch: string;
  readonly first: number;
  readonly reset: boolean;
  /** A long list is the JSON text of it: each window on the way to the panel would copy the list piece by piece. */
  readonly events: readonly PanelEvent[] | string;
};

/** Panel to host. */
export type PanelMessage =
  /** The panel's script runs; `next` is the number of the event it expects in `epoch` (0 when it has nothing). */
  | { readonly type: "ready"; readonly epoch: string; readonly next: number }
  /** Every event below `next` has been shown. */
  | { readonly type: "ack"; readonly epoch: string; readonly next: number }
  /** A command of the host was run. */
  | { readonly type: "command-done"; readonly id: string }
  /** `now`: into the running turn, instead of waiting for its end. */
  | { readonly type: "prompt"; readonly text: string; readonly now?: true }
  | { readonly type: "cancel" }
  /** Takes the user's message at this position back, with all that followed, and sends `text` instead. */
  | { readonly type: "resend"; readonly position: number; readonly text: string }
  /** A new session with what was said before this position; the message there goes into the composer. */
  | { readonly type: "fork-here"; readonly position: number; readonly text: string }
  /** Asks what going back to before the user's message at this position would do. */
  | { readonly type: "restore-preview"; readonly position: number }
  | { readonly type: "restore-close" }
  /** Shows in the editor what the files would become. */
  | { readonly type: "restore-changes"; readonly position: number }
  | {
      readonly type: "restore";
      readonly position: number;
      readonly files: boolean;
      readonly conversation: boolean;
    }
  | { readonly type: "restore-undo"; readonly restoreId: string }
  /** Asks for what was said before this position: a page of it, or all. */
  | { readonly type: "earlier"; readonly before: number; readonly all?: true }
  | { readonly type: "new-session" }
  | { readonly type: "set-config"; readonly configId: string; readonly value: string }
  /** A model of the first-run page: from now on it answers. */
  | { readonly type: "use-model"; readonly choice: string }
  /** Shows every model there is, in a list of the editor. */
  | { readonly type: "choose-model" }
  /** Asks for a key in an input box of the editor; without a provider it asks whose. */
  | { readonly type: "set-key"; readonly provider?: string }
  | { readonly type: "open-setup" }
  | { readonly type: "permission"; readonly requestId: string; readonly optionId: string; readonly reason?: string }
  | { readonly type: "answer"; readonly requestId: string; readonly text: string | null }
  | { readonly type: "queue-remove"; readonly id: string }
  /** It is being changed, and not sent until `queue-edit` comes. */
  | { readonly type: "queue-hold"; readonly id: string }
  | { readonly type: "queue-edit"; readonly id: string; readonly text: string }
  /** To this place in the queue, counted from 0. */
  | { readonly type: "queue-move"; readonly id: string; readonly to: number }
  /** Into the running turn, after the step of the moment. */
  | { readonly type: "queue-send"; readonly id: string }
  /** Stops the running turn and begins another with it. */
  | { readonly type: "queue-interrupt"; readonly id: string }
  /** Types into a background process: `text` as it is, with its line break. */
  | { readonly type: "process-input"; readonly id: string; readonly text: string }
  /** Ends it with all it has started. */
  | { readonly type: "process-stop"; readonly id: string }
  /** Opens the page of the editor where trust is given. */
  | { readonly type: "manage-trust" }
  /** The list is no longer shown and needs no updates. */
  | { readonly type: "history-close" }
  | { readonly type: "history-search"; readonly query: string; readonly everywhere: boolean }
  | { readonly type: "history-more" }
  /** Shows a stored session and goes on with it. */
  | { readonly type: "session-open"; readonly sessionId: string }
  | { readonly type: "session-rename"; readonly sessionId: string; readonly title: string }
  /** The panel has asked whether it shall go. */
  | { readonly type: "session-delete"; readonly sessionId: string }
  /** Asks in the editor in which form and where. */
  | { readonly type: "session-export"; readonly sessionId: string }
  /** A new session that begins with what was said in this one. */
  | { readonly type: "session-fork"; readonly sessionId: string }
  | { readonly type: "open-location"; readonly path: string; readonly line?: number }
  | { readonly type: "open-review"; readonly path: string }
  | { readonly type: "show-terminal"; readonly terminalId: string }
  | { readonly type: "keep-file"; readonly path: string }
  | { readonly type: "undo-file"; readonly path: string }
  | { readonly type: "keep-all" }
  | { readonly type: "undo-all" }
  | { readonly type: "open-link"; readonly href: string }
  | { readonly type: "insert-text"; readonly text: string };
