/** What an action of the panel is: what one kind of its messages does. */

import type { Services } from "../../services.ts";
import type { PanelRequest } from "../chat-view.ts";

type MessageType = PanelRequest["type"];

/** One action for each of these kinds of messages. */
export type Actions<Type extends MessageType> = {
  readonly [T in Type]: (message: Extract<PanelRequest, { type: T }>, services: Services) => unknown;
};
