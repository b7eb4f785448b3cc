/** Leads the user to a panel, and sends it a command. */
import type { PanelCommand } from "../../agent-core/protocol/panel-events.ts";
import type { ChatPanel, Panels } from "../chat/panels.ts";

/** The side bar's view in package.json. */
export const CHAT_VIEW = "hermes.chat";

/** Type of the editor tabs' webviews in package.json. */
export const SESSION_TAB = "hermes.session";

/** Type of the learning tab's webview in package.json. */
export const LEARNING_TAB = "hermes.learning";

/** Default: the panel that the user used last. */
export async function showPanel(
  { panels }: { readonly panels: Panels },
  command: PanelCommand,
  panel: ChatPanel = panels.active,
): Promise<void> {
  panels.active = panel;
  await panel.reveal();
  panel.command(command);
}
