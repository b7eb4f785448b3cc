/** The palette commands, by id. Each also needs its entry in package.json. */
import { chooseModel } from "../models/choose-model.ts";
import { enterKey } from "../models/enter-key.ts";
import { decideHunk, revealHunk } from "../review/hunk-keys.ts";
import type { Services } from "../services.ts";
import { stopCommitMessage, writeCommitMessage } from "./commit-message.ts";
import { askSelection } from "./editor-commands.ts";
import { importSessions } from "./import-sessions.ts";
import { manageGrants } from "./manage-grants.ts";
import { openMemory } from "./memory-files.ts";
import { chooseReasoningEffort, setUpModel } from "./model-commands.ts";
import { keepChange, keepFile, openReview, undoAll, undoChange, undoFile } from "./review-commands.ts";
import { exportShownSession, resumeSession, showNewSession } from "./session-commands.ts";
import { showPanel } from "./show-panel.ts";

/** Arguments come from menus and code lenses. The palette passes none. */
type CommandTable = Readonly<Record<`hermes.${string}`, (services: Services, ...args: readonly unknown[]) => unknown>>;

export const commands: CommandTable = {
  // Panel and sessions
  "hermes.focusChat": (services) => showPanel(services, { kind: "compose" }),
  "hermes.newSession": showNewSession,
  "hermes.showHistory": (services) => showPanel(services, { kind: "show-sessions" }),
  "hermes.showExtensions": (services) => showPanel(services, { kind: "show-extensions" }),
  "hermes.resumeSession": resumeSession,
  "hermes.exportSession": exportShownSession,
  "hermes.importSessions": importSessions,
  "hermes.stop": ({ sessions }) => sessions.shown.dispatch({ type: "cancel" }),

  // Code in the editor
  "hermes.askSelection": askSelection,

  // Source Control
  "hermes.writeCommitMessage": writeCommitMessage,
  "hermes.stopCommitMessage": stopCommitMessage,

  // Model
  "hermes.chooseModel": (services) => chooseModel(services),
  "hermes.chooseReasoningEffort": chooseReasoningEffort,
  "hermes.setKey": (services) => enterKey(services),
  "hermes.setUpModel": setUpModel,

  // Review
  "hermes.openReview": openReview,
  "hermes.openAllReviews": ({ opener }) => opener.openAll(),
  "hermes.keepHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "keep", args),
  "hermes.undoHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "undo", args),
  "hermes.keepChange": keepChange,
  "hermes.undoChange": undoChange,
  "hermes.keepFile": keepFile,
  "hermes.undoFile": undoFile,
  "hermes.keepAll": ({ review }) => review.keepAll(),
  "hermes.undoAll": undoAll,
  "hermes.nextHunk": ({ review, opener }, ...args) => revealHunk(review, opener, 1, args),
  "hermes.previousHunk": ({ review, opener }, ...args) => revealHunk(review, opener, -1, args),

  // Files, permissions and the agent
  "hermes.openMemory": ({ worker }) => openMemory(worker, "memory"),
  "hermes.openUserProfile": ({ worker }) => openMemory(worker, "user"),
  "hermes.manageGrants": manageGrants,
  "hermes.restartAgent": ({ worker }) => worker.restart(),
  "hermes.showLog": ({ log }) => log.show(true),
};
