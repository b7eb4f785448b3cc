/** Keys, settings and trust change while the agent runs: it is told, and the first-run page comes when it is needed. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { passOnTrust } from "../agent/pass-on-trust.ts";
import type { Services } from "../services.ts";
import { MODEL_SETTINGS } from "./model-memory.ts";

/** The listeners that do it, to be disposed of with the extension. */
export function keepInStep({
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
    vscode.workspace.onDidGrantWorkspaceTrust(() => logged(passOnTrust(panel, worker))),
    environment.onDidChangeKeys(() => logged(environment.sync(worker))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const changed = (...names: readonly string[]): boolean =>
        names.some((name) => change.affectsConfiguration(`hermes.${name}`));
      // Where everything is kept cannot change under a running agent.
      if (changed("home")) logged(worker.restart());
      else if (changed(...MODEL_SETTINGS)) logged(environment.sync(worker));
    }),
  ];
}
