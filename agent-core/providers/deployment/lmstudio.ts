import type { Deployment } from "./deployment.ts";

export const lmstudio: Deployment = {
  name: "lmstudio",
  title: "LM Studio",
  mode: "chat_completions",
  baseUrl: "http://127.0.0.1:1234/v1",
  hosts: ["127.0.0.1:1234", "localhost:1234"],
};
