import * as vscode from "vscode";
import type { Command } from "./command.ts";

export const command: Command = {
  id: "hermes.chooseReasoningEffort",
  async run({ sessions }) {
    const { shown: chat } = sessions;
    await chat.open();
    const option = chat.option("thought_level");
    if (option === undefined) {
      const model = chat.option("model")?.currentName ?? "This model";
      await vscode.window.showInformationMessage(`${model} has no reasoning effort to choose.`);
      return;
    }
    const items = option.choices.map(({ value, name }) => ({
      label: value === option.currentValue ? `$(check) ${name}` : name,
      value,
    }));
    const picked = await vscode.window.showQuickPick(items, { title: "Hermes: Reasoning Effort" });
    if (picked !== undefined) await chat.setConfig(option.id, picked.value);
  },
};
