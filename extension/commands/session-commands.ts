/** Commands about sessions: new, resume, export and import; the agent of the next one, and the grants of the shown one. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesImport, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { type HermesGrants, settingsMethods } from "../../agent-core/protocol/settings.ts";
import type { AgentChoice } from "../agent/agents.ts";
import { exportSession } from "../chat/export-session.ts";
import { showError, showInformation, withErrorMessage, withProgress } from "../notifications.ts";
import type { Services } from "../services.ts";
import { addAgent } from "./add-agent.ts";
import { openSettings } from "./open-settings.ts";
import { showPanel } from "./show-panel.ts";

export function showNewSession(services: Services): Promise<void> {
  const { sideBar } = services.panels;
  services.sessions.showNew(sideBar); // at once: a message that the user sends now belongs to it
  return showPanel(services, { kind: "new-session" }, sideBar);
}

export async function exportShownSession({ sessions, worker }: Services): Promise<void> {
  const { sessionId } = sessions.shown;
  if (sessionId !== undefined) return exportSession(worker, sessionId);
  await showInformation(vscode.l10n.t("Hermes: there is no session to export yet."));
}

const HOME = {
  label: vscode.l10n.t("Hermes' home"),
  description: vscode.l10n.t("state.db in HERMES_HOME, or in ~/.hermes"),
};
const ANOTHER = {
  label: vscode.l10n.t("Another state.db…"),
  description: vscode.l10n.t("From another home, or a copy"),
};

const SHOW = vscode.l10n.t("Show Sessions");

/** Imports the sessions of an original Hermes home, with progress, and offers to show them. */
export async function importSessions(services: Services): Promise<void> {
  const source = await vscode.window.showQuickPick([HOME, ANOTHER], {
    title: vscode.l10n.t("Import Sessions"),
    placeHolder: vscode.l10n.t("Reads the sessions of the original Hermes Agent without changing them"),
  });
  if (source === undefined) return;
  const file = source === HOME ? undefined : await chooseFile();
  if (source === ANOTHER && file === undefined) return;
  await withErrorMessage(vscode.l10n.t("Nothing was imported"), () =>
    runImport(services, file === undefined ? {} : { path: file }),
  );
}

async function chooseFile(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("Import Sessions"),
    openLabel: vscode.l10n.t("Import"),
    filters: { [vscode.l10n.t("Hermes sessions")]: ["db"], [vscode.l10n.t("All files")]: ["*"] },
  });
  return chosen?.[0]?.fsPath;
}

async function runImport(services: Services, request: HermesImport): Promise<void> {
  const { worker, sessionListChanges } = services;
  const agent = await worker.agent();
  const { summary } = await withProgress(
    vscode.l10n.t("Hermes is importing sessions"),
    (signal, progress) => {
      const listener = sessionListChanges.onDidImport(({ done, total }) =>
        progress.report({ message: vscode.l10n.t("{0} of {1}", done, total) }),
      );
      const imported = call(agent, sessionMethods.import, request, { cancellationSignal: signal });
      return imported.finally(() => listener.dispose());
    },
    true,
  );
  if ((await showInformation(summary, SHOW)) === SHOW) await vscode.commands.executeCommand("hermes.showHistory");
}

type AgentItem = vscode.QuickPickItem & { run?(): unknown };

/** Starts a session with the chosen agent. Later new sessions have the same one. */
export async function chooseAgent(services: Services): Promise<void> {
  const picked = await vscode.window.showQuickPick(agentItems(services), {
    title: vscode.l10n.t("Hermes: Choose Agent"),
    placeHolder: vscode.l10n.t("Agent of the next session"),
    matchOnDescription: true,
  });
  await picked?.run?.();
}

function agentItems(services: Services): readonly AgentItem[] {
  const { agents, sessions, panels } = services;
  const shown = sessions.shown.agent.name;
  const start = (name: string | undefined) => (): Promise<void> => {
    agents.choose(name);
    return showNewSession(services);
  };
  const hermes = {
    label: `${mark(shown === undefined)}Hermes`,
    description: vscode.l10n.t("built in"),
    run: start(undefined),
  };
  const own = panels.facts.extensions.find(({ sessionId }) => sessionId === sessions.shown.sessionId)?.items ?? [];
  const roles = own
    .filter(({ kind, state }) => kind === "agent" && state === "on")
    .map(({ name, detail }) => ({
      label: `$(robot) @${name}`,
      description: detail,
      run: () => showPanel(services, { kind: "compose", text: `@${name} ` }),
    }));
  const add = {
    label: `$(add) ${vscode.l10n.t("Add an Agent…")}`,
    description: vscode.l10n.t("any command that speaks the Agent Client Protocol"),
    run: () =>
      withErrorMessage(vscode.l10n.t("The agent cannot be added"), async () => {
        if (await addAgent(services)) await chooseAgent(services);
      }),
  };
  const settings = {
    label: `$(gear) ${vscode.l10n.t("Edit the Agents in the Settings")}`,
    run: () => openSettings("hermes.agents"),
  };
  try {
    const others = agents.choices();
    const there = others.filter(({ isInstalled }) => isInstalled).map((choice) => ready(choice, shown, start));
    const missing = others.filter(({ isInstalled }) => !isInstalled).map(installable);
    return [
      hermes,
      ...section(vscode.l10n.t("Custom agents of this folder and the home"), roles),
      ...section(vscode.l10n.t("Other agents"), there),
      ...section(vscode.l10n.t("Not installed"), missing),
      ...section("", [add, settings]),
    ];
  } catch (error) {
    return [
      hermes,
      {
        label: `$(error) ${vscode.l10n.t("The list of agents cannot be read")}`,
        detail: messageOf(error),
        run: settings.run,
      },
    ];
  }
}

function ready({ program }: AgentChoice, shown: string | undefined, start: (name: string) => () => unknown): AgentItem {
  const { name, title, command, args } = program;
  return { label: `${mark(name === shown)}${title}`, description: [command, ...args].join(" "), run: start(name) };
}

/** Opens a terminal with the command; the user runs it. */
function installable({ program: { title, install = "" } }: AgentChoice): AgentItem {
  const run = (): void => {
    const terminal = vscode.window.createTerminal(vscode.l10n.t("Install {0}", title));
    terminal.show();
    terminal.sendText(install, false);
  };
  return { label: `$(cloud-download) ${title}…`, description: install, run };
}

function section(label: string, items: readonly AgentItem[]): readonly AgentItem[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function mark(isShown: boolean): string {
  return isShown ? "$(check) " : "";
}

type GrantItem = vscode.QuickPickItem & { readonly grantId?: string };

const REVOKE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("trash"),
  tooltip: vscode.l10n.t("Revoke: Hermes asks again"),
};
const SETTINGS: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("gear"),
  tooltip: vscode.l10n.t("Edit the List in the Settings"),
};
const LASTING = { session: vscode.l10n.t("This session"), always: vscode.l10n.t("Always") } as const;

/** Lists the lasting permissions. The list stays open, so that several can be revoked. */
export async function manageGrants({ sessions, worker, log }: Services): Promise<void> {
  await sessions.shown.open();
  const { sessionId } = sessions.shown;
  if (sessionId === undefined) return;
  const agent = await worker.agent();
  const list = vscode.window.createQuickPick<GrantItem>();
  list.title = vscode.l10n.t("What Hermes May Do Without Asking");
  list.placeholder = vscode.l10n.t("Select the trash icon of an entry to revoke it");
  const refresh = async (): Promise<void> => {
    const { grants } = await call(agent, settingsMethods.grants, { sessionId });
    list.items = grants.length === 0 ? [NO_GRANTS] : grants.map(grantItem);
  };
  const revoke = async (id: string): Promise<void> => {
    await call(agent, settingsMethods.revokeGrant, { sessionId, id });
    await refresh();
  };
  list.buttons = [SETTINGS];
  list.onDidTriggerButton(() => {
    list.hide();
    void vscode.commands.executeCommand("workbench.action.openSettings", "hermes.commands.allow");
  });
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

const NO_GRANTS: GrantItem = {
  label: vscode.l10n.t("No lasting permissions"),
  detail: vscode.l10n.t("Hermes asks each time it needs your approval."),
  alwaysShow: true,
};

function grantItem({ id, description, lasting }: HermesGrants["grants"][number]): GrantItem {
  return { label: description, description: LASTING[lasting], buttons: [REVOKE], grantId: id };
}
