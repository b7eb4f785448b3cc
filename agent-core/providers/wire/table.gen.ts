// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Wire } from "./wire.ts";

export const table: Readonly<Record<string, () => Promise<Wire>>> = {
  anthropic_messages: async () => (await import("./anthropic-messages.ts")).wire,
  chat_completions: async () => (await import("./chat-completions.ts")).wire,
  codex_responses: async () => (await import("./codex-responses.ts")).wire,
  editor_model: async () => (await import("./editor-model.ts")).wire,
  offline: async () => (await import("./offline.ts")).wire,
};
