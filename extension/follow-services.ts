/** Lets parts of the extension follow the events of others, of VS Code and of its settings. */
import * as vscode from "vscode";
import { messageOf } from "../agent-core/platform/errors.ts";
import { fileMethods } from "../agent-core/protocol/files.ts";
import { call, notify, type Peer } from "../agent-core/protocol/method.ts";
import type { WorkspaceFacts } from "../agent-core/protocol/panel-events.ts";
import { settingsMethods } from "../agent-core/protocol/settings.ts";
import type { AgentWorker } from "./agent/agent-worker.ts";
import { provideDiagrams } from "./chat/actions/code-actions.ts";
import { foldersOnDisk } from "./chat/build-sessions.ts";
import type { Panels } from "./chat/panels.ts";
import { StartPage } from "./chat/start-page.ts";
import { hoverOverMemory } from "./commands/memory-files.ts";
import { provideRemoteFiles } from "./documents/remote-files.ts";
import { MODEL_SETTINGS } from "./models/agent-environment.ts";
import type { Services } from "./services.ts";
import type { AttentionCounter, StatusItem } from "./status-item.ts";

type WindowParts = {
  readonly status: StatusItem;
  readonly attention: AttentionCounter;
  /** The edits under review have changed. */
  readonly onDidSettle: vscode.Event<void>;
};

/** Lets parts follow the events of others. */
export function followServices(
  services: Services,
  { status, attention, onDidSettle }: WindowParts,
): readonly vscode.Disposable[] {
  const { sessions, agents, worker, lastModel, panels, review } = services;
  return [
    onDidSettle(() => {
      panels.setFacts({ review: review.files, undone: review.undoneCount });
      attention.set({ edits: review.files.filter(({ isWaiting }) => isWaiting).length });
    }),
    status.follow(sessions, () => lastModel.chosen !== undefined),
    attention.onDidChange(({ waiting }) => status.waiting(waiting)),
    review.onDidDecide((decision) => tell(worker, (agent) => notify(agent, fileMethods.reviewed, decision))),
    review.onDidSettle((event) => {
      for (const { log } of sessions.open.values()) log.push(event);
      tell(worker, (agent) => notify(agent, fileMethods.settled, event));
    }),
    followWorker(services),
    agents.onDidEnd((name) => sessions.agentEnded(name)),
    provideRemoteFiles(agents),
    provideDiagrams(),
    agents.onDidReport(({ name, text }) => sessions.agentReported(name, text)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => sessions.foldersChanged()),
    hoverOverMemory(worker),
    ...followSettings(services),
  ];
}

/** Reports the life of the worker, and ends and reopens what depended on the one that ended. */
function followWorker({ worker, panels, terminals, sessions }: Services): vscode.Disposable {
  return worker.onDidChange((agent) => {
    panels.setFacts({ agent });
    const { state } = agent;
    if (state === "restarting" || state === "failed") {
      panels.setFacts({ processes: [], extensions: [] });
      void terminals.endAll();
    }
    if (state === "restarting") setImmediate(() => sessions.agentRestarted());
  });
}

/** Reports a decision of the user on edits to the agent, whose journals keep it. */
function tell(worker: AgentWorker, report: (agent: Peer) => void): void {
  // An agent that does not run has no session to keep the decision in. It reports a failed start itself.
  if (worker.isStarted) worker.agent().then(report, () => undefined);
}

/** Applies changes of keys, settings and trust to the running agent, and opens the first-run page. */
function followSettings({
  sessions,
  panels,
  keys,
  lastModel,
  environment,
  history,
  log,
  worker,
  agents,
}: Services): readonly vscode.Disposable[] {
  const logged = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error(messageOf(error)));
  };
  // VS Code restarts the extension host with the first folder, so the state of the window stays.
  panels.setFacts({ folder: folderState() });
  const startPage = new StartPage({ history, panels, worker, lastModel, keys });
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
      else if (changed(...MODEL_SETTINGS, "sessionTitles", "worktree") || change.affectsConfiguration("http"))
        logged(environment.sync(worker));
    }),
  ];
}

/** An agent that starts later gets the trust with its first session. */
async function notifyWorkspaceTrusted(panels: Panels, worker: AgentWorker): Promise<void> {
  panels.setFacts({ isTrusted: true });
  if (worker.isStarted) await call(await worker.agent(), settingsMethods.trust, {});
}

function folderState(): WorkspaceFacts["folder"] {
  if (foldersOnDisk().length > 0) return "open";
  return (vscode.workspace.workspaceFolders ?? []).length > 0 ? "virtual" : "none";
}
