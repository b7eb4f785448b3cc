/** Connects another editor to the agent of this extension: copies the settings, or adds them to the editor's file. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { withErrorMessage } from "../chat/with-error-message.ts";
import type { Services } from "../services.ts";
import { type AgentCommand, addAgent, type OtherEditor, otherEditors } from "./editor-settings.ts";

/** Oldest Node that the agent runs on. */
const OLDEST_NODE = 22;

const COPY = vscode.l10n.t("Copy Settings");
const ADD = vscode.l10n.t("Add to File");
const SET_UP = vscode.l10n.t("Set Up a Key");

export async function connectEditor({ launcher }: Services): Promise<void> {
  const items = otherEditors.map((editor) => ({ label: editor.name, detail: editor.place, editor }));
  const title = vscode.l10n.t("Connect Another Editor");
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: vscode.l10n.t("Editor that uses Hermes"),
  });
  if (chosen === undefined) return;
  await withErrorMessage(vscode.l10n.t("The editor was not connected"), async () => {
    await connect(chosen.editor, await agentCommand(await launcher.write()));
  });
}

async function connect(editor: OtherEditor, agent: AgentCommand): Promise<void> {
  // The other editor does not run on a remote machine.
  const isRemote = vscode.env.remoteName !== undefined;
  const file = isRemote ? undefined : editor.file?.({ home: homedir(), platform: process.platform, env: process.env });
  const settings = editor.settings(agent);
  const answer = await vscode.window.showInformationMessage(
    file === undefined ? vscode.l10n.t("Hermes in {0}", editor.name) : vscode.l10n.t("Add Hermes to {0}?", editor.name),
    { modal: true, detail: `${file === undefined ? editor.goal : vscode.l10n.t("For {0}:", file)}\n\n${settings}` },
    ...(file === undefined ? [COPY] : [ADD, COPY]),
  );
  if (answer === undefined) return;
  if (answer === ADD && file !== undefined) await addTo(file, agent);
  else await vscode.env.clipboard.writeText(settings);
  const done =
    answer === ADD && file !== undefined
      ? vscode.l10n.t("Hermes was added to {0}. Keys of VS Code stay in VS Code.", file)
      : vscode.l10n.t("The settings were copied. Keys of VS Code stay in VS Code.");
  const next = await vscode.window.showInformationMessage(done, SET_UP);
  if (next === SET_UP) setUpInTerminal(agent);
}

/** Asks for a provider and a key for all editors, and tests them. */
function setUpInTerminal({ command, args, env }: AgentCommand): void {
  const options = {
    name: vscode.l10n.t("Hermes Setup"),
    shellPath: command,
    shellArgs: [...args, "--setup"],
    env: { ...env },
  };
  vscode.window.createTerminal(options).show();
}

/** Adds the agent to a file, which other programs may have changed a moment ago: it is read right before the write. */
async function addTo(file: string, agent: AgentCommand): Promise<void> {
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const after = added(file, before, agent);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, after);
}

function added(file: string, text: string, agent: AgentCommand): string {
  try {
    return addAgent(text, agent);
  } catch (error) {
    throw new Error(vscode.l10n.t("{0} was not changed: {1}", file, (error as Error).message), { cause: error });
  }
}

/** Runs the launcher with the user's Node, else with the one inside VS Code. */
async function agentCommand(launcher: string): Promise<AgentCommand> {
  const home = vscode.workspace.getConfiguration("hermes").get("home", "");
  const env = home === "" ? {} : { HERMES_HOME: home };
  const node = await ownNode();
  if (node !== undefined) return { command: node, args: [launcher], env };
  const asNode = process.versions["electron"] === undefined ? {} : { ELECTRON_RUN_AS_NODE: "1" };
  return { command: process.execPath, args: [launcher], env: { ...env, ...asNode } };
}

/** Absolute path of the user's Node: editors that are not started from a shell do not have it on the PATH. */
async function ownNode(): Promise<string | undefined> {
  const script = "console.log(JSON.stringify([process.execPath, process.versions.node]))";
  try {
    const { stdout } = await promisify(execFile)("node", ["-e", script]);
    const [path, version] = JSON.parse(stdout) as [string, string]; // the script printed it
    return Number.parseInt(version, 10) >= OLDEST_NODE ? path : undefined;
  } catch {
    return undefined;
  }
}
