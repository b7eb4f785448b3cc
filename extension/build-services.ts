/**
 * Builds the parts of the extension bottom-up: each part gets only parts that exist before it. The callbacks of a part may
 * use later parts, since no event comes before all exist.
 */
import * as vscode from "vscode";
import { messageOf } from "../agent-core/platform/errors.ts";
import type { CronFinished } from "../agent-core/protocol/cron.ts";
import { AgentLauncher } from "./agent/agent-launcher.ts";
import { AgentWorker } from "./agent/agent-worker.ts";
import { Agents, type AgentsOptions } from "./agent/agents.ts";
import { announceJob } from "./agent/job-notices.ts";
import { MentionSearch } from "./attachments/mention-search.ts";
import { Suggestion } from "./attachments/suggestion.ts";
import { TerminalOutputs } from "./attachments/terminal-outputs.ts";
import { panelActions } from "./chat/actions/panel-actions.ts";
import { buildRequests, buildSessions, storedIn } from "./chat/build-sessions.ts";
import { ChatView } from "./chat/chat-view.ts";
import { EditorTabs } from "./chat/editor-tabs.ts";
import type { PageParts } from "./chat/panel-page.ts";
import { Panels } from "./chat/panels.ts";
import { refreshExtensions } from "./chat/session-extensions.ts";
import { SessionHistory, SessionListChanges } from "./chat/session-history.ts";
import type { Sessions } from "./chat/sessions.ts";
import type { ClientServices } from "./client/client-services.ts";
import { InlineEdits } from "./commands/inline-edits.ts";
import { ReviewFindings } from "./commands/review-findings.ts";
import { CHAT_VIEW } from "./commands/show-panel.ts";
import { followServices } from "./follow-services.ts";
import { Learning } from "./learning/learning.ts";
import { AgentEnvironment, LastModel } from "./models/agent-environment.ts";
import { KeyStore } from "./models/key-store.ts";
import { EditProblems } from "./problems/edit-problems.ts";
import { SkillProblems } from "./problems/skill-problems.ts";
import { buildReview } from "./review/build-review.ts";
import type { Services } from "./services.ts";
import { AttentionCounter, type StatusItem } from "./status-item.ts";
import { AgentTerminals } from "./terminals/agent-terminals.ts";

/** Key of the window's memory for the agent of new sessions. */
const AGENT_KEY = "hermes.agent";

/** Starts nothing yet. The context disposes of the parts. */
export function buildServices(
  context: vscode.ExtensionContext,
  status: StatusItem,
): { services: Services; view: ChatView } {
  const log = vscode.window.createOutputChannel("Hermes", { log: true });
  const panels = panelsIn(log);
  const attention = new AttentionCounter();
  const { review, opener, editReview, diskEdits, checkpoints, onDidSettle } = buildReview(context, panels, log);
  const keys = new KeyStore(context);
  const [environment, lastModel] = [new AgentEnvironment(keys), new LastModel(context.globalState)];
  const sessionListChanges = new SessionListChanges();
  const requests = buildRequests(panels, attention, () => sessions);
  const terminals = terminalsIn(() => sessions);
  const skillProblems = new SkillProblems(() => void refreshExtensions(services, panels.active).catch(() => undefined));
  const client: ClientServices = {
    terminals,
    requests,
    panels,
    editReview,
    skillProblems,
    problems: new EditProblems(),
    sessionUpdate: (notification) => sessions.update(notification),
    sessionLists: sessionListChanges,
    learning: { changed: (change) => services.learning.changed(change) },
    jobFinished: (finished) => jobFinished(finished, services, { view, attention }),
  };
  const worker = agentWorker(context, client, environment, log);
  const agents = new Agents({ hermes: worker, services: client, log, ...agentStores(context) });
  const outputs = new TerminalOutputs(terminals);
  const findings = new ReviewFindings(editReview);
  const ofSessions = { findings, panels, status, lastModel, diskEdits, agents, log, worker, outputs };
  const sessions = buildSessions(context, ofSessions);
  const history = new SessionHistory({ worker, agents }, panels.sideBar, sessions, sessionListChanges);
  const root = vscode.Uri.joinPath(context.extensionUri, "dist", "webview");
  const actions: PageParts["actionsOf"] = (...place) => panelActions(place, services);
  const page: PageParts = { root, panels, log, actionsOf: actions };
  const services: Services = {
    log,
    panels,
    tabs: new EditorTabs(page, sessions),
    worker,
    agents,
    sessions,
    history,
    ...{ sessionListChanges, requests },
    review,
    opener,
    ...{ editReview, findings, checkpoints },
    terminals,
    ...{ keys, environment, lastModel },
    mentions: new MentionSearch({ panels, worker, history }, outputs),
    suggestion: new Suggestion({ panels, memory: context.workspaceState }),
    learning: new Learning(page, worker),
    inlineEdits: new InlineEdits(sessions, review),
    launcher: new AgentLauncher(context),
  };
  const view = new ChatView(page, attention);
  context.subscriptions.push(
    ...[log, worker, agents, terminals, client.problems, skillProblems, history, sessionListChanges, attention],
    ...[findings, services.inlineEdits, services.mentions, services.suggestion, outputs],
    ...followServices(services, { status, attention, onDidSettle }),
  );
  // Other editors keep the agent that they have when it cannot be updated.
  services.launcher.update().catch((error: unknown) => log.warn(messageOf(error)));
  return { services, view };
}

function jobFinished(
  finished: CronFinished,
  { sessions, log }: Services,
  { view, attention }: { readonly view: ChatView; readonly attention: AttentionCounter },
): void {
  if (finished.message !== undefined && !view.isVisible) attention.jobEnded();
  announceJob(finished, (sessionId) => sessions.reveal(sessionId), log);
}

/** Places of the tokens, and of the agent of new sessions. */
function agentStores(context: vscode.ExtensionContext): Pick<AgentsOptions, "secrets" | "chosen"> {
  return { secrets: context.secrets, chosen: storedIn<string>(context, AGENT_KEY) };
}

/** Terminals whose output goes to the log of their session. */
function terminalsIn(sessions: () => Sessions): AgentTerminals {
  return new AgentTerminals({
    output: (sessionId, terminalId, text) => sessions().emit(sessionId, { kind: "terminal-output", terminalId, text }),
    exit: (sessionId, terminalId, exit) => sessions().emit(sessionId, { kind: "terminal-exit", terminalId, ...exit }),
  });
}

function panelsIn(log: vscode.LogOutputChannel): Panels {
  return new Panels(vscode.workspace.isTrusted, () =>
    vscode.commands.executeCommand(`${CHAT_VIEW}.focus`).then(undefined, (error: unknown) => log.error(String(error))),
  );
}

function agentWorker(
  context: vscode.ExtensionContext,
  client: ClientServices,
  environment: AgentEnvironment,
  log: vscode.LogOutputChannel,
): AgentWorker {
  const script = vscode.Uri.joinPath(context.extensionUri, "dist", "worker.js").fsPath;
  return new AgentWorker(script, client, () => environment.variables(), log);
}
