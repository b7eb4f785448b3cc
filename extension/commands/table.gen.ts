// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Command } from "./command.ts";
import { command as askSelection } from "./ask-selection.ts";
import { command as chooseModel } from "./choose-model.ts";
import { command as chooseReasoningEffort } from "./choose-reasoning-effort.ts";
import { command as exportSession } from "./export-session.ts";
import { command as focusChat } from "./focus-chat.ts";
import { command as keepAll } from "./keep-all.ts";
import { command as keepChange } from "./keep-change.ts";
import { command as keepFile } from "./keep-file.ts";
import { command as keepHunk } from "./keep-hunk.ts";
import { command as newSession } from "./new-session.ts";
import { command as nextHunk } from "./next-hunk.ts";
import { command as openAllReviews } from "./open-all-reviews.ts";
import { command as openReview } from "./open-review.ts";
import { command as previousHunk } from "./previous-hunk.ts";
import { command as restartAgent } from "./restart-agent.ts";
import { command as resumeSession } from "./resume-session.ts";
import { command as setKey } from "./set-key.ts";
import { command as setUpModel } from "./set-up-model.ts";
import { command as showHistory } from "./show-history.ts";
import { command as showLog } from "./show-log.ts";
import { command as stop } from "./stop.ts";
import { command as undoAll } from "./undo-all.ts";
import { command as undoChange } from "./undo-change.ts";
import { command as undoFile } from "./undo-file.ts";
import { command as undoHunk } from "./undo-hunk.ts";

export const table: readonly Command[] = [askSelection, chooseModel, chooseReasoningEffort, exportSession, focusChat, keepAll, keepChange, keepFile, keepHunk, newSession, nextHunk, openAllReviews, openReview, previousHunk, restartAgent, resumeSession, setKey, setUpModel, showHistory, showLog, stop, undoAll, undoChange, undoFile, undoHunk];
