/** Commands about worktrees: a window of its own for a session with a branch of its own, and the end of such a worktree. */
import * as vscode from "vscode";
import { pathBelow } from "../../agent-core/platform/paths.ts";
import { call } from "../../agent-core/protocol/method.ts";
import {
  type HermesWorktreeEnd,
  type HermesWorktreeState,
  worktreeMethods,
} from "../../agent-core/protocol/worktrees.ts";
import { folderPaths } from "../chat/build-sessions.ts";
import type { ChatSession } from "../chat/chat-session.ts";
import { showInformation, showWarning, withErrorMessage } from "../notifications.ts";
import type { Services } from "../services.ts";
import { conflictPrompt } from "./action-prompts.ts";

/** Makes a worktree of the window's repository, starts a session there, and shows it in the side bar. */
export async function newWorktree(services: Services): Promise<void> {
  const task = await vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: New Session in a Worktree"),
    prompt: vscode.l10n.t("The session works on it in a folder beside the repository, on a branch of its own."),
    placeHolder: vscode.l10n.t("Fix the flaky test"),
    ignoreFocusOut: true,
    validateInput: (typed) => (/[\p{L}\p{N}]/u.test(typed) ? undefined : vscode.l10n.t("Enter letters or digits")),
  });
  if (task === undefined) return;
  const session = services.sessions.withoutPanel();
  session.worktree.isWanted = true;
  start(services, session, task);
}

/** Opens a worktree of the repository in its window, or ends it. `folder`: in the worktree that it is about. */
export async function manageWorktrees(services: Services, folder?: unknown): Promise<void> {
  await withErrorMessage(vscode.l10n.t("The worktrees cannot be managed"), async () => {
    const agent = await services.worker.agent();
    const [cwd] = folderPaths();
    const { worktrees } = await call(agent, worktreeMethods.list, { cwd });
    const own = worktrees.find(({ path }) => typeof folder === "string" && pathBelow(path, folder) !== undefined);
    if (own !== undefined) return act(services, own);
    const items = worktrees.map((worktree) => {
      const { branch, path: detail, files, commits, uncommitted } = worktree;
      const description = vscode.l10n.t("Files: {0} · Commits: {1} · Not committed: {2}", files, commits, uncommitted);
      return { label: `$(git-branch) ${branch}`, description, detail, worktree };
    });
    const picked = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t("Hermes: Worktrees"),
      placeHolder:
        worktrees.length === 0
          ? vscode.l10n.t("There are none. New Session in a Worktree makes one.")
          : vscode.l10n.t("Choose a worktree to open or to end"),
    });
    if (picked !== undefined) await act(services, picked.worktree);
  });
}

type Step = vscode.QuickPickItem & { readonly end?: HermesWorktreeEnd };

async function act(services: Services, { path, branch, baseBranch }: HermesWorktreeState): Promise<void> {
  const into = baseBranch ?? vscode.l10n.t("the main folder");
  const steps: readonly Step[] = [
    { label: vscode.l10n.t("$(empty-window) Open in a New Window") },
    {
      label: vscode.l10n.t("$(git-merge) Merge into {0}", into),
      detail: vscode.l10n.t("Commits what is left, merges, and removes the worktree. Conflicts change nothing."),
      end: "merge",
    },
    {
      label: vscode.l10n.t("$(git-pull-request) Rebase onto {0} and Merge", into),
      detail: vscode.l10n.t("The same, with a straight history"),
      end: "rebase",
    },
    {
      label: vscode.l10n.t("$(git-branch) Keep the Branch"),
      detail: vscode.l10n.t("Commits what is left to {0}, and removes the worktree", branch),
      end: "branch",
    },
    {
      label: vscode.l10n.t("$(diff) Keep a Patch"),
      detail: vscode.l10n.t("Saves the changes as a patch, and removes worktree and branch"),
      end: "patch",
    },
    { label: vscode.l10n.t("$(trash) Discard"), detail: vscode.l10n.t("Deletes worktree and branch"), end: "discard" },
  ];
  const agent = await services.worker.agent();
  const preview = vscode.l10n.t("Changes of {0}", branch);
  await withErrorMessage(vscode.l10n.t("The changes cannot be shown"), async () => {
    const { files, total } = await call(agent, worktreeMethods.changes, { cwd: path });
    const part = vscode.l10n.t("{0}: {1} of {2} files", preview, files.length, total);
    const title = files.length === total ? preview : part;
    if (files.length > 0) await services.checkpoints.show(title, files, { areBefore: true });
  });
  // The preview can be read and scrolled below the list.
  const step = await vscode.window.showQuickPick(steps, { title: branch, ignoreFocusOut: true });
  if (step === undefined) return;
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(tabs.filter(({ label }) => label.startsWith(preview)));
  if (step.end === undefined) {
    await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(path), { forceNewWindow: true });
    return;
  }
  const discard = vscode.l10n.t("Discard");
  const question = vscode.l10n.t("Delete {0} and all of its changes for good?", branch);
  const decideAll = async (decision: "keep" | "undo"): Promise<void> => {
    const reviewed = services.review.documents.filter(({ fsPath }) => pathBelow(path, fsPath) !== undefined);
    for (const uri of reviewed) await services.review[decision](uri);
  };
  if (step.end === "discard" && (await showWarning(question, discard)) !== discard) return;
  // An edit that is undone later would be written into the folder again.
  if (step.end === "discard") await decideAll("undo");
  const { message, file, conflicts } = await call(agent, worktreeMethods.end, { cwd: path, end: step.end });
  if (conflicts !== undefined) {
    if ((await showWarning(message, RESOLVE)) === RESOLVE)
      start(services, services.sessions.withoutPanel(undefined, path), conflictPrompt(into, conflicts));
    return;
  }
  if (step.end !== "discard") await decideAll("keep");
  if (file !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(file));
  await showInformation(message);
}

const RESOLVE = vscode.l10n.t("Let a Session Resolve Them");

/** Sends the first message of a session, and shows it in the side bar. */
function start({ sessions, panels }: Services, session: ChatSession, text: string): void {
  session.prompt({ text }, { isTask: true });
  sessions.show(panels.sideBar, session);
  panels.sideBar.reveal();
}
