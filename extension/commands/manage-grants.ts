/** Lists the lasting permissions. The list stays open, so that several can be revoked. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesGrants, settingsMethods } from "../../agent-core/protocol/settings.ts";
import { showError } from "../notifications.ts";
import type { Services } from "../services.ts";

type Item = vscode.QuickPickItem & { readonly grantId?: string };

const REVOKE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("trash"),
  tooltip: vscode.l10n.t("Revoke: Hermes asks again"),
};
const LASTING = { session: vscode.l10n.t("This session"), always: vscode.l10n.t("Always") } as const;

export async function manageGrants({ sessions, worker, log }: Services): Promise<void> {
  await sessions.shown.open();
  const { sessionId } = sessions.shown;
  if (sessionId === undefined) return;
  const agent = await worker.agent();
  const list = vscode.window.createQuickPick<Item>();
  list.title = vscode.l10n.t("What Hermes May Do Without Asking");
  list.placeholder = vscode.l10n.t("Select the trash icon of an entry to revoke it");
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
      void showError(vscode.l10n.t("Hermes could not revoke the permission. {0}", String(error)));
    });
  });
  list.onDidHide(() => list.dispose());
  list.show();
  list.busy = true;
  await refresh();
  list.busy = false;
}

const NOTHING: Item = {
  label: vscode.l10n.t("No lasting permissions"),
  detail: vscode.l10n.t("Hermes asks each time it needs your approval."),
  alwaysShow: true,
};

function itemOf({ id, description, lasting }: HermesGrants["grants"][number]): Item {
  return { label: description, description: LASTING[lasting], buttons: [REVOKE], grantId: id };
}
