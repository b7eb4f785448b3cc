/** Everything the extension is made of; commands and the panel act on it. */
import type * as vscode from "vscode";
import type { AgentWorker } from "./agent/agent-worker.ts";
import type { ChatSession } from "./chat/chat-session.ts";
import type { ChatView } from "./chat/chat-view.ts";
import type { EventLog } from "./chat/event-log.ts";
import type { Requests } from "./requests/requests.ts";
import type { Review } from "./review/review.ts";
import type { ReviewOpener } from "./review/review-opener.ts";
import type { AgentTerminals } from "./terminals/agent-terminals.ts";

export type Services = {
  readonly log: vscode.LogOutputChannel;
  readonly events: EventLog;
  readonly worker: AgentWorker;
  readonly chat: ChatSession;
  readonly view: ChatView;
  readonly requests: Requests;
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly terminals: AgentTerminals;
  readonly secrets: vscode.SecretStorage;
};
