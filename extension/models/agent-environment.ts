/**
 * Variables that the agent's environment has besides VS Code's own: keys from the secret storage, the model and the
 * network from the settings. A running agent receives changes, so a new key needs no restart.
 */
import * as vscode from "vscode";
import * as z from "zod";
import { networkVariables } from "../../agent-core/platform/http/network-settings.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { KeyStore } from "./key-store.ts";

const SETTINGS = [
  ["model", "HERMES_MODEL"],
  ["provider", "HERMES_PROVIDER"],
  ["baseUrl", "HERMES_BASE_URL"],
  ["home", "HERMES_HOME"],
  ["sessionTitles", "HERMES_TITLES"],
  ["worktree", "HERMES_WORKTREE"],
] as const;

type Variables = Readonly<Record<string, string>>;

export class AgentEnvironment {
  readonly #keys: Pick<KeyStore, "keys">;
  /** Variables that the agent received last. */
  #received: Variables = {};
  /** Settles when all earlier changes are sent. */
  #sending: Promise<void> = Promise.resolve();

  constructor(keys: Pick<KeyStore, "keys">) {
    this.#keys = keys;
  }

  /** All variables for an agent that starts now. */
  async variables(): Promise<Variables> {
    this.#received = { ...(await this.#keys.keys()), ...settings(), ...network() };
    return this.#received;
  }

  /** Sends changes to a running agent, one after the other. An agent that is not started needs none. */
  sync(worker: AgentWorker): Promise<void> {
    const sent = this.#sending.then(() => this.#send(worker));
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  async #send(worker: AgentWorker): Promise<void> {
    if (!worker.isStarted) return;
    const before = this.#received;
    const now = await this.variables();
    const names = new Set([...Object.keys(before), ...Object.keys(now)]);
    const changed = [...names].filter((name) => before[name] !== now[name]);
    if (changed.length === 0) return;
    const variables = Object.fromEntries(changed.map((name) => [name, now[name] ?? process.env[name] ?? null]));
    const agent = await worker.agent();
    await call(agent, settingsMethods.setEnvironment, { variables });
  }
}

/** VS Code's own settings for its network, as variables; without them those of the environment apply. */
function network(): Variables {
  const http = vscode.workspace.getConfiguration("http");
  return networkVariables({
    proxy: http.get<string>("proxySupport") === "off" ? "off" : http.get<string>("proxy"),
    noProxy: http.get<readonly string[]>("noProxy", []).join(","),
    proxyAuthorization: http.get<string | null>("proxyAuthorization") ?? undefined,
    strictSsl: http.get<boolean>("proxyStrictSSL"),
  });
}

function settings(): Variables {
  const configuration = vscode.workspace.getConfiguration("hermes");
  const values = SETTINGS.map(([setting, variable]) => [variable, String(configuration.get(setting, ""))] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

const MEMENTO_KEY = "hermes.model";

/** Settings that select a model. A change of one overrides the remembered choice. */
export const MODEL_SETTINGS = ["model", "provider", "baseUrl"] as const;

const keptSchema = z.object({ choice: z.string(), settings: z.array(z.string()) });

export class LastModel {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  /** Id of a choice (`openai:gpt-4.1`); undefined when nothing was chosen under the current settings. */
  get chosen(): string | undefined {
    const kept = keptSchema.safeParse(this.#memento.get(MEMENTO_KEY)).data;
    const isCurrent = JSON.stringify(kept?.settings) === JSON.stringify(presentSettings());
    return isCurrent ? kept?.choice : undefined;
  }

  async remember(choice: string): Promise<void> {
    await this.#memento.update(MEMENTO_KEY, { choice, settings: presentSettings() });
  }
}

function presentSettings(): readonly string[] {
  const configuration = vscode.workspace.getConfiguration("hermes");
  return MODEL_SETTINGS.map((name) => configuration.get(name, ""));
}
