/** Adds an MCP server by questions: its command, address or definition, its variables, and a test at once. */
import * as vscode from "vscode";
import { commandWords } from "../../agent-core/platform/find-program.ts";
import { extensionMethods } from "../../agent-core/protocol/extensions.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { showInformation, withErrorMessage } from "../notifications.ts";
import type { Services } from "../services.ts";
import { definitionsIn, type ServerDefinition } from "./server-definition.ts";

const TITLE = vscode.l10n.t("Hermes: Add MCP Server");

export async function addServer(services: Services): Promise<void> {
  await withErrorMessage(vscode.l10n.t("The MCP server was not added"), async () => {
    const definition = await chooseDefinition();
    const name = definition && (await ask(vscode.l10n.t("Name of the server"), definition.name));
    if (definition === undefined || !name) return;
    const variables = await askNeeds(definition);
    if (variables === undefined || !(await agrees(name, definition, Object.keys(variables)))) return;
    const { section } = definition;
    await call(await services.worker.agent(), extensionMethods.addServer, { name, section, variables });
    await test(services, name);
  });
}

/** Undefined when the user cancels; an empty value is left out. */
async function askNeeds({ needs }: ServerDefinition): Promise<Record<string, string> | undefined> {
  const variables: Record<string, string> = {};
  for (const { name, about, isSecret } of needs) {
    const value = await ask(about === "" ? name : `${name}: ${about}`, "", isSecret);
    if (value === undefined) return undefined;
    if (value !== "") variables[name] = value;
  }
  return variables;
}

type Choice = vscode.QuickPickItem & { readonly make: () => Promise<ServerDefinition | undefined> };

async function chooseDefinition(): Promise<ServerDefinition | undefined> {
  const choices: readonly Choice[] = [
    {
      label: `$(terminal) ${vscode.l10n.t("A Command")}`,
      make: async () => {
        const line = await ask(vscode.l10n.t("Command with its arguments"), "");
        const [command, ...args] = commandWords(line ?? "");
        if (command === undefined) return undefined;
        return withVariables({ name: nameIn(args, command), section: { command, args, env: {} }, needs: [] });
      },
    },
    {
      label: `$(globe) ${vscode.l10n.t("An Address")}`,
      make: async () => {
        const url = await ask(vscode.l10n.t("Address of the server"), "https://");
        if (!url || !URL.canParse(url)) return undefined;
        const needs = [{ name: "Authorization", about: vscode.l10n.t("Header, or empty to sign in"), isSecret: true }];
        return { name: new URL(url).hostname.split(".").at(-2) ?? "server", section: { url, headers: {} }, needs };
      },
    },
    {
      label: `$(clippy) ${vscode.l10n.t("The JSON in the Clipboard")}`,
      detail: vscode.l10n.t("server.json of the MCP registry, mcp.json of VS Code, or mcpServers of another agent"),
      make: async () => {
        const found = definitionsIn(await vscode.env.clipboard.readText());
        if (found.length === 0)
          throw new Error(vscode.l10n.t("The clipboard holds no definition of a server. Copy its JSON first."));
        const items = found.map((definition) => ({
          label: definition.name,
          description: lineOf(definition),
          definition,
        }));
        return (items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: TITLE }))?.definition;
      },
    },
  ];
  return (await vscode.window.showQuickPick(choices, { title: TITLE }))?.make();
}

/** Variables of a command line that the user typed: their names now, their values as for a definition. */
async function withVariables(definition: ServerDefinition): Promise<ServerDefinition | undefined> {
  const names = await ask(vscode.l10n.t("Names of its variables, such as API_TOKEN; empty for none"), "");
  const needs = names
    ?.split(/[\s,]+/)
    .filter((word) => word !== "")
    .map((name) => ({ name, about: "", isSecret: true }));
  return needs && { ...definition, needs };
}

/** Name of the package in a command line such as `npx -y @scope/server-files@1.2`. */
function nameIn(args: readonly string[], command: string): string {
  const word = args.find((one) => !one.startsWith("-")) ?? command;
  return (word.split("/").at(-1) ?? word).replace(/@.*$/, "").replace(/^(?:mcp-)?server-|\.\w+$/g, "");
}

function ask(prompt: string, value: string, password = false): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title: TITLE, prompt, value, password, ignoreFocusOut: true });
}

function lineOf({ section }: ServerDefinition): string {
  return "url" in section ? section.url : [section.command, ...section.args].join(" ");
}

/** Says what the server may do, before it runs for the first time. */
async function agrees(name: string, definition: ServerDefinition, variables: readonly string[]): Promise<boolean> {
  const add = vscode.l10n.t("Add and Test");
  const reach =
    "url" in definition.section
      ? vscode.l10n.t(
          "Hermes sends this address what the model passes to its tools. Each tool asks before its first use.",
        )
      : vscode.l10n.t(
          "The program runs on this machine with your rights, outside the sandbox. Each tool asks before its first use.",
        );
  const given = variables.length === 0 ? "" : `\n\n${vscode.l10n.t("It gets: {0}", variables.join(", "))}`;
  const detail = `${lineOf(definition)}\n\n${reach}${given}`;
  const question = vscode.l10n.t("Add the MCP server {0}?", name);
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, add)) === add;
}

/** Opens the shown session again, which starts the server, and shows the page with its state, its tools or its error. */
async function test({ sessions }: Services, name: string): Promise<void> {
  const { shown } = sessions;
  if (shown.isRunning) {
    await showInformation(vscode.l10n.t("Hermes: {0} is added. New sessions have it.", name));
    return;
  }
  shown.dispatch({ type: "agent-restarted" });
  await shown.open();
  await vscode.commands.executeCommand("hermes.showExtensions");
}
