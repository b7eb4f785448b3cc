/** Messages of a panel about sessions: its own one, and all of them. */
import * as vscode from "vscode";
import { memoryMethods } from "../../../agent-core/protocol/memory.ts";
import { call } from "../../../agent-core/protocol/method.ts";
import { withEdited } from "../../commands/plan-document.ts";
import { acceptModel } from "../../models/first-run.ts";
import { withErrorMessage } from "../../notifications.ts";
import type { Requests } from "../../requests/requests.ts";
import type { Services } from "../../services.ts";
import type { EditorTabs } from "../editor-tabs.ts";
import { exportSession } from "../export-session.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";
import type { PromptContent } from "../prompt-queue.ts";
import type { SessionHistory } from "../session-history.ts";
import type { SessionRestores } from "../session-restores.ts";

type Parts = Pick<Services, "sessions" | "worker" | "panels" | "lastModel"> & {
  readonly panel: ChatPanel;
  readonly history: SessionHistory;
  readonly tabs: Pick<EditorTabs, "open">;
  readonly requests: Requests;
  readonly restores: SessionRestores;
};

export function sessionActions(parts: Parts) {
  return { ...conversationActions(parts), ...historyActions(parts) };
}

/** Messages about the session of the panel: prompts, queue, answers, options, earlier messages, restores. */
function conversationActions({ sessions, panels, panel, requests, restores, worker, lastModel }: Parts) {
  return {
    ready: () => {
      if (panels.facts.folder !== "open") return undefined;
      panel.shown.dispatch({ type: "queue-release" });
      return panel.shown.open();
    },
    prompt: async ({ type: _, now, inPlace, inMain, plan, ...sent }) => {
      if (!hasContent(sent)) return;
      if (inMain) panel.shown.leaveFolder();
      const content = plan === undefined ? sent : { ...sent, text: withEdited(plan, sent.text, panel.shown) };
      panel.shown.prompt(content, { now, isTask: inPlace !== true && !panel.shown.worktree.isCommand(content.text) });
      await acceptModel({ panels, lastModel }, panel.shown.option("model")?.currentValue);
    },
    draft: ({ type: _, ...content }) => panel.draftTaken(content),
    cancel: (message) => panel.shown.dispatch(message),
    resend: async ({ files, ...message }) => {
      if (!hasContent(message)) return;
      const { shown } = panel; // the panel may show another session once the files are restored
      await withErrorMessage(vscode.l10n.t("The files cannot be restored, and the message was not sent"), async () => {
        try {
          if (files) shown.worktree.check();
          const restored = files && (await restores.forResend(message.position));
          shown.dispatch({ ...message, ...(restored && { restored }) });
        } catch (error) {
          panel.giveDraft(message);
          throw error;
        }
      });
    },
    "fork-here": async ({ position, text, attachments = [] }) => {
      const { sessionId } = panel.shown;
      if (sessionId === undefined) return;
      await withErrorMessage(vscode.l10n.t("The session cannot be forked"), async () => {
        panel.command({ kind: "open-session", sessionId: await sessions.fork(sessionId, position) });
        panel.command({ kind: "compose", text, attachments });
      });
    },
    earlier: ({ before, all }) => panel.shown.earlier.show(before, all === true),
    "set-config": ({ configId, value }) => panel.shown.setConfig(configId, value),
    permission: ({ requestId, optionId, reason }) =>
      requests.answer(requestId, { kind: "option", optionId, ...(reason !== undefined && { reason }) }),
    "memory-undo": ({ callId }) =>
      withErrorMessage(vscode.l10n.t("The change of the memory cannot be undone"), async () => {
        const { sessionId, log } = panel.shown;
        if (sessionId === undefined) return;
        const { ok, message: text } = await call(await worker.agent(), memoryMethods.undo, { sessionId, callId });
        log.push({ kind: "notice", severity: ok ? "info" : "warning", text });
      }),
    answer: ({ requestId, text }) => requests.answer(requestId, { kind: "text", text }),
    "queue-remove": (message) => panel.shown.dispatch(message),
    "queue-hold": (message) => panel.shown.dispatch(message),
    "queue-edit": (message) => panel.shown.dispatch(message),
    "queue-move": (message) => panel.shown.dispatch(message),
    "queue-send": (message) => panel.shown.dispatch(message),
    "queue-interrupt": (message) => panel.shown.dispatch(message),
    restore: ({ position, files, conversation }) =>
      withErrorMessage(vscode.l10n.t("Nothing was restored"), () =>
        restores.restore(position, { files, conversation }),
      ),
    "restore-preview": ({ position, forResend }) =>
      forResend
        ? restores.preview(position, true).catch(() => undefined) // the message can be sent without it
        : withErrorMessage(vscode.l10n.t("The restore cannot be previewed"), () => restores.preview(position)),
    "restore-close": () => restores.close(),
    "restore-changes": ({ position }) =>
      withErrorMessage(vscode.l10n.t("The changes cannot be shown"), () => restores.showChanges(position)),
    "restore-undo": ({ restoreId }) =>
      withErrorMessage(vscode.l10n.t("The restore cannot be undone"), () => restores.undo(restoreId)),
  } satisfies Partial<PanelActions>;
}

function hasContent({ text, attachments = [] }: PromptContent): boolean {
  return text.trim() !== "" || attachments.length > 0;
}

/** Messages about sessions as a whole: list, open, rename, fork, export, delete. */
function historyActions({ sessions, panel, history, worker, tabs }: Parts) {
  return {
    "new-session": () => sessions.showNew(panel),
    "history-close": () => history.close(),
    "history-search": ({ type: _, ...wanted }) => history.search(wanted),
    "history-more": () => history.more(),
    "session-open": ({ sessionId }) => sessions.showStored(panel, sessionId),
    "session-open-tab": ({ sessionId }) => tabs.open(sessionId),
    "session-rename": ({ sessionId, title }) => history.rename(sessionId, title),
    "session-shelve": ({ sessionId, shelf }) => history.shelve(sessionId, shelf),
    "session-delete": ({ sessionId }) => history.remove(sessionId),
    "session-fork": ({ sessionId }) =>
      withErrorMessage(vscode.l10n.t("The session cannot be forked"), async () => {
        panel.command({ kind: "open-session", sessionId: await sessions.fork(sessionId) });
      }),
    "session-export": ({ sessionId }) =>
      withErrorMessage(vscode.l10n.t("The session cannot be exported"), () => exportSession(worker, sessionId)),
  } satisfies Partial<PanelActions>;
}
