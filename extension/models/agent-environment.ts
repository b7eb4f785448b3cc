/**
 * What the agent's environment holds beyond VS Code's own: keys from SecretStorage, the model from the settings. A
 * running agent is told of changes, so that no session is lost to a new key.
 */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";

/** Before the name of the variable whose value is kept. */
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
  /** What the agent was given last. */
  #given: Variables = {};
  /** Settles when everything before is told. */
  #telling: Promise<void> = Promise.resolve();

  /** Keys may be others: they were set here, or in another window. */
  readonly onDidChangeKeys: vscode.Event<unknown>;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
    this.onDidChangeKeys = secrets.onDidChange;
  }

  /** For an agent that starts now. */
  async variables(): Promise<Variables> {
    this.#given = { ...(await this.#keys()), ...settings() };
    return this.#given;
  }

  /** Keeps a key under the name of its variable; undefined removes it. Never written anywhere else. */
  async setKey(variable: string, key: string | undefined): Promise<void> {
    if (key === undefined) await this.#secrets.delete(SECRET_PREFIX + variable);
    else await this.#secrets.store(SECRET_PREFIX + variable, key);
  }

  /** Whether a key of this variable is kept here. */
  async hasKey(variable: string): Promise<boolean> {
    return (await this.#secrets.get(SECRET_PREFIX + variable)) !== undefined;
  }

  /** Tells a running agent what has changed, one change after the other; one that starts reads it all. */
  sync(worker: AgentWorker): Promise<void> {
    const told = this.#telling.then(() => this.#tell(worker));
    this.#telling = told.catch(() => undefined);
    return told;
  }

  async #tell(worker: AgentWorker): Promise<void> {
    if (!worker.isStarted) return;
    const before = this.#given;
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

function settings(): Variables {
  const configuration = vscode.workspace.getConfiguration("hermes");
  const values = SETTINGS.map(([setting, variable]) => [variable, configuration.get<string>(setting, "")] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}
