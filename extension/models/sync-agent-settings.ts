/** Applies changes of keys, settings and trust to the running agent, and opens the first-run page. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { PanelConnection } from "../chat/panel-connection.ts";
import type { Services } from "../services.ts";
import { MODEL_SETTINGS } from "./model-memory.ts";

/** The caller disposes of the listeners. */
export function syncAgentSettings({
  sessions,
  panel,
  environment,
  firstRun,
  log,
  worker,
}: Services): readonly vscode.Disposable[] {
  const logged = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error(messageOf(error)));
  };
  return [
    sessions.onDidBegin(() => logged(firstRun.begin())),
    vscode.workspace.onDidGrantWorkspaceTrust(() => logged(notifyWorkspaceTrusted(panel, worker))),
    environment.onDidChangeKeys(() => logged(environment.sync(worker))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const changed = (...names: readonly string[]): boolean =>
        names.some((name) => change.affectsConfiguration(`hermes.${name}`));
      // A running agent cannot change its home.
      if (changed("home")) logged(worker.restart());
      else if (changed(...MODEL_SETTINGS)) logged(environment.sync(worker));
    }),
  ];
}

/** An agent that starts later gets the trust with its first session. */
async function notifyWorkspaceTrusted(panel: PanelConnection, worker: AgentWorker): Promise<void> {
  panel.setFacts({ isTrusted: true });
  if (worker.isStarted) await call(await worker.agent(), settingsMethods.trust, {});
}
