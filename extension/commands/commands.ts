/** The palette commands, by id. Each also needs its entry in package.json. */
import * as vscode from "vscode";
import { addTerminalToHermes, addToHermes, askSelection } from "../attachments/attach-files.ts";
import { answerAgent, decideAgent, showAgent, stopAgent } from "../chat/agents-view.ts";
import { openPlace } from "../chat/session-extensions.ts";
import { chooseModel, chooseReasoningEffort, setUpModel } from "../models/choose-model.ts";
import { enterKey } from "../models/enter-key.ts";
import { withErrorMessage } from "../notifications.ts";
import {
  decideChange,
  decideFile,
  decideHunk,
  openReview,
  revealHunk,
  toggleDiff,
  undoAll,
} from "../review/hunk-keys.ts";
import type { Services } from "../services.ts";
import { addServer } from "./add-server.ts";
import { connectEditor } from "./connect-editor.ts";
import {
  createPullRequest,
  documentCode,
  explainCode,
  explainHunk,
  reviewBranch,
  reviewChanges,
  writeTests,
} from "./editor-commands.ts";
import { explainProblem, fixProblem } from "./fix-problem.ts";
import { openMemory } from "./memory-files.ts";
import { openSettings } from "./open-settings.ts";
import { carryOutPlan } from "./plan-document.ts";
import { chooseAgent, exportShownSession, importSessions, manageGrants, showNewSession } from "./session-commands.ts";
import { showPanel } from "./show-panel.ts";
import { manageWorktrees, newWorktree } from "./worktree-commands.ts";
import { stopCommitMessage, writeCommitMessage } from "./write-commit-message.ts";

/** Arguments come from menus and code lenses. The palette passes none. */
type CommandTable = Readonly<Record<`hermes.${string}`, (services: Services, ...args: readonly unknown[]) => unknown>>;

export const commands: CommandTable = {
  // Panel and sessions
  "hermes.focusChat": (services) => showPanel(services, { kind: "compose" }),
  "hermes.newSession": showNewSession,
  "hermes.newSessionInTab": ({ tabs }) => tabs.openNew(),
  "hermes.openInTab": ({ tabs }) => tabs.open(undefined),
  "hermes.moveToSideBar": ({ tabs }) => tabs.moveToSideBar(),
  "hermes.showHistory": (services) => showPanel(services, { kind: "show-sessions" }, services.panels.sideBar),
  "hermes.showExtensions": (services) => showPanel(services, { kind: "show-extensions" }, services.panels.sideBar),
  "hermes.showLearnt": ({ learning }) => learning.show("learnt"),
  "hermes.showHealthReport": ({ learning }) => learning.show("report"),
  "hermes.learnNow": ({ learning }) => learning.learnNow(),
  "hermes.find": (services) => showPanel(services, { kind: "find" }),
  "hermes.showSession": showAgent,
  "hermes.stopSession": stopAgent,
  "hermes.answerSession": answerAgent,
  "hermes.keepSession": (services, row) => decideAgent(services, row, true),
  "hermes.undoSession": (services, row) => decideAgent(services, row, false),
  "hermes.exportSession": exportShownSession,
  "hermes.importSessions": importSessions,
  "hermes.newWorktree": newWorktree,
  "hermes.manageWorktrees": manageWorktrees,
  "hermes.stop": ({ sessions }) => sessions.shown.dispatch({ type: "cancel" }),

  // Code in the editor
  "hermes.askSelection": askSelection,
  "hermes.addToHermes": addToHermes,
  "hermes.addTerminalToHermes": addTerminalToHermes,
  "hermes.explainCode": explainCode,
  "hermes.writeTests": writeTests,
  "hermes.documentCode": documentCode,
  "hermes.fixProblem": fixProblem,
  "hermes.explainProblem": explainProblem,
  "hermes.carryOutPlan": carryOutPlan,
  "hermes.editInline": ({ inlineEdits }) => inlineEdits.start(),
  "hermes.sendInlineEdit": ({ inlineEdits }, reply) => inlineEdits.send(reply),
  "hermes.stopInlineEdit": ({ inlineEdits }, thread) => inlineEdits.sessionOf(thread)?.dispatch({ type: "cancel" }),
  "hermes.chooseInlineModel": (services, thread) => chooseModel(services, services.inlineEdits.sessionOf(thread)),
  "hermes.showInlineSession": (services, thread) =>
    showAgent(services, services.inlineEdits.sessionOf(thread)?.sessionId),

  // Source Control
  "hermes.reviewChanges": reviewChanges,
  "hermes.reviewBranch": reviewBranch,
  "hermes.createPullRequest": createPullRequest,
  "hermes.applySuggestion": ({ findings }, thread) => findings.apply(thread),
  "hermes.dismissFinding": ({ findings }, thread) => findings.dismiss(thread),
  "hermes.dismissFindings": ({ findings }) => findings.dismissAll(),
  "hermes.writeCommitMessage": writeCommitMessage,
  "hermes.stopCommitMessage": stopCommitMessage,

  // Model
  "hermes.chooseAgent": chooseAgent,
  "hermes.chooseModel": (services) => chooseModel(services),
  "hermes.chooseReasoningEffort": chooseReasoningEffort,
  "hermes.setKey": (services) => enterKey(services),
  "hermes.setUpModel": setUpModel,

  // Review
  "hermes.openReview": openReview,
  "hermes.openAllReviews": ({ opener }) => opener.openAll(),
  "hermes.keepHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "keep", args),
  "hermes.undoHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "undo", args),
  "hermes.toggleDiff": toggleDiff,
  "hermes.explainHunk": explainHunk,
  "hermes.keepChange": (services, ...args) => decideChange(services, "keep", args),
  "hermes.undoChange": (services, ...args) => decideChange(services, "undo", args),
  "hermes.keepFile": (services, ...args) => decideFile(services, "keep", args),
  "hermes.undoFile": (services, ...args) => decideFile(services, "undo", args),
  "hermes.keepAll": ({ review }) => review.keepAll(),
  "hermes.undoAll": undoAll,
  "hermes.nextHunk": ({ review, opener }, ...args) => revealHunk(review, opener, 1, args),
  "hermes.previousHunk": ({ review, opener }, ...args) => revealHunk(review, opener, -1, args),

  // Files, permissions and the agent
  "hermes.openMemory": ({ worker }) => openMemory(worker, "memory"),
  "hermes.openUserProfile": ({ worker }) => openMemory(worker, "user"),
  "hermes.openConfig": (services) =>
    withErrorMessage(vscode.l10n.t("config.yaml cannot be opened"), () =>
      openPlace(services, services.panels.active, "config"),
    ),
  "hermes.addServer": addServer,
  "hermes.openSkills": (services) =>
    withErrorMessage(vscode.l10n.t("The skills cannot be opened"), () =>
      openPlace(services, services.panels.active, "skills"),
    ),
  "hermes.manageGrants": manageGrants,
  "hermes.connectEditor": connectEditor,
  "hermes.restartAgent": ({ worker }) => worker.restart(),
  "hermes.openSettings": () => openSettings("@ext:hermes-agent.hermes-vscode"),
  "hermes.showLog": ({ log }) => log.show(true),
};
