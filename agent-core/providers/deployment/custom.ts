import type { Deployment } from "./deployment.ts";

/** Any other endpoint; its address comes from the user. */
export const custom: Deployment = { name: "custom", title: "Other endpoint", mode: "chat_completions", hosts: [] };
