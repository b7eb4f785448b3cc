import * as vscode from "vscode";
import { KEY_VARIABLES, secretName } from "../models/agent-environment.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.setKey",
  async run({ secrets, worker }) {
    const variable = await vscode.window.showQuickPick([...KEY_VARIABLES], { title: "Hermes: which key?" });
    const name = KEY_VARIABLES.find((candidate) => candidate === variable);
    if (name === undefined) return;
    const key = await vscode.window.showInputBox({
      title: `Hermes: ${name}`,
      prompt: "Kept in VS Code's secret storage. Leave empty to remove it.",
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return;
    if (key === "") await secrets.delete(secretName(name));
    else await secrets.store(secretName(name), key.trim());
    await worker.restart();
  },
};
