/** Options of a session: the choices that its agent offers. An agent that has only modes gets one option for them. */
import {
  type ClientContext,
  methods,
  type SessionConfigOption,
  type SessionConfigSelectOption,
  type SessionModeState,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";

/** Id of the option for the modes of an agent without options. No agent's own option has this id. */
const MODE_OPTION = "hermes:mode";

/** An option that is a choice from a list. */
export type SelectedOption = {
  readonly id: string;
  readonly currentValue: string;
  readonly currentName: string;
  readonly choices: readonly SessionConfigSelectOption[];
};

type Opened = {
  readonly configOptions?: readonly SessionConfigOption[] | null;
  readonly modes?: SessionModeState | null;
};

type Choice = { readonly sessionId: string; readonly configId: string; readonly value: string };

export class SessionOptions {
  #all: readonly SessionConfigOption[] = [];

  get all(): SessionConfigOption[] {
    return [...this.#all];
  }

  replace(options: readonly SessionConfigOption[]): void {
    this.#all = options;
  }

  /** Takes the options of a session that the agent has opened. */
  open({ configOptions, modes }: Opened): void {
    if (configOptions != null && configOptions.length > 0) this.#all = configOptions;
    else this.#all = modes == null || modes.availableModes.length === 0 ? [] : [modeOption(modes)];
  }

  /** The agent changed its mode. False when the options do not show the mode. */
  modeChanged(modeId: string): boolean {
    if (!this.#all.some(({ id }) => id === MODE_OPTION)) return false;
    this.#all = this.#all.map((option) =>
      option.id === MODE_OPTION && option.type === "select" ? { ...option, currentValue: modeId } : option,
    );
    return true;
  }

  async set(agent: ClientContext, choice: Choice): Promise<void> {
    const { sessionId, configId, value } = choice;
    if (configId === MODE_OPTION) {
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: value });
      this.modeChanged(value);
    } else {
      const { setConfigOption } = methods.agent.session;
      this.#all = (await agent.request(setConfigOption, { sessionId, configId, value })).configOptions;
    }
  }

  /** Makes the same choices in another session of the agent. */
  async repeat(agent: ClientContext, sessionId: string, chosen: readonly SessionConfigOption[]): Promise<void> {
    for (const { id: configId, currentValue: value } of chosen) {
      const now = this.#all.find(({ id }) => id === configId);
      if (typeof value !== "string" || now === undefined || now.currentValue === value) continue;
      await this.set(agent, { sessionId, configId, value });
    }
  }

  /** The option of an ACP category: `mode`, `model`, `thought_level`. */
  find(category: string): SelectedOption | undefined {
    const option = this.#all.find((candidate) => candidate.category === category);
    if (option?.type !== "select") return undefined;
    const { id, currentValue } = option;
    const choices = option.options.flatMap((item) => ("group" in item ? item.options : [item]));
    const currentName = choices.find(({ value }) => value === currentValue)?.name ?? currentValue;
    return { id, currentValue, currentName, choices };
  }
}

function modeOption({ availableModes, currentModeId }: SessionModeState): SessionConfigOption {
  const options = availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    description: description ?? null,
  }));
  return {
    id: MODE_OPTION,
    name: vscode.l10n.t("Mode"),
    category: "mode",
    type: "select",
    currentValue: currentModeId,
    options,
  };
}
