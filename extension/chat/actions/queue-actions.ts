/** The messages that wait: change, move, send, take away. */
import type { PanelMessage } from "../../../webview/panel-protocol.ts";
import type { Actions } from "./actions.ts";

export const queueActions: Actions<Extract<PanelMessage["type"], `queue-${string}`>> = {
  "queue-remove": ({ id }, { chat }) => {
    chat.queue.remove(id);
    return chat.sendHeldUp();
  },
  "queue-hold": ({ id }, { chat }) => chat.queue.hold(id),
  "queue-edit": ({ id, text }, { chat }) => {
    chat.queue.edit(id, text);
    return chat.sendHeldUp();
  },
  "queue-move": ({ id, to }, { chat }) => chat.queue.move(id, to),
  "queue-send": ({ id }, { chat }) => chat.sendQueued(id),
  "queue-interrupt": ({ id }, { chat }) => chat.interruptWith(id),
};
