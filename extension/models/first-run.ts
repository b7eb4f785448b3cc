/** The panel's setup page, for users without a configured or chosen model. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesProviders, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { Panels } from "../chat/panels.ts";
import type { LastModel } from "./agent-environment.ts";

/** Choice of the built-in interpreter, which is no language model. */
const OFFLINE = "offline";

export class FirstRun {
  readonly #worker: AgentWorker;
  readonly #panels: Panels;
  readonly #lastModel: LastModel;

  constructor(worker: AgentWorker, panels: Panels, lastModel: LastModel) {
    this.#worker = worker;
    this.#panels = panels;
    this.#lastModel = lastModel;
  }

  /** Shows the page when no model is configured or chosen. */
  async begin(): Promise<void> {
    if (this.#lastModel.chosen !== undefined) return;
    const found = await this.#ask();
    if (found.unset) this.#show(found, false);
  }

  /** Shows the page at the user's request. */
  async open(): Promise<void> {
    this.#show(await this.#ask(), true);
  }

  /** The user writes to a model that was found, instead of choosing it: the page does not come back. */
  async accept(choice: string | undefined): Promise<void> {
    if (this.#panels.facts.setup === null || choice === undefined || choice === OFFLINE) return;
    this.#panels.setFacts({ setup: null });
    await this.#lastModel.remember(choice);
  }

  /** A model is set up. The user who saw the page continues in the composer. */
  async close(): Promise<void> {
    if (this.#panels.facts.setup === null) return;
    this.#panels.setFacts({ setup: null });
    await vscode.commands.executeCommand("hermes.focusChat");
  }

  #show({ offers, providers }: HermesProviders, canClose: boolean): void {
    const keys = providers.map(({ name, title, hasKey }) => ({ provider: name, title, hasKey }));
    this.#panels.setFacts({ setup: { offers, keys, canClose } });
    this.#panels.command({ kind: "show-setup" });
  }

  async #ask(): Promise<HermesProviders> {
    const agent = await this.#worker.agent();
    return call(agent, settingsMethods.providers, {});
  }
}
