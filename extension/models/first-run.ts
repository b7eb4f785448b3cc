/** The panel's setup page, for users without a configured or chosen model. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesProvider, type HermesProviders, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { Services } from "../services.ts";

/** Choice of the built-in interpreter, which is no language model. */
const OFFLINE = "offline";

type Parts = Pick<Services, "worker" | "panels" | "lastModel" | "keys">;

/** Shows the page when no model is configured or chosen, or the key of the chosen one is lost. */
export async function beginFirstRun(parts: Parts): Promise<void> {
  const { chosen } = parts.lastModel;
  const lostKeys = await parts.keys.lost();
  if (chosen !== undefined && lostKeys.length === 0) return;
  const found = await providersOf(parts.worker);
  const provider = chosen?.split(":", 1)[0] ?? vscode.workspace.getConfiguration("hermes").get("provider");
  const lost = found.providers.find(
    ({ name, keyVariable, hasKey }) => name === provider && lostKeys.includes(keyVariable) && !hasKey,
  );
  if (lost !== undefined || (found.unset && chosen === undefined)) await showSetup(parts, found, false, lost);
}

/** Shows the page at the user's request. */
export async function openSetup(parts: Parts): Promise<void> {
  await showSetup(parts, await providersOf(parts.worker), true);
}

/** The user writes to a model that was found, instead of choosing it: the page does not come back. */
export async function acceptModel(
  { panels, lastModel }: Pick<Parts, "panels" | "lastModel">,
  choice: string | undefined,
) {
  if (panels.facts.setup === null || choice === undefined || choice === OFFLINE) return;
  panels.setFacts({ setup: null });
  await lastModel.remember(choice);
}

/** A model is set up. The user who saw the page continues in the composer. */
export async function closeSetup({ panels }: Pick<Parts, "panels">): Promise<void> {
  if (panels.facts.setup === null) return;
  panels.setFacts({ setup: null });
  await vscode.commands.executeCommand("hermes.focusChat");
}

/** `lost`: the provider whose key VS Code has forgotten. */
async function showSetup(
  { panels, keys: store }: Parts,
  { offers, providers, keyFile }: HermesProviders,
  canClose: boolean,
  lost?: HermesProvider,
): Promise<void> {
  const keys = providers.map(({ name, title, hasKey }) => ({ provider: name, title, hasKey }));
  const keyPlace = await store.placeText(keyFile);
  const forgotten = lost && { lost: { provider: lost.name, title: lost.configured?.title ?? lost.title } };
  panels.setFacts({ setup: { offers, keys, keyPlace, canClose, ...forgotten } });
  panels.command({ kind: "show-setup" });
}

/** Providers with their names in the language of VS Code; the agent's texts are English. */
export async function providersOf(worker: Pick<AgentWorker, "agent">): Promise<HermesProviders> {
  const found = await call(await worker.agent(), settingsMethods.providers, {});
  const named = (one: HermesProvider) => (one.needsAddress ? { ...one, title: vscode.l10n.t("Other Endpoint") } : one);
  return { ...found, providers: found.providers.map(named) };
}
