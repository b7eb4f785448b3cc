/** Builds everything the extension is made of and ties it together. */
import * as vscode from "vscode";
import { AgentWorker } from "./agent/agent-worker.ts";
import { ChatSession } from "./chat/chat-session.ts";
import { ChatView } from "./chat/chat-view.ts";
import { EventLog } from "./chat/event-log.ts";
import { actOnPanelMessage } from "./chat/panel-actions.ts";
import { PanelConnection } from "./chat/panel-connection.ts";
import { SessionHistory } from "./chat/session-history.ts";
import { SessionLists } from "./chat/session-lists.ts";
import { SessionProcesses } from "./chat/session-processes.ts";
import { SessionRestores } from "./chat/session-restores.ts";
import { AgentEnvironment } from "./models/agent-environment.ts";
import { FirstRun } from "./models/first-run.ts";
import { ModelMemory } from "./models/model-memory.ts";
import { EditProblems } from "./problems/edit-problems.ts";
import { Requests } from "./requests/requests.ts";
import { buildReview } from "./review/build-review.ts";
import type { Review } from "./review/review.ts";
import type { Services } from "./services.ts";
import { StatusItem } from "./status-item.ts";
import { AgentTerminals } from "./terminals/agent-terminals.ts";
import { Waiting } from "./waiting.ts";

/** Builds and hands over to the context whatever must be disposed of. Nothing starts yet. */
export function buildServices(context: vscode.ExtensionContext): Services {
  const log = vscode.window.createOutputChannel("Hermes", { log: true });
  const events = new EventLog();
  const panel = new PanelConnection(events, vscode.workspace.isTrusted);
  const { review, opener, editReview, checkpoints, onDidSettle } = buildReview(context, log);
  const status = new StatusItem();
  const waiting = new Waiting((count) => {
    view.badge(count);
    status.waiting(count);
  });
  const requests = new Requests(
    (event) => events.push(event),
    (count) => waiting.requests(count),
  );
  const terminals = terminalsShownBy(events, log);
  const problems = new EditProblems();
  const environment = new AgentEnvironment(context.secrets);
  const models = new ModelMemory(context.globalState);
  const sessionLists = new SessionLists();
  const worker = new AgentWorker(
    vscode.Uri.joinPath(context.extensionUri, "dist", "worker.js").fsPath,
    {
      terminals,
      requests,
      sessionUpdate: (notification) => chat.show(notification),
      sessionLists,
      processesChanged: (changed) => panel.setProcesses(changed),
      editReview,
      problems,
    },
    () => environment.variables(),
    log,
  );
  const chat = new ChatSession(worker, { log: events, panel }, context.workspaceState, models);
  const history = new SessionHistory(worker, panel, chat, sessionLists);
  const restores = new SessionRestores(worker, events, chat, checkpoints);
  const processes = new SessionProcesses(worker, chat);
  const firstRun = new FirstRun(worker, panel, models);
  const services = (): Services => ({
    ...{ log, events, panel, worker, chat, history, sessionLists, restores, view, requests },
    ...{ review, opener, terminals, processes, environment, models, firstRun },
  });
  const view = new ChatView(vscode.Uri.joinPath(context.extensionUri, "dist", "webview"), panel, (message) => {
    actOnPanelMessage(message, services()).catch((error: unknown) => log.error(String(error)));
  });
  context.subscriptions.push(
    log,
    worker,
    chat,
    terminals,
    problems,
    status,
    endWith(worker, terminals),
    ...status.follow(chat),
    history,
    sessionLists,
    onDidSettle(() => showPendingEdits(review, panel, waiting)),
  );
  return services();
}

/** A worker that is gone has taken its list of running commands with it. */
function endWith(worker: AgentWorker, terminals: AgentTerminals): vscode.Disposable {
  return worker.onDidChange(({ state }) => {
    if (state === "restarting" || state === "failed") void terminals.endAll();
  });
}

function showPendingEdits({ files }: Review, panel: PanelConnection, waiting: Waiting): void {
  panel.setFacts({ review: files });
  waiting.edits(files.filter(({ isWaiting }) => isWaiting).length);
}

function terminalsShownBy(events: EventLog, log: vscode.LogOutputChannel): AgentTerminals {
  return new AgentTerminals({
    output: (terminalId, text) => events.push({ kind: "terminal-output", terminalId, text }),
    exit: (terminalId, exit) => events.push({ kind: "terminal-exit", terminalId, ...exit }),
    warn: (message) => log.warn(message),
  });
}
