/** What an action of the panel is: what one kind of its messages does. */
import type { PanelMessage } from "../../../webview/panel-protocol.ts";
import type { Services } from "../../services.ts";

type MessageType = PanelMessage["type"];

/** One action for each of these kinds of messages. */
export type Actions<Type extends MessageType> = {
  readonly [T in Type]: (message: Extract<PanelMessage, { type: T }>, services: Services) => unknown;
};
