/** Going back to an earlier message: what it would do, and doing it. */
import type { PanelMessage } from "../../../webview/panel-protocol.ts";
import { told } from "../told.ts";
import type { Actions } from "./actions.ts";

export const restoreActions: Actions<Extract<PanelMessage["type"], "restore" | `restore-${string}`>> = {
  "restore-preview": ({ position }, { restores }) =>
    told("What a restore would do cannot be told", () => restores.preview(position)),
  "restore-close": (_message, { restores }) => restores.close(),
  "restore-changes": ({ position }, { restores }) =>
    told("The changes cannot be shown", () => restores.showChanges(position)),
  restore: ({ position, files, conversation }, { restores }) =>
    told("Nothing was restored", () => restores.restore(position, { files, conversation })),
  "restore-undo": ({ restoreId }, { restores }) => told("The restore cannot be undone", () => restores.undo(restoreId)),
};
