import type { Deployment } from "./deployment.ts";

export const openrouter: Deployment = {
  name: "openrouter",
  title: "OpenRouter",
  mode: "chat_completions",
  baseUrl: "https://openrouter.ai/api/v1",
  hosts: ["openrouter.ai"],
  keyVariable: "OPENROUTER_API_KEY",
  defaultModel: "openrouter/auto",
  keyPage: "https://openrouter.ai/settings/keys",
  // Its list of models is public, and says nothing about a key.
  keyCheckPath: "/key",
  knownModels: [
    "openrouter/auto",
    "anthropic/claude-sonnet-5.5",
    "anthropic/claude-opus-5.5",
    "openai/gpt-5.4",
    "openai/gpt-4.1",
    "google/gemini-2.5-pro",
    "x-ai/grok-code-fast-1",
    "deepseek/deepseek-chat",
    "moonshotai/kimi-k2",
    "qwen/qwen3-coder",
  ],
};
