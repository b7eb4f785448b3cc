import type { Deployment } from "./deployment.ts";

export const ollama: Deployment = {
  name: "ollama",
  title: "Ollama",
  mode: "chat_completions",
  baseUrl: "http://127.0.0.1:11434/v1",
  hosts: ["127.0.0.1:11434", "localhost:11434"],
};
