/** The parts of the extension that commands use. */
import type * as vscode from "vscode";
import type { AgentLauncher } from "./agent/agent-launcher.ts";
import type { AgentWorker } from "./agent/agent-worker.ts";
import type { Agents } from "./agent/agents.ts";
import type { MentionSearch } from "./attachments/mention-search.ts";
import type { Suggestion } from "./attachments/suggestion.ts";
import type { EditorTabs } from "./chat/editor-tabs.ts";
import type { Panels } from "./chat/panels.ts";
import type { SessionHistory, SessionListChanges } from "./chat/session-history.ts";
import type { Sessions } from "./chat/sessions.ts";
import type { EditReview } from "./client/client-services.ts";
import type { InlineEdits } from "./commands/inline-edits.ts";
import type { ReviewFindings } from "./commands/review-findings.ts";
import type { Learning } from "./learning/learning.ts";
import type { AgentEnvironment, LastModel } from "./models/agent-environment.ts";
import type { KeyStore } from "./models/key-store.ts";
import type { Requests } from "./requests/requests.ts";
import type { CheckpointDocuments } from "./review/read-only-documents.ts";
import type { Review } from "./review/review.ts";
import type { ReviewOpener } from "./review/review-opener.ts";
import type { AgentTerminals } from "./terminals/agent-terminals.ts";

export type Services = {
  readonly log: vscode.LogOutputChannel;
  readonly panels: Panels;
  readonly tabs: EditorTabs;
  readonly worker: AgentWorker;
  /** Hermes and other agents. */
  readonly agents: Agents;
  readonly sessions: Sessions;
  /** For lists outside the panels, which have their own. */
  readonly history: SessionHistory;
  readonly sessionListChanges: SessionListChanges;
  readonly requests: Requests;
  readonly review: Review;
  readonly opener: ReviewOpener;
  readonly editReview: EditReview;
  /** Diffs with texts that are in no file. */
  readonly checkpoints: CheckpointDocuments;
  readonly findings: ReviewFindings;
  readonly terminals: AgentTerminals;
  readonly keys: KeyStore;
  /** Keys and settings for the agent. */
  readonly environment: AgentEnvironment;
  readonly lastModel: LastModel;
  readonly learning: Learning;
  /** The search after `@`. */
  readonly mentions: MentionSearch;
  readonly suggestion: Suggestion;
  readonly inlineEdits: InlineEdits;
  /** The agent as other editors start it. */
  readonly launcher: AgentLauncher;
};
