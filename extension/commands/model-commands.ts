/** Commands about the model. */
import * as vscode from "vscode";
import type { Services } from "../services.ts";

export async function setUpModel({ panels, firstRun }: Services): Promise<void> {
  await panels.active.reveal();
  await panels.active.shown.open();
  await firstRun.open();
}

export async function chooseReasoningEffort({ sessions }: Services): Promise<void> {
  const { shown: chat } = sessions;
  await chat.open();
  const option = chat.option("thought_level");
  if (option === undefined) {
    const model = chat.option("model")?.currentName ?? vscode.l10n.t("This model");
    await vscode.window.showInformationMessage(vscode.l10n.t("{0} has no reasoning effort to choose.", model));
    return;
  }
  const items = option.choices.map(({ value, name }) => ({
    label: value === option.currentValue ? `$(check) ${name}` : name,
    value,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Hermes: Reasoning Effort") });
  if (picked !== undefined) await chat.setConfig(option.id, picked.value);
}
