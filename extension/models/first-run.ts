/** The panel's setup page, for users without a configured or chosen model. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesProvider, type HermesProviders, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { Panels } from "../chat/panels.ts";
import type { LastModel } from "./agent-environment.ts";
import type { KeyStore } from "./key-store.ts";

/** Choice of the built-in interpreter, which is no language model. */
const OFFLINE = "offline";

type FirstRunParts = {
  readonly worker: AgentWorker;
  readonly panels: Panels;
  readonly lastModel: LastModel;
  readonly keys: KeyStore;
};

export class FirstRun {
  readonly #parts: FirstRunParts;

  constructor(parts: FirstRunParts) {
    this.#parts = parts;
  }

  /** Shows the page when no model is configured or chosen, or the key of the chosen one is lost. */
  async begin(): Promise<void> {
    const { chosen } = this.#parts.lastModel;
    const lostKeys = await this.#parts.keys.lost();
    if (chosen !== undefined && lostKeys.length === 0) return;
    const found = await providersOf(this.#parts.worker);
    const provider = chosen?.split(":", 1)[0] ?? vscode.workspace.getConfiguration("hermes").get("provider");
    const lost = found.providers.find(
      ({ name, keyVariable, hasKey }) => name === provider && lostKeys.includes(keyVariable) && !hasKey,
    );
    if (lost !== undefined || (found.unset && chosen === undefined)) await this.#show(found, false, lost);
  }

  /** Shows the page at the user's request. */
  async open(): Promise<void> {
    await this.#show(await providersOf(this.#parts.worker), true);
  }

  /** The user writes to a model that was found, instead of choosing it: the page does not come back. */
  async accept(choice: string | undefined): Promise<void> {
    if (this.#parts.panels.facts.setup === null || choice === undefined || choice === OFFLINE) return;
    this.#parts.panels.setFacts({ setup: null });
    await this.#parts.lastModel.remember(choice);
  }

  /** A model is set up. The user who saw the page continues in the composer. */
  async close(): Promise<void> {
    if (this.#parts.panels.facts.setup === null) return;
    this.#parts.panels.setFacts({ setup: null });
    await vscode.commands.executeCommand("hermes.focusChat");
  }

  /** `lost`: the provider whose key VS Code has forgotten. */
  async #show(
    { offers, providers, keyFile }: HermesProviders,
    canClose: boolean,
    lost?: HermesProvider,
  ): Promise<void> {
    const keys = providers.map(({ name, title, hasKey }) => ({ provider: name, title, hasKey }));
    const keyPlace = await this.#parts.keys.placeText(keyFile);
    const forgotten = lost && { lost: { provider: lost.name, title: lost.configured?.title ?? lost.title } };
    this.#parts.panels.setFacts({ setup: { offers, keys, keyPlace, canClose, ...forgotten } });
    this.#parts.panels.command({ kind: "show-setup" });
  }
}

/** Providers with their names in the language of VS Code; the agent's texts are English. */
export async function providersOf(worker: Pick<AgentWorker, "agent">): Promise<HermesProviders> {
  const found = await call(await worker.agent(), settingsMethods.providers, {});
  const named = (one: HermesProvider) => (one.needsAddress ? { ...one, title: vscode.l10n.t("Other Endpoint") } : one);
  return { ...found, providers: found.providers.map(named) };
}
