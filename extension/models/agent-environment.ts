/**
 * Variables that the agent's environment has besides VS Code's own: keys from SecretStorage, the model and the
 * network from the settings. A running agent receives changes, so a new key needs no restart.
 */
import * as vscode from "vscode";
import * as z from "zod";
import { networkVariables } from "../../agent-core/platform/http/network-settings.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";

/** Prefix of a key's name in the storage; the name of its variable follows. */
const SECRET_PREFIX = "hermes.apiKey.";

const SETTINGS = [
  ["model", "HERMES_MODEL"],
  ["provider", "HERMES_PROVIDER"],
  ["baseUrl", "HERMES_BASE_URL"],
  ["home", "HERMES_HOME"],
] as const;

type Variables = Readonly<Record<string, string>>;

export class AgentEnvironment {
  readonly #secrets: vscode.SecretStorage;
  /** Variables that the agent received last. */
  #received: Variables = {};
  /** Settles when all earlier changes are sent. */
  #sending: Promise<void> = Promise.resolve();

  /** Fires when a key changes, in this window or another. */
  readonly onDidChangeKeys: vscode.Event<unknown>;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
    this.onDidChangeKeys = secrets.onDidChange;
  }

  /** All variables for an agent that starts now. */
  async variables(): Promise<Variables> {
    this.#received = { ...(await this.#keys()), ...settings(), ...network() };
    return this.#received;
  }

  /** Stores a key under the name of its variable, in SecretStorage only. Undefined removes it. */
  async setKey(variable: string, key: string | undefined): Promise<void> {
    if (key === undefined) await this.#secrets.delete(SECRET_PREFIX + variable);
    else await this.#secrets.store(SECRET_PREFIX + variable, key);
  }

  /** True when a key of this variable is stored. */
  async hasKey(variable: string): Promise<boolean> {
    return (await this.#secrets.get(SECRET_PREFIX + variable)) !== undefined;
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

  async #keys(): Promise<Variables> {
    const names = (await this.#secrets.keys()).filter((name) => name.startsWith(SECRET_PREFIX));
    const keys = await Promise.all(
      names.map(async (name) => [name.slice(SECRET_PREFIX.length), await this.#secrets.get(name)] as const),
    );
    return Object.fromEntries(keys.filter((entry): entry is readonly [string, string] => Boolean(entry[1])));
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
  const values = SETTINGS.map(([setting, variable]) => [variable, configuration.get<string>(setting, "")] as const);
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
