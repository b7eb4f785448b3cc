/** Configuration while the agent runs: the home's files, and variables that the client has changed since the start. */
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import type { Environment } from "../config/home.ts";
import type { Clock } from "../platform/clock.ts";
import { useNetwork } from "../platform/http/connections.ts";
import { discoverEditorModels } from "../providers/catalogue/discovered-models.ts";
import { deployments } from "../providers/deployments.ts";
import type { ConnectedClient } from "./connected-client.ts";

/** Settings of sessions whose user is not at the machine: commands run in the sandbox or not at all, and only people approve. */
function forChats(configured: ConfiguredAgent): ConfiguredAgent {
  const { options, config } = configured;
  const terminal = { ...config.terminal, sandbox: "on" as const };
  return { ...configured, config: { ...config, terminal }, options: { ...options, approvals: "manual" } };
}

type LiveConfigurationOptions = {
  /** Home of the lists of models. */
  readonly home: string;
  readonly environment: Environment;
  /** The current client, which may offer models. */
  readonly client: () => ConnectedClient;
  readonly log: (line: string) => void;
  readonly clock: Clock;
};

export class LiveConfiguration {
  readonly directory: ModelDirectory;
  readonly #client: () => ConnectedClient;
  readonly #clock: Clock;
  #environment: Environment;

  /** Variables of the process, with the client's changes. */
  get environment(): Environment {
    return this.#environment;
  }

  constructor({ home, environment, client, log, clock }: LiveConfigurationOptions) {
    this.#environment = environment;
    this.#clock = clock;
    this.#client = client;
    const editorModels = async () => {
      const { models } = client();
      return models === undefined ? [] : discoverEditorModels(models);
    };
    this.directory = new ModelDirectory({ home, log, editorModels });
  }

  /** Reads the configuration again. */
  async read(): Promise<ConfiguredAgent> {
    const { platform, isChat } = this.#client();
    const own = await configuredAgent(this.#environment, platform, this.#clock);
    const configured = isChat ? forChats(own) : own;
    this.directory.configure(configured);
    useNetwork(configured.options.environment);
    // A key of the client may be newer than the one that the session started with.
    const refreshEnvironment = async (): Promise<Environment> =>
      (await configuredAgent(this.#environment, platform)).options.environment;
    return { ...configured, options: { ...configured.options, refreshEnvironment } };
  }

  /** Sets variables for the next reading; null unsets one. */
  change(changes: Readonly<Record<string, string | null>>): void {
    const entries = Object.entries(changes).map(([name, value]) => [name, value ?? undefined] as const);
    this.#environment = { ...this.#environment, ...Object.fromEntries(entries) };
    for (const { name, keyVariable = "", urlVariable = "" } of deployments) {
      if (keyVariable in changes || urlVariable in changes) this.directory.forget(name);
    }
  }
}
