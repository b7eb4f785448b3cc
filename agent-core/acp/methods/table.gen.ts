// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.
import type { Method } from "./method.ts";
import { method as authenticate } from "./authenticate.ts";
import { method as hermesCheckKey } from "./hermes-check-key.ts";
import { method as hermesFileSaved } from "./hermes-file-saved.ts";
import { method as hermesGrants } from "./hermes-grants.ts";
import { method as hermesLmChanged } from "./hermes-lm-changed.ts";
import { method as hermesLmDelta } from "./hermes-lm-delta.ts";
import { method as hermesModels } from "./hermes-models.ts";
import { method as hermesProviders } from "./hermes-providers.ts";
import { method as hermesSetEnvironment } from "./hermes-set-environment.ts";
import { method as hermesTrust } from "./hermes-trust.ts";
import { method as initialize } from "./initialize.ts";
import { method as sessionCancel } from "./session-cancel.ts";
import { method as sessionClose } from "./session-close.ts";
import { method as sessionDelete } from "./session-delete.ts";
import { method as sessionFork } from "./session-fork.ts";
import { method as sessionList } from "./session-list.ts";
import { method as sessionLoad } from "./session-load.ts";
import { method as sessionNew } from "./session-new.ts";
import { method as sessionPrompt } from "./session-prompt.ts";
import { method as sessionRestore } from "./session-restore.ts";
import { method as sessionResume } from "./session-resume.ts";
import { method as sessionRewind } from "./session-rewind.ts";
import { method as sessionSetConfigOption } from "./session-set-config-option.ts";
import { method as sessionSetMode } from "./session-set-mode.ts";
import { method as sessionSteer } from "./session-steer.ts";

export const table: readonly Method[] = [authenticate, hermesCheckKey, hermesFileSaved, hermesGrants, hermesLmChanged, hermesLmDelta, hermesModels, hermesProviders, hermesSetEnvironment, hermesTrust, initialize, sessionCancel, sessionClose, sessionDelete, sessionFork, sessionList, sessionLoad, sessionNew, sessionPrompt, sessionRestore, sessionResume, sessionRewind, sessionSetConfigOption, sessionSetMode, sessionSteer];
