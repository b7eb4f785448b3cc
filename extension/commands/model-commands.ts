/** Commands that choose a model, its effort and its key. */
import * as vscode from "vscode";
import { CHAT_VIEW } from "../chat/chat-view-id.ts";
import { chooseModel } from "../models/choose-model.ts";
import { enterKey } from "../models/enter-key.ts";
import type { Services } from "../services.ts";
import type { CommandTable } from "./command.ts";

export const modelCommands: CommandTable = {
  "hermes.chooseModel": (services) => chooseModel(services),
  "hermes.chooseReasoningEffort": chooseReasoningEffort,
  "hermes.setKey": (services) => enterKey(services),
  "hermes.setUpModel": async ({ sessions, firstRun }) => {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    await sessions.shown.open();
    await firstRun.open();
  },
};

async function chooseReasoningEffort({ sessions }: Services): Promise<void> {
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
}
