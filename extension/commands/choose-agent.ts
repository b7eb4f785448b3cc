/** Lets the user choose the agent of the next session. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { AgentChoice } from "../agent/agents.ts";
import type { Services } from "../services.ts";
import { showNewSession } from "./session-commands.ts";

type Item = vscode.QuickPickItem & { run?(): unknown };

/** Starts a session with the chosen agent. Later new sessions have the same one. */
export async function chooseAgent(services: Services): Promise<void> {
  const picked = await vscode.window.showQuickPick(itemsOf(services), {
    title: vscode.l10n.t("Hermes: Choose Agent"),
    placeHolder: vscode.l10n.t("Agent of the next session"),
    matchOnDescription: true,
  });
  await picked?.run?.();
}

function itemsOf(services: Services): readonly Item[] {
  const { agents, sessions } = services;
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
  const settings = {
    label: `$(gear) ${vscode.l10n.t("Add an Agent…")}`,
    description: vscode.l10n.t("name, command, arguments and environment, in the settings"),
    run: () => vscode.commands.executeCommand("workbench.action.openSettings", "hermes.agents"),
  };
  try {
    const others = agents.choices();
    const there = others.filter(({ isInstalled }) => isInstalled).map((choice) => ready(choice, shown, start));
    const missing = others.filter(({ isInstalled }) => !isInstalled).map(installable);
    return [
      hermes,
      ...section(vscode.l10n.t("Other agents"), there),
      ...section(vscode.l10n.t("Not installed"), missing),
      ...section("", [settings]),
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

function ready({ program }: AgentChoice, shown: string | undefined, start: (name: string) => () => unknown): Item {
  const { name, title, command, args } = program;
  return { label: `${mark(name === shown)}${title}`, description: [command, ...args].join(" "), run: start(name) };
}

/** Opens a terminal with the command; the user runs it. */
function installable({ program: { title, install = "" } }: AgentChoice): Item {
  const run = (): void => {
    const terminal = vscode.window.createTerminal(vscode.l10n.t("Install {0}", title));
    terminal.show();
    terminal.sendText(install, false);
  };
  return { label: `$(cloud-download) ${title}…`, description: install, run };
}

function section(label: string, items: readonly Item[]): readonly Item[] {
  return items.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator }, ...items];
}

function mark(isShown: boolean): string {
  return isShown ? "$(check) " : "";
}
