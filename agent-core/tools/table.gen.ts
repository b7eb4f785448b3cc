// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Tool } from "./tool.ts";

export const table: readonly Tool[] = [];
