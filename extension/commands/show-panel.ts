/** Shows the panel, and sends it a command. */
import * as vscode from "vscode";
import type { PanelCommand } from "../../agent-core/protocol/panel-events.ts";
import type { Services } from "../services.ts";

/** The panel's view in package.json. */
export const CHAT_VIEW = "hermes.chat";

export async function showPanel({ panel }: Services, command: PanelCommand): Promise<void> {
  await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
  panel.command(command);
}
