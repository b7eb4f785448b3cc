// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Wire } from "./wire.ts";
import { wire as anthropicMessages } from "./anthropic-messages.ts";
import { wire as chatCompletions } from "./chat-completions.ts";
import { wire as codexResponses } from "./codex-responses.ts";
import { wire as editorModel } from "./editor-model.ts";
import { wire as offline } from "./offline.ts";

export const table: readonly Wire[] = [anthropicMessages, chatCompletions, codexResponses, editorModel, offline];
