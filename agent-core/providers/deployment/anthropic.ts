import type { Deployment } from "./deployment.ts";

export const anthropic: Deployment = {
  name: "anthropic",
  mode: "anthropic_messages",
  baseUrl: "https://api.anthropic.com",
  urlVariable: "ANTHROPIC_BASE_URL",
  hosts: ["api.anthropic.com"],
  keyVariable: "ANTHROPIC_API_KEY",
  // "The best combination of speed and intelligence" on Anthropic's models page of November 2026; in the library's
  // list of models (`Model`).
  defaultModel: "claude-sonnet-5-5",
};
