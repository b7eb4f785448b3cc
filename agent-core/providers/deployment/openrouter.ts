import type { Deployment } from "./deployment.ts";

export const openrouter: Deployment = {
  name: "openrouter",
  mode: "chat_completions",
  baseUrl: "https://openrouter.ai/api/v1",
  hosts: ["openrouter.ai"],
  keyVariable: "OPENROUTER_API_KEY",
  defaultModel: "openrouter/auto",
};
