/** What the worker's environment holds beyond VS Code's own: keys from SecretStorage, the model from the settings. */
import * as vscode from "vscode";

/** Variables whose values may be kept as secrets; any provider with an OpenAI-compatible endpoint uses the last. */
export const KEY_VARIABLES = ["OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "HERMES_API_KEY"] as const;

export type KeyVariable = (typeof KEY_VARIABLES)[number];

export function secretName(variable: KeyVariable): string {
  return `hermes.apiKey.${variable}`;
}

export async function agentEnvironment(secrets: vscode.SecretStorage): Promise<Readonly<Record<string, string>>> {
  const environment: Record<string, string> = {};
  for (const variable of KEY_VARIABLES) {
    const key = await secrets.get(secretName(variable));
    if (key) environment[variable] = key;
  }
  const settings = vscode.workspace.getConfiguration("hermes");
  for (const [setting, variable] of [
    ["model", "HERMES_MODEL"],
    ["provider", "HERMES_PROVIDER"],
    ["baseUrl", "HERMES_BASE_URL"],
    ["home", "HERMES_HOME"],
  ] as const) {
    const value = settings.get<string>(setting, "");
    if (value !== "") environment[variable] = value;
  }
  return environment;
}
