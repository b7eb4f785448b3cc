// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { ClientMethod } from "./client-method.ts";
import { clientMethod as elicitationCreate } from "./elicitation-create.ts";
import { clientMethod as fsRemove } from "./fs-remove.ts";
import { clientMethod as fsRename } from "./fs-rename.ts";
import { clientMethod as lmChat } from "./lm-chat.ts";
import { clientMethod as lmList } from "./lm-list.ts";
import { clientMethod as problemsSettled } from "./problems-settled.ts";
import { clientMethod as problemsWatch } from "./problems-watch.ts";
import { clientMethod as processChanged } from "./process-changed.ts";
import { clientMethod as putBack } from "./put-back.ts";
import { clientMethod as readTextFile } from "./read-text-file.ts";
import { clientMethod as requestPermission } from "./request-permission.ts";
import { clientMethod as sessionLists } from "./session-lists.ts";
import { clientMethod as sessionUpdate } from "./session-update.ts";
import { clientMethod as terminalCreate } from "./terminal-create.ts";
import { clientMethod as terminalInput } from "./terminal-input.ts";
import { clientMethod as terminalKill } from "./terminal-kill.ts";
import { clientMethod as terminalOutput } from "./terminal-output.ts";
import { clientMethod as terminalRelease } from "./terminal-release.ts";
import { clientMethod as terminalWaitForExit } from "./terminal-wait-for-exit.ts";
import { clientMethod as writeTextFile } from "./write-text-file.ts";

export const table: readonly ClientMethod[] = [elicitationCreate, fsRemove, fsRename, lmChat, lmList, problemsSettled, problemsWatch, processChanged, putBack, readTextFile, requestPermission, sessionLists, sessionUpdate, terminalCreate, terminalInput, terminalKill, terminalOutput, terminalRelease, terminalWaitForExit, writeTextFile];
