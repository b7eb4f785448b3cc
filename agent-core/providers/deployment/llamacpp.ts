import type { Deployment } from "./deployment.ts";

export const llamacpp: Deployment = {
  name: "llamacpp",
  title: "llama.cpp",
  mode: "chat_completions",
  baseUrl: "http://127.0.0.1:8080/v1",
  hosts: ["127.0.0.1:8080", "localhost:8080"],
  // It serves the one model it was started with, whatever the request says.
  defaultModel: "default",
};
