/** What each message of the panel about its queue does. */
import type { PanelMessage } from "../../webview/panel-protocol.ts";
import type { ChatSession } from "./chat-session.ts";

export type QueueMessage = Extract<PanelMessage, { readonly type: `queue-${string}` }>;

export async function actOnQueue(message: QueueMessage, chat: ChatSession): Promise<void> {
  const { id } = message;
  switch (message.type) {
    case "queue-remove":
      chat.queue.remove(id);
      return chat.sendHeldUp();
    case "queue-hold":
      return chat.queue.hold(id);
    case "queue-edit":
      chat.queue.edit(id, message.text);
      return chat.sendHeldUp();
    case "queue-move":
      return chat.queue.move(id, message.to);
    case "queue-send":
      return chat.sendQueued(id);
    case "queue-interrupt":
      return chat.interruptWith(id);
  }
}
