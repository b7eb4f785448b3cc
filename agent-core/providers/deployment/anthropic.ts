import type { Deployment } from "./deployment.ts";

export const anthropic: Deployment = {
  name: "anthropic",
  title: "Anthropic",
  mode: "anthropic_messages",
  baseUrl: "https://api.anthropic.com",
  urlVariable: "ANTHROPIC_BASE_URL",
  hosts: ["api.anthropic.com"],
  keyVariable: "ANTHROPIC_API_KEY",
  // "The best combination of speed and intelligence" on Anthropic's models page of November 2026; in the library's
  // list of models (`Model`).
  defaultModel: "claude-sonnet-5-5",
  keyPage: "https://platform.claude.com/settings/keys",
  knownModels: ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-2"],
};
