/** Messages of the panel about sub-agents: stop, steer, and the conversation that is shown. */
import * as vscode from "vscode";
import { delegationMethods } from "../../../agent-core/protocol/delegation.ts";
import { call } from "../../../agent-core/protocol/method.ts";
import type { Services } from "../../services.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";
import { TaskConversation } from "../task-conversation.ts";
import { withErrorMessage } from "../with-error-message.ts";

type TaskActions = PanelActions<"task-stop" | "task-steer" | "task-open" | "task-refresh" | "task-earlier">;

export function taskActions({ worker }: Pick<Services, "worker">, panel: ChatPanel): TaskActions {
  const conversation = new TaskConversation({
    agent: () => worker.agent(),
    shown: () => panel.shown,
    post: (message) => panel.connection.taskEvents(message),
  });
  const sessionId = (): string => {
    const { sessionId: shown } = panel.shown;
    if (shown === undefined) throw new Error(vscode.l10n.t("no session is open"));
    return shown;
  };
  return {
    "task-stop": ({ callId, taskId }) =>
      withErrorMessage(vscode.l10n.t("The task cannot be stopped"), async () => {
        await call(await worker.agent(), delegationMethods.stop, { sessionId: sessionId(), callId, taskId });
      }),
    "task-steer": ({ callId, taskId, text }) =>
      withErrorMessage(vscode.l10n.t("The message cannot be sent to the task"), async () => {
        await call(await worker.agent(), delegationMethods.steer, { sessionId: sessionId(), callId, taskId, text });
      }),
    "task-open": ({ child }) => conversation.open(child),
    "task-refresh": ({ child }) => conversation.refresh(child),
    "task-earlier": ({ child, before }) => conversation.earlier(child, before),
  };
}
