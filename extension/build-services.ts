/**
 * Builds the parts of the extension bottom-up: each part gets only parts that exist before it. The callbacks of a part may
 * use later parts, since no event comes before all exist.
 */
import * as vscode from "vscode";
import { messageOf } from "../agent-core/platform/errors.ts";
import type { CronFinished } from "../agent-core/protocol/cron.ts";
import { fileMethods } from "../agent-core/protocol/files.ts";
import { call, notify } from "../agent-core/protocol/method.ts";
import type { WorkspaceFacts } from "../agent-core/protocol/panel-events.ts";
import { settingsMethods } from "../agent-core/protocol/settings.ts";
import { AgentLauncher } from "./agent/agent-launcher.ts";
import { AgentWorker } from "./agent/agent-worker.ts";
import { Agents, type AgentsOptions } from "./agent/agents.ts";
import { EditorServers } from "./agent/editor-servers.ts";
import { announceJob } from "./agent/job-notices.ts";
import { codeActions } from "./chat/actions/code-actions.ts";
import { contextActions } from "./chat/actions/context-actions.ts";
import { sessionActions } from "./chat/actions/session-actions.ts";
import { taskActions } from "./chat/actions/task-actions.ts";
import { workspaceActions } from "./chat/actions/workspace-actions.ts";
import type { SessionPlace } from "./chat/chat-session.ts";
import { ChatView } from "./chat/chat-view.ts";
import { EditorTabs } from "./chat/editor-tabs.ts";
import type { PageParts } from "./chat/panel-page.ts";
import { Panels } from "./chat/panels.ts";
import { openPath, SessionExtensions } from "./chat/session-extensions.ts";
import { SessionHistory, SessionListChanges } from "./chat/session-history.ts";
import { SessionRestores } from "./chat/session-restores.ts";
import { SessionRouter, Sessions } from "./chat/sessions.ts";
import { StartPage } from "./chat/start-page.ts";
import { TurnWatch } from "./chat/turn-watch.ts";
import type { ClientServices } from "./client/client-services.ts";
import { InlineEdits } from "./commands/inline-edits.ts";
import { hoverOverMemory } from "./commands/memory-files.ts";
import { CHAT_VIEW, showPanel } from "./commands/show-panel.ts";
import { MentionSearch } from "./context/mention-search.ts";
import { attachmentTexts, isMissing, promptBlocks } from "./context/prompt-blocks.ts";
import { Suggestion } from "./context/suggestion.ts";
import { TerminalOutputs } from "./context/terminal-outputs.ts";
import { WorkspaceFiles } from "./context/workspace-files.ts";
import { showRemoteFiles } from "./documents/remote-files.ts";
import { Learning } from "./learning/learning.ts";
import { AgentEnvironment, LastModel, MODEL_SETTINGS } from "./models/agent-environment.ts";
import { FirstRun } from "./models/first-run.ts";
import { KeyStore } from "./models/key-store.ts";
import { showInformation } from "./notifications.ts";
import { EditProblems } from "./problems/edit-problems.ts";
import { SkillProblems } from "./problems/skill-problems.ts";
import { Requests } from "./requests/requests.ts";
import { buildReview } from "./review/build-review.ts";
import type { DiskEdits } from "./review/disk-edits.ts";
import type { CheckpointDocuments } from "./review/read-only-documents.ts";
import type { Services } from "./services.ts";
import { AttentionCounter, notifyRequest, type StatusItem } from "./status-item.ts";
import { AgentTerminals } from "./terminals/agent-terminals.ts";

/** Key of the window's memory for the session shown last. */
const LAST_SHOWN_KEY = "hermes.sessionId";

/** Key of the window's memory for the agent of new sessions. */
const AGENT_KEY = "hermes.agent";

/** Key of the window's memory for the sessions whose turn runs. */
const RUNNING_KEY = "hermes.runningSessions";

/** Starts nothing yet. The context disposes of the parts. */
export function buildServices(
  context: vscode.ExtensionContext,
  status: StatusItem,
): { services: Services; view: ChatView } {
  const log = vscode.window.createOutputChannel("Hermes", { log: true });
  const panels = panelsIn(log);
  const router = new SessionRouter();
  const attention = new AttentionCounter();
  const { review, opener, editReview, diskEdits, checkpoints, onDidSettle } = buildReview(context, log);
  const keys = new KeyStore(context);
  const environment = new AgentEnvironment(keys);
  const lastModel = new LastModel(context.globalState);
  const sessionListChanges = new SessionListChanges();
  const requests = requestsIn(panels, router, attention, () => sessions);
  const terminals = terminalsIn(router);
  const skillProblems = new SkillProblems(() => void services.extensions.refresh(panels.active).catch(() => undefined));
  const client: ClientServices = {
    terminals,
    requests,
    panels,
    editReview,
    skillProblems,
    problems: new EditProblems(),
    sessionUpdate: (notification) => router.update(notification),
    sessionLists: sessionListChanges,
    learning: { changed: (change) => services.learning.changed(change) },
    jobFinished: (finished) => jobFinished(finished, services, { view, attention }),
  };
  const worker = agentWorker(context, client, environment, log);
  const agents = new Agents({ hermes: worker, services: client, log, ...agentStores(context) });
  const outputs = new TerminalOutputs(terminals);
  const sessions = sessionsIn(context, { panels, router, status, lastModel, diskEdits, agents, log, worker, outputs });
  const history = new SessionHistory({ worker, agents }, panels.sideBar, sessions, sessionListChanges);
  const root = vscode.Uri.joinPath(context.extensionUri, "dist", "webview");
  const actions: PageParts["actionsOf"] = (...place) => actionsOf(place, services, { requests, checkpoints });
  const page: PageParts = { root, panels, log, actionsOf: actions };
  const tabs = new EditorTabs(page, sessions);
  const services: Services = {
    log,
    panels,
    tabs,
    worker,
    agents,
    sessions,
    history,
    sessionListChanges,
    review,
    opener,
    editReview,
    terminals,
    ...{ keys, environment, lastModel },
    firstRun: new FirstRun({ worker, panels, lastModel, keys }),
    ...contextIn(context, outputs, { panels, worker, history, opener }),
    extensions: new SessionExtensions(worker, panels),
    learning: learningIn(page, worker),
    inlineEdits: new InlineEdits(sessions),
    launcher: new AgentLauncher(context),
  };
  const view = new ChatView(page, attention);
  context.subscriptions.push(
    ...[log, worker, agents, terminals, client.problems, skillProblems, history, sessionListChanges, attention],
    ...[services.inlineEdits, services.mentions, services.suggestion, outputs],
    ...followParts(services, { status, attention, onDidSettle }),
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

type WindowParts = {
  readonly status: StatusItem;
  readonly attention: AttentionCounter;
  /** The edits under review have changed. */
  readonly onDidSettle: vscode.Event<void>;
};

/** Places of the tokens, and of the agent of new sessions. */
function agentStores(context: vscode.ExtensionContext): Pick<AgentsOptions, "secrets" | "chosen"> {
  return { secrets: context.secrets, chosen: storedIn<string>(context, AGENT_KEY) };
}

/** Lets parts follow the events of others. */
function followParts(
  services: Services,
  { status, attention, onDidSettle }: WindowParts,
): readonly vscode.Disposable[] {
  const { sessions, agents, worker, opener, lastModel, panels, review } = services;
  return [
    onDidSettle(() => {
      panels.setFacts({ review: review.files, undone: review.undoneCount });
      attention.setEdits(review.files.filter(({ isWaiting }) => isWaiting).length);
    }),
    status.follow(sessions, () => lastModel.chosen !== undefined),
    sessions.onDidChange(() => (sessions.shown.isRunning ? opener.turnRuns() : opener.turnEnded())),
    attention.onDidChange(({ waiting }) => status.waiting(waiting)),
    reportDecisions(services),
    followWorker(services),
    agents.onDidEnd((name) => sessions.agentEnded(name)),
    showRemoteFiles(agents),
    agents.onDidReport(({ name, text }) => sessions.agentReported(name, text)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => sessions.foldersChanged()),
    hoverOverMemory(worker),
    ...followSettings(services),
  ];
}

function learningIn({ root, panels, log }: PageParts, worker: AgentWorker): Learning {
  return new Learning({
    root,
    worker,
    panels,
    log,
    openSession: (sessionId) => showPanel({ panels }, { kind: "open-session", sessionId }, panels.sideBar),
    openPlace: (place) => (place === "config" ? vscode.commands.executeCommand("hermes.openConfig") : openPath(place)),
  });
}

/** Actions of one panel, with a list of sessions and restores of its own. */
function actionsOf(
  [panel, webview]: Parameters<PageParts["actionsOf"]>,
  services: Services,
  parts: { readonly requests: Requests; readonly checkpoints: CheckpointDocuments },
): ReturnType<PageParts["actionsOf"]> {
  const { worker, sessions, sessionListChanges } = services;
  const history = new SessionHistory(services, panel, sessions, sessionListChanges);
  const restores = new SessionRestores(worker, panel, parts.checkpoints);
  const actions = {
    ...sessionActions({ ...services, requests: parts.requests, panel, history, restores }),
    ...workspaceActions(services, panel),
    ...taskActions(services, panel),
    ...contextActions(services, panel, webview),
    ...codeActions(services, panel),
  };
  return { actions, dispose: () => history.dispose() };
}

type SessionParts = Pick<Services, "panels" | "lastModel" | "agents" | "log" | "worker"> & {
  readonly router: SessionRouter;
  readonly status: StatusItem;
  readonly diskEdits: DiskEdits;
  readonly outputs: TerminalOutputs;
};

function sessionsIn(
  context: vscode.ExtensionContext,
  { panels, router, status, lastModel, diskEdits, agents, log, worker, outputs }: SessionParts,
): Sessions {
  const servers = new EditorServers(context.globalStorageUri.fsPath);
  const reader = { texts: attachmentTexts(worker, outputs), isMissing };
  const watch = new TurnWatch({
    log,
    now: () => performance.now(),
    notify: () => vscode.workspace.getConfiguration("hermes").get("notify", "hidden"),
    isInSight: (sessionId) => panels.isInSight(router.find(sessionId)),
    show: (sessionId, text) => {
      const answered = showInformation(text, vscode.l10n.t("Open"));
      void answered.then((chosen) => chosen !== undefined && sessions.reveal(sessionId));
    },
  });
  const sessions = new Sessions(
    {
      agentOf: (sessionId) => agents.of(sessionId),
      diskEdits,
      place: () => sessionPlace(lastModel.chosen, servers),
      warnings: () => servers.takeProblems(),
      observed: (session, event) => {
        watch.observe(session, event);
        if (event.type === "prompt" && panels.facts.learnt !== null) panels.setFacts({ learnt: null });
      },
      promptBlocks: (content, report) => promptBlocks(content, reader, report),
      opened: (opened) => {
        if (opened === undefined) return;
        panels.setFacts({ sandbox: opened.sandbox });
        status.sandbox(opened.sandbox);
      },
      // A choice that cannot be stored is lost with the window.
      rememberModel: (choice) => void lastModel.remember(choice).then(undefined, () => undefined),
      lastShown: storedIn<string>(context, LAST_SHOWN_KEY),
      running: storedIn<readonly string[]>(context, RUNNING_KEY),
    },
    panels,
    router,
  );
  return sessions;
}

/** The search after `@`, and the suggestion of the current file. */
function contextIn(
  { workspaceState }: vscode.ExtensionContext,
  terminals: TerminalOutputs,
  { panels, worker, history, opener }: Pick<Services, "panels" | "worker" | "history" | "opener">,
): Pick<Services, "mentions" | "suggestion"> {
  const mentions = new MentionSearch({
    terminals,
    files: new WorkspaceFiles(),
    suggested: () => panels.facts.suggested,
    // A search does not start the agent.
    sessions: () => (worker.isStarted ? history.recent() : Promise.resolve([])),
    sessionsWith: (text) => (worker.isStarted ? history.withText(text) : Promise.resolve([])),
  });
  return { mentions, suggestion: new Suggestion({ panels, opener, memory: workspaceState }) };
}

/** Terminals whose output goes to the log of their session. */
function terminalsIn(router: SessionRouter): AgentTerminals {
  return new AgentTerminals({
    output: (sessionId, terminalId, text) => router.emit(sessionId, { kind: "terminal-output", terminalId, text }),
    exit: (sessionId, terminalId, exit) => router.emit(sessionId, { kind: "terminal-exit", terminalId, ...exit }),
  });
}

function panelsIn(log: vscode.LogOutputChannel): Panels {
  return new Panels(vscode.workspace.isTrusted, () =>
    vscode.commands.executeCommand(`${CHAT_VIEW}.focus`).then(undefined, (error: unknown) => log.error(String(error))),
  );
}

/** Requests with cards in the panels, and notifications while no panel in sight shows them. */
function requestsIn(
  panels: Panels,
  router: SessionRouter,
  attention: AttentionCounter,
  sessions: () => Sessions,
): Requests {
  const requests = new Requests({
    show: (sessionId, event) => router.emit(sessionId, event),
    changed: (sessionIds) => {
      attention.setRequests(sessionIds.length);
      sessions().setAsking(sessionIds);
    },
    isInSight: (sessionId) => panels.isInSight(router.find(sessionId)),
    reveal: (sessionId) => sessions().reveal(sessionId),
    notify: notifyRequest,
  });
  panels.onDidChangeSight(() => requests.sightChanged());
  return requests;
}

/** Reports the life of the worker, and ends and reopens what depended on the one that ended. */
function followWorker({ worker, panels, terminals, sessions }: Services): vscode.Disposable {
  return worker.onDidChange(({ state, message }) => {
    panels.setFacts({ agent: { state, ...(message !== undefined && { message }) } });
    if (state === "restarting" || state === "failed") {
      panels.setFacts({ processes: [], extensions: [] });
      void terminals.endAll();
    }
    if (state === "restarting") setImmediate(() => sessions.agentRestarted());
  });
}

/** Reports the user's decisions on edits to the agent, whose journals keep them. */
function reportDecisions({ review, worker }: Services): vscode.Disposable {
  return review.onDidDecide((decision) => {
    // An agent that does not run has no session to keep the decision in.
    if (!worker.isStarted) return;
    worker.agent().then(
      (agent) => notify(agent, fileMethods.reviewed, decision),
      () => undefined, // a failed start is reported by the worker itself
    );
  });
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

async function sessionPlace(model: string | undefined, servers: EditorServers): Promise<SessionPlace> {
  const [cwd, ...additionalDirectories] = foldersOnDisk().map(({ uri }) => uri.fsPath);
  if (cwd === undefined) throw new Error(vscode.l10n.t("Open a folder to start: the agent works in a folder."));
  const hermes = { trusted: vscode.workspace.isTrusted, ...(model !== undefined && { model }) };
  const isWanted = vscode.workspace.getConfiguration("hermes").get("mcp.useEditorServers", true);
  // A workspace's own value is left out: its servers need the user's consent.
  const setting = vscode.workspace.getConfiguration("mcp").inspect("servers")?.globalValue;
  const { workspaceFile, workspaceFolders: [folder] = [] } = vscode.workspace;
  const workspace = String(workspaceFile ?? folder?.uri ?? "");
  const mcpServers = isWanted ? await servers.read({ setting, cwd, workspace, environment: process.env }) : [];
  return { cwd, additionalDirectories, mcpServers, _meta: { hermes } };
}

function foldersOnDisk(): readonly vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
}

function folderState(): WorkspaceFacts["folder"] {
  if (foldersOnDisk().length > 0) return "open";
  return (vscode.workspace.workspaceFolders ?? []).length > 0 ? "virtual" : "none";
}

/** A value in the memory of the window. One that cannot be stored is lost with the window. */
function storedIn<Value>({ workspaceState: memory }: vscode.ExtensionContext, key: string) {
  return {
    get: () => memory.get<Value>(key),
    set: (value: Value | undefined) => void memory.update(key, value).then(undefined, () => undefined),
  };
}

/** Applies changes of keys, settings and trust to the running agent, and opens the first-run page. */
function followSettings({
  sessions,
  panels,
  keys,
  environment,
  history,
  firstRun,
  log,
  worker,
  agents,
}: Services): readonly vscode.Disposable[] {
  const logged = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error(messageOf(error)));
  };
  // VS Code restarts the extension host with the first folder, so the state of the window stays.
  panels.setFacts({ folder: folderState() });
  const startPage = new StartPage(history, panels, firstRun);
  return [
    startPage,
    sessions.onDidBegin(() => sessions.shown.agent.offers.hermes && logged(startPage.begin())),
    vscode.workspace.onDidGrantWorkspaceTrust(() => logged(notifyWorkspaceTrusted(panels, worker))),
    keys.onDidChange(() => logged(environment.sync(worker))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const changed = (...names: readonly string[]): boolean =>
        names.some((name) => change.affectsConfiguration(`hermes.${name}`));
      // A running agent cannot change its home.
      if (changed("agents")) logged(Promise.resolve().then(() => agents.settingChanged()));
      if (changed("home")) logged(worker.restart());
      else if (changed(...MODEL_SETTINGS) || change.affectsConfiguration("http")) logged(environment.sync(worker));
    }),
  ];
}

/** An agent that starts later gets the trust with its first session. */
async function notifyWorkspaceTrusted(panels: Panels, worker: AgentWorker): Promise<void> {
  panels.setFacts({ isTrusted: true });
  if (worker.isStarted) await call(await worker.agent(), settingsMethods.trust, {});
}
