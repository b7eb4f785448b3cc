/** Everything the extension is made of; commands and the panel act on it. */
import type * as vscode from "vscode";
import type { AgentWorker } from "./agent/agent-worker.ts";
import type { ChatSession } from "./chat/chat-session.ts";
import type { ChatView } from "./chat/chat-view.ts";
import type { EventLog } from "./chat/event-log.ts";
import type { PanelConnection } from "./chat/panel-connection.ts";
import type { SessionHistory } from "./chat/session-history.ts";
import type { SessionLists } from "./chat/session-lists.ts";
import type { SessionProcesses } from "./chat/session-processes.ts";
import type { SessionRestores } from "./chat/session-restores.ts";
import type { AgentEnvironment } from "./models/agent-environment.ts";
import type { FirstRun } from "./models/first-run.ts";
import type { ModelMemory } from "./models/model-memory.ts";
import type { Requests } from "./requests/requests.ts";
import type { Review } from "./review/review.ts";
import type { ReviewOpener } from "./review/review-opener.ts";
import type { AgentTerminals } from "./terminals/agent-terminals.ts";

export type Services = {
  readonly log: vscode.LogOutputChannel;
  readonly events: EventLog;
  readonly panel: PanelConnection;
  readonly worker: AgentWorker;
  readonly chat: ChatSession;
  /** The stored sessions. */
  readonly history: SessionHistory;
  /** What the agent tells about them. */
  readonly sessionLists: SessionLists;
  /** The way back to earlier messages. */
  readonly restores: SessionRestores;
  /** What runs in the background. */
  readonly processes: SessionProcesses;
  readonly view: ChatView;
  readonly requests: Requests;
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly terminals: AgentTerminals;
  /** Keys and settings, as the agent gets them. */
  readonly environment: AgentEnvironment;
  /** The model that was chosen last. */
  readonly models: ModelMemory;
  readonly firstRun: FirstRun;
};
