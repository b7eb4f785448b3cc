// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Command } from "./command.ts";
import { command as checkpoint } from "./checkpoint.ts";
import { command as compress } from "./compress.ts";
import { command as exportSession } from "./export-session.ts";
import { command as grants } from "./grants.ts";
import { command as help } from "./help.ts";
import { command as importSessions } from "./import-sessions.ts";
import { command as mode } from "./mode.ts";
import { command as model } from "./model.ts";
import { command as newSession } from "./new-session.ts";
import { command as resume } from "./resume.ts";
import { command as retry } from "./retry.ts";
import { command as title } from "./title.ts";
import { command as tools } from "./tools.ts";
import { command as undo } from "./undo.ts";
import { command as usage } from "./usage.ts";

export const table: readonly Command[] = [checkpoint, compress, exportSession, grants, help, importSessions, mode, model, newSession, resume, retry, title, tools, undo, usage];
