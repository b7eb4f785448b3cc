// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { ClientMethod } from "./client-method.ts";
import { clientMethod as fsRemove } from "./fs-remove.ts";
import { clientMethod as fsRename } from "./fs-rename.ts";
import { clientMethod as putBack } from "./put-back.ts";
import { clientMethod as readTextFile } from "./read-text-file.ts";
import { clientMethod as writeTextFile } from "./write-text-file.ts";

export const table: readonly ClientMethod[] = [fsRemove, fsRename, putBack, readTextFile, writeTextFile];
