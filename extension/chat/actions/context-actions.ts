/** Messages of the panel about context: the model's window, the search after `@`, drops, picked files, the suggestion. */
import * as vscode from "vscode";
import { messageOf } from "../../../agent-core/platform/errors.ts";
import { call } from "../../../agent-core/protocol/method.ts";
import { sessionMethods } from "../../../agent-core/protocol/sessions.ts";
import { type AttachedFiles, attachFiles, draggedUri } from "../../attachments/attach-files.ts";
import { withErrorMessage } from "../../notifications.ts";
import type { Services } from "../../services.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";

export function contextActions(
  { mentions, suggestion }: Pick<Services, "mentions" | "suggestion">,
  panel: ChatPanel,
  webview: vscode.Webview,
) {
  const draggedUris = (texts: readonly string[]): vscode.Uri[] =>
    texts.map((text) => draggedUri(text, webview)).filter((uri) => uri !== undefined);
  const attach = ({ attachments, refused }: AttachedFiles): void => {
    panel.command({ kind: "compose", attachments: [...attachments], refused: [...refused] });
  };
  return {
    "context-show": async () => {
      const { sessionId, agent } = panel.shown;
      if (sessionId === undefined || !agent.offers.hermes) return;
      const contents = agent.agent().then((client) => call(client, sessionMethods.context, { sessionId }));
      const context = await contents.catch((error: unknown) => ({ problem: messageOf(error) }));
      panel.post({ type: "context", sessionId, context });
    },
    "mention-search": ({ id, query }) => mentions.search(panel, id, query),
    "attach-dropped": async ({ uris }) => attach(await attachFiles(draggedUris(uris), { within: true })),
    "attach-pick": () =>
      withErrorMessage(vscode.l10n.t("The files cannot be attached"), async () => {
        const [folder] = vscode.workspace.workspaceFolders ?? [];
        const picked = await vscode.window.showOpenDialog({
          canSelectMany: true,
          openLabel: vscode.l10n.t("Attach"),
          title: vscode.l10n.t("Attach Files"),
          ...(folder && { defaultUri: folder.uri }),
        });
        if (picked !== undefined) attach(await attachFiles(picked, { within: false }));
      }),
    "attach-suggested": ({ on }) => suggestion.switch(on),
  } satisfies Partial<PanelActions>;
}
