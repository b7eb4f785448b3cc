import type { Deployment } from "./deployment.ts";

/** The editor's own models, with whatever account the user has there; its default comes from what it offers. */
export const editor: Deployment = { name: "editor", title: "VS Code", mode: "editor_model", hosts: [] };
