/** Lists the lasting permissions. The list stays open, so that several can be revoked. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesGrants, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { Services } from "../services.ts";

type Item = vscode.QuickPickItem & { readonly grantId?: string };

const REVOKE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("trash"),
  tooltip: "Revoke: Hermes asks again",
};
const LASTING = { session: "This session", always: "Always" } as const;

export async function manageGrants({ sessions, worker, log }: Services): Promise<void> {
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
