/** All actions of one panel. */
import type { Services } from "../../services.ts";
import type { PageParts } from "../panel-page.ts";
import { SessionHistory } from "../session-history.ts";
import { SessionRestores } from "../session-restores.ts";
import { codeActions } from "./code-actions.ts";
import { contextActions } from "./context-actions.ts";
import { sessionActions } from "./session-actions.ts";
import { taskActions } from "./task-actions.ts";
import { workspaceActions } from "./workspace-actions.ts";

/** Actions of one panel, with a list of sessions and restores of its own. */
export function panelActions(
  [panel, webview]: Parameters<PageParts["actionsOf"]>,
  services: Services,
): ReturnType<PageParts["actionsOf"]> {
  const { worker, sessions, sessionListChanges } = services;
  const history = new SessionHistory(services, panel, sessions, sessionListChanges);
  const restores = new SessionRestores(worker, panel, services.checkpoints);
  const actions = {
    ...sessionActions({ ...services, panel, history, restores }),
    ...workspaceActions(services, panel),
    ...taskActions(services, panel),
    ...contextActions(services, panel, webview),
    ...codeActions(services, panel),
  };
  return { actions, dispose: () => history.dispose() };
}
