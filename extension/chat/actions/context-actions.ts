/** Messages of the panel about attachments: the search after `@`, drops, the dialog for files, the suggestion. */
import * as vscode from "vscode";
import { type AttachedFiles, attachFiles } from "../../context/attach-files.ts";
import type { Services } from "../../services.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";
import { withErrorMessage } from "../with-error-message.ts";

type ContextActions = PanelActions<"mention-search" | "attach-dropped" | "attach-pick" | "attach-suggested">;

export function contextActions(
  { mentions, suggestion }: Pick<Services, "mentions" | "suggestion">,
  panel: ChatPanel,
): ContextActions {
  const { connection } = panel;
  const attach = ({ attachments, refused }: AttachedFiles): void => {
    if (attachments.length > 0) connection.command({ kind: "attach", attachments });
    for (const text of refused) panel.shown.log.push({ kind: "notice", severity: "warning", text });
  };
  return {
    "mention-search": ({ id, query }) => mentions.search(connection, id, query),
    "attach-dropped": async ({ uris }) => attach(await attachFiles(uris.flatMap(parsed), { within: true })),
    "attach-pick": () =>
      withErrorMessage("The files cannot be attached", async () => {
        const [folder] = vscode.workspace.workspaceFolders ?? [];
        const picked = await vscode.window.showOpenDialog({
          canSelectMany: true,
          openLabel: "Attach",
          title: "Attach Files",
          ...(folder && { defaultUri: folder.uri }),
        });
        if (picked !== undefined) attach(await attachFiles(picked, { within: false }));
      }),
    "attach-suggested": ({ on }) => suggestion.switch(on),
  };
}

/** Nothing for a text that is no address. */
function parsed(text: string): readonly vscode.Uri[] {
  try {
    return [vscode.Uri.parse(text, true)];
  } catch {
    return [];
  }
}
