/** Keys and settings change while the agent runs: it is told, and the first-run page comes when it is needed. */
import * as vscode from "vscode";
import type { Services } from "../services.ts";

/** The listeners that do it, to be disposed of with the extension. */
export function keepInStep({
  chat,
  environment,
  firstRun,
  log,
  models,
  worker,
}: Services): readonly vscode.Disposable[] {
  const logged = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error(error instanceof Error ? error.message : String(error)));
  };
  return [
    chat.onDidBegin(() => logged(firstRun.begin())),
    environment.onDidChangeKeys(() => logged(environment.sync(worker))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const changed = (...names: readonly string[]): boolean =>
        names.some((name) => change.affectsConfiguration(`hermes.${name}`));
      // Where everything is kept cannot change under a running agent.
      if (changed("home")) logged(worker.restart());
      else if (changed("model", "provider", "baseUrl")) {
        // Who writes a setting means it: it stands over what was picked before.
        logged(models.remember(undefined).then(() => environment.sync(worker)));
      }
    }),
  ];
}
