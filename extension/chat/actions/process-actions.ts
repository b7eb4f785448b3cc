/** What runs in the background: typing into it, ending it. */
import type { PanelMessage } from "../../../webview/panel-protocol.ts";
import { told } from "../told.ts";
import type { Actions } from "./actions.ts";

export const processActions: Actions<Extract<PanelMessage["type"], `process-${string}`>> = {
  "process-input": ({ id, text }, { processes }) =>
    told("The process does not get what was typed", () => processes.input(id, text)),
  "process-stop": ({ id }, { processes }) => told("The process cannot be ended", () => processes.stop(id)),
};
