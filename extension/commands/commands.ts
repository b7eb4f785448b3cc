/** The palette commands: sessions and the panel, models, review. Each also needs its entry in package.json. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelCommand } from "../../agent-core/protocol/panel-events.ts";
import { type HermesGrants, settingsMethods } from "../../agent-core/protocol/settings.ts";
import { exportSession } from "../chat/export-session.ts";
import { chooseModel } from "../models/choose-model.ts";
import { enterKey } from "../models/enter-key.ts";
import { hunkOfChange, reviewedDocument } from "../review/hunk-at.ts";
import { decideHunk, revealHunk } from "../review/hunk-keys.ts";
import type { Review } from "../review/review.ts";
import type { Services } from "../services.ts";
import { importSessions } from "./import-sessions.ts";
import { openMemory } from "./memory-files.ts";

/** The panel's view in package.json. */
export const CHAT_VIEW = "hermes.chat";

/** Arguments come from menus and code lenses. The palette passes none. */
type CommandTable = Readonly<Record<`hermes.${string}`, (services: Services, ...args: readonly unknown[]) => unknown>>;

const sessionCommands: CommandTable = {
  "hermes.newSession": (services) => {
    services.sessions.showNew(); // at once: a message that the user sends now belongs to it
    return showPanel(services, { kind: "new-session" });
  },
  "hermes.showHistory": (services) => showPanel(services, { kind: "show-sessions" }),
  "hermes.showExtensions": (services) => showPanel(services, { kind: "show-extensions" }),
  "hermes.focusChat": (services) => showPanel(services, { kind: "compose" }),
  "hermes.askSelection": askSelection,
  "hermes.resumeSession": resumeSession,
  "hermes.exportSession": ({ sessions, worker }) => {
    const { sessionId } = sessions.shown;
    if (sessionId !== undefined) return exportSession(worker, sessionId);
    return vscode.window.showInformationMessage("Hermes: there is no session to export yet.");
  },
  "hermes.importSessions": importSessions,
  "hermes.manageGrants": manageGrants,
  "hermes.openMemory": ({ worker }) => openMemory(worker, "memory"),
  "hermes.openUserProfile": ({ worker }) => openMemory(worker, "user"),
  "hermes.stop": ({ sessions }) => sessions.shown.dispatch({ type: "cancel" }),
};

async function showPanel({ panel }: Services, command: PanelCommand): Promise<void> {
  await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
  panel.command(command);
}

async function askSelection(services: Services): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  const { document, selection } = editor;
  const path = vscode.workspace.asRelativePath(document.uri);
  const lines = `${selection.start.line + 1}-${selection.end.line + 1}`;
  const code = document.getText(selection);
  const text = `About ${path}:${lines}\n\`\`\`${document.languageId}\n${code}\n\`\`\`\n`;
  await showPanel(services, { kind: "compose", text });
}

async function resumeSession(services: Services): Promise<void> {
  const items = services.history.recent().then((sessions) =>
    sessions.map(({ sessionId, title, updatedAt, isCurrent, messages }) => {
      const facts = [
        new Date(updatedAt).toLocaleString(),
        messages === undefined ? undefined : `${messages} messages`,
        isCurrent ? "in the panel" : undefined,
      ];
      return { sessionId, label: title, description: facts.filter((fact) => fact !== undefined).join(" · ") };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Resume Session",
    placeHolder: "Sessions of this folder, most recent first",
    matchOnDescription: true,
  });
  if (chosen !== undefined) await showPanel(services, { kind: "open-session", sessionId: chosen.sessionId });
}

const modelCommands: CommandTable = {
  "hermes.chooseModel": (services) => chooseModel(services),
  "hermes.chooseReasoningEffort": chooseReasoningEffort,
  "hermes.setKey": (services) => enterKey(services),
  "hermes.setUpModel": async ({ sessions, firstRun }) => {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    await sessions.shown.open();
    await firstRun.open();
  },
};

async function chooseReasoningEffort({ sessions }: Services): Promise<void> {
  const { shown: chat } = sessions;
  await chat.open();
  const option = chat.option("thought_level");
  if (option === undefined) {
    const model = chat.option("model")?.currentName ?? "This model";
    await vscode.window.showInformationMessage(`${model} has no reasoning effort to choose.`);
    return;
  }
  const items = option.choices.map(({ value, name }) => ({
    label: value === option.currentValue ? `$(check) ${name}` : name,
    value,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "Hermes: Reasoning Effort" });
  if (picked !== undefined) await chat.setConfig(option.id, picked.value);
}

const reviewCommands: CommandTable = {
  "hermes.keepHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "keep", args),
  "hermes.undoHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "undo", args),

  "hermes.keepChange": ({ review }, ...args) => {
    const place = hunkOfChange(review, args);
    if (place) review.keep(place.uri, place.hunk);
  },
  "hermes.undoChange": async ({ review }, ...args) => {
    const place = hunkOfChange(review, args);
    if (place) await review.undo(place.uri, place.hunk);
  },

  "hermes.keepFile": ({ review }, ...args) => {
    const uri = reviewedDocument(review, args);
    if (uri) review.keepFile(uri);
  },
  "hermes.undoFile": async ({ review }, ...args) => {
    const uri = reviewedDocument(review, args);
    if (uri) await review.undoFile(uri);
  },

  "hermes.keepAll": ({ review }) => review.keepAll(),
  "hermes.undoAll": ({ review }) => undoAll(review),

  "hermes.nextHunk": ({ review, opener }, ...args) => revealHunk(review, opener, 1, args),
  "hermes.previousHunk": ({ review, opener }, ...args) => revealHunk(review, opener, -1, args),

  "hermes.openReview": async ({ review, opener }, ...args) => {
    const uri = reviewedDocument(review, args) ?? review.documents[0];
    if (uri) await opener.openDiff(uri, false);
  },
  "hermes.openAllReviews": ({ opener }) => opener.openAll(),
};

const UNDO_ALL = "Undo All";

/** Asks once for several files. A single file, and each undo, can be redone from the panel. */
async function undoAll(review: Review): Promise<void> {
  const files = review.files.filter(({ isWaiting }) => !isWaiting).length;
  if (files > 1) {
    const detail = "Files that Hermes created are deleted. You can redo this from the chat panel.";
    const question = `Undo all edits of Hermes in ${files} files?`;
    const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, UNDO_ALL);
    if (answer !== UNDO_ALL) return;
  }
  await review.undoAll();
}

/** All commands of the extension, by id. */
export const commands: CommandTable = {
  ...sessionCommands,
  ...modelCommands,
  ...reviewCommands,
  "hermes.restartAgent": ({ worker }) => worker.restart(),
  "hermes.showLog": ({ log }) => log.show(true),
};

type Item = vscode.QuickPickItem & { readonly grantId?: string };

const REVOKE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("trash"),
  tooltip: "Revoke: Hermes asks again",
};
const LASTING = { session: "This session", always: "Always" } as const;

/** Lists the lasting permissions. The list stays open, so that several can be revoked. */
async function manageGrants({ sessions, worker, log }: Services): Promise<void> {
  await sessions.shown.open();
  const { sessionId } = sessions.shown;
  if (sessionId === undefined) return;
  const agent = await worker.agent();
  const list = vscode.window.createQuickPick<Item>();
  list.title = "What Hermes May Do Without Asking";
  list.placeholder = "Select the trash icon of an entry to revoke it";
  const refresh = async (): Promise<void> => {
    const { grants } = await call(agent, settingsMethods.grants, { sessionId });
    list.items = grants.length === 0 ? [NOTHING] : grants.map(itemOf);
  };
  const revoke = async (id: string): Promise<void> => {
    await call(agent, settingsMethods.revokeGrant, { sessionId, id });
    await refresh();
  };
  list.onDidTriggerItemButton(({ item }) => {
    if (item.grantId === undefined) return;
    revoke(item.grantId).catch((error: unknown) => {
      log.error(String(error));
      vscode.window.showErrorMessage(`Hermes could not revoke the permission. ${String(error)}`);
    });
  });
  list.onDidHide(() => list.dispose());
  list.show();
  list.busy = true;
  await refresh();
  list.busy = false;
}

const NOTHING: Item = {
  label: "No lasting permissions",
  detail: "Hermes asks each time it needs your approval.",
  alwaysShow: true,
};

function itemOf({ id, description, lasting }: HermesGrants["grants"][number]): Item {
  return { label: description, description: LASTING[lasting], buttons: [REVOKE], grantId: id };
}
