import type { Deployment } from "./deployment.ts";

export const anthropic: Deployment = {
  name: "anthropic",
  mode: "anthropic_messages",
  baseUrl: "https://api.anthropic.com",
  urlVariable: "ANTHROPIC_BASE_URL",
  hosts: ["api.anthropic.com"],
  keyVariable: "ANTHROPIC_API_KEY",
};
