import type { Deployment } from "./deployment.ts";

export const openai: Deployment = {
  name: "openai",
  title: "OpenAI",
  mode: "chat_completions",
  baseUrl: "https://api.openai.com/v1",
  urlVariable: "OPENAI_BASE_URL",
  hosts: ["api.openai.com"],
  keyVariable: "OPENAI_API_KEY",
  // Streams without a verified organisation, which its successors ask for.
  defaultModel: "gpt-4.1",
  // Its reasoning models refuse max_tokens; the others take either.
  quirks: { maxTokensField: "max_completion_tokens", refusesUnknownFields: true },
  keyPage: "https://platform.openai.com/api-keys",
  // In the library's list of models (`ChatModel`).
  knownModels: [
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-5.4",
    "gpt-5.4-mini",
    "o4-mini",
  ],
};
