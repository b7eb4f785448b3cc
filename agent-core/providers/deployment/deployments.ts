/** The known deployments. Written by hand: their order is the order in which keys are looked for. */
import type { Endpoint } from "../wire/wire.ts";
import { anthropic } from "./anthropic.ts";
import { custom } from "./custom.ts";
import type { ChatQuirks, Deployment } from "./deployment.ts";
import { editor } from "./editor.ts";
import { llamacpp } from "./llamacpp.ts";
import { lmstudio } from "./lmstudio.ts";
import { offline } from "./offline.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";

export const deployments: readonly Deployment[] = [
  openai,
  openrouter,
  anthropic,
  editor,
  ollama,
  lmstudio,
  llamacpp,
  custom,
  offline,
];

/** The deployment behind an address, `custom` when it is nobody's. */
export function deploymentAt(baseUrl: string): Deployment {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : "";
  return deployments.find(({ hosts }) => hosts.includes(host)) ?? custom;
}

/** Quirks go with the address, not with the name: a proxy under OpenAI's name need not be like OpenAI. */
export function quirksOf({ baseUrl }: Endpoint): ChatQuirks {
  return deploymentAt(baseUrl ?? "").quirks ?? {};
}

/** Name of the environment variable for this provider's key, where it has one. */
export function keyVariableOf(provider: string): string | undefined {
  return deployments.find(({ name }) => name === provider)?.keyVariable;
}
