/** Commands about the model: its setup, the choice in a list of all models, and its reasoning effort. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesModels, settingsMethods } from "../../agent-core/protocol/settings.ts";
import { showInformation } from "../notifications.ts";
import type { Services } from "../services.ts";
import { enterKey } from "./enter-key.ts";
import { closeSetup, openSetup } from "./first-run.ts";

type Item = vscode.QuickPickItem & { readonly choice?: string };

const SET_KEY: Item = { label: `$(key) ${vscode.l10n.t("Set API Key…")}`, alwaysShow: true };

/** Resolves to true when the user has chosen a model. */
export async function chooseModel(services: Services, chat = services.sessions.shown): Promise<boolean> {
  await chat.open();
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = vscode.l10n.t("Hermes: Choose Model");
  picker.placeholder = vscode.l10n.t("Type a part of the name");
  picker.matchOnDescription = true;
  picker.busy = true;
  picker.show();
  const picked = pickedFrom(picker);
  try {
    const { groups } = await call(await services.worker.agent(), settingsMethods.models, {});
    picker.items = itemsOf(groups, chat.option("model")?.currentValue);
  } catch (error) {
    picker.hide(); // it would stay busy over the message
    throw error;
  }
  picker.activeItems = picker.items.filter(({ picked: isCurrent }) => isCurrent);
  picker.busy = false;
  const item = await picked;
  if (item === SET_KEY) await enterKey(services);
  if (item?.choice === undefined) return false;
  await chat.setConfig("model", item.choice);
  await closeSetup(services);
  return true;
}

function itemsOf(groups: HermesModels["groups"], current: unknown): readonly Item[] {
  const items = groups.flatMap(({ title, choices }): readonly Item[] => [
    { label: title, kind: vscode.QuickPickItemKind.Separator },
    ...choices.map(({ value, name, description }) => ({
      label: value === current ? `$(check) ${name}` : name,
      description: description ?? "",
      picked: value === current,
      choice: value,
    })),
  ]);
  return [...items, { label: "", kind: vscode.QuickPickItemKind.Separator }, SET_KEY];
}

/** Undefined when the user closed the list. */
function pickedFrom(picker: vscode.QuickPick<Item>): Promise<Item | undefined> {
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
  });
}

export async function setUpModel(services: Services): Promise<void> {
  const { panels } = services;
  await panels.active.reveal();
  await panels.active.shown.open();
  await openSetup(services);
}

export async function chooseReasoningEffort({ sessions }: Services): Promise<void> {
  const { shown: chat } = sessions;
  await chat.open();
  const option = chat.option("thought_level");
  if (option === undefined) {
    const model = chat.option("model")?.currentName ?? vscode.l10n.t("This model");
    await showInformation(vscode.l10n.t("{0} has no reasoning effort to choose.", model));
    return;
  }
  const items = option.choices.map(({ value, name }) => ({
    label: value === option.currentValue ? `$(check) ${name}` : name,
    value,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Hermes: Reasoning Effort") });
  if (picked !== undefined) await chat.setConfig(option.id, picked.value);
}
