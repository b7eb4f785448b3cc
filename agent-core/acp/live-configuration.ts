/** The configuration of a running agent: the home's files, and variables that the client has changed since the start. */
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import type { Environment } from "../config/home.ts";
import { discoverEditorModels } from "../providers/catalogue/discovered-models.ts";
import { deployments } from "../providers/deployments.ts";
import type { ConnectedClient } from "./connected-client.ts";

/** Key of `platform_toolsets` for the toolsets of an editor. */
const PLATFORM = "acp";

export type LiveConfigurationOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly environment: Environment;
  /** The current client, which may offer models. */
  readonly client: () => ConnectedClient;
  /** One line for the log. */
  readonly log: (line: string) => void;
};

export class LiveConfiguration {
  readonly directory: ModelDirectory;
  #environment: Environment;

  constructor({ home, environment, client, log }: LiveConfigurationOptions) {
    this.#environment = environment;
    const editorModels = async () => {
      const { models } = client();
      return models === undefined ? [] : discoverEditorModels(models);
    };
    this.directory = new ModelDirectory({ home, log, editorModels });
  }

  /** Reads the configuration again. */
  async read(): Promise<ConfiguredAgent> {
    const configured = await configuredAgent(this.#environment, PLATFORM);
    this.directory.configure(configured);
    // A key of the client may be newer than the one that the session started with.
    const refreshEnvironment = async (): Promise<Environment> =>
      (await configuredAgent(this.#environment, PLATFORM)).options.environment ?? this.#environment;
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
