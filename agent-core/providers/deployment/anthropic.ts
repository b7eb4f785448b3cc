import type { Deployment } from "./deployment.ts";

export const anthropic: Deployment = {
  name: "anthropic",
  title: "Anthropic",
  mode: "anthropic_messages",
  baseUrl: "https://api.anthropic.com",
  urlVariable: "ANTHROPIC_BASE_URL",
  hosts: ["api.anthropic.com"],
  keyVariable: "ANTHROPIC_API_KEY",
  keyPage: "https://console.anthropic.com/settings/keys",
  knownModels: ["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"],
};
