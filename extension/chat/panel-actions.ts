/** What each message of the panel does: one table, put together from one file a matter. */
import type { Services } from "../services.ts";
import type { Actions } from "./actions/actions.ts";
import { chatActions } from "./actions/chat-actions.ts";
import { editorActions } from "./actions/editor-actions.ts";
import { historyActions } from "./actions/history-actions.ts";
import { modelActions } from "./actions/model-actions.ts";
import { processActions } from "./actions/process-actions.ts";
import { queueActions } from "./actions/queue-actions.ts";
import { restoreActions } from "./actions/restore-actions.ts";
import { reviewActions } from "./actions/review-actions.ts";
import type { PanelRequest } from "./chat-view.ts";

const actions: Actions<PanelRequest["type"]> = {
  ...chatActions,
  ...queueActions,
  ...processActions,
  ...historyActions,
  ...modelActions,
  ...restoreActions,
  ...reviewActions,
  ...editorActions,
};

export async function actOnPanelMessage(message: PanelRequest, services: Services): Promise<void> {
  // The table is checked entry by entry above; TypeScript cannot relate the key to its action here.
  const act = actions[message.type] as (message: PanelRequest, services: Services) => unknown;
  await act(message, services);
}
