import type { Deployment } from "./deployment.ts";

/** Any other endpoint; its address comes from the user. */
export const custom: Deployment = { name: "custom", mode: "chat_completions", hosts: [] };
