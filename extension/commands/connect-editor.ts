/** Connects another editor to the agent of this extension: its settings, copied or added to the editor's file. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { applyEdits, type FormattingOptions, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { readText } from "../../agent-core/platform/text-file.ts";
import type { AgentProgram } from "../agent/agent-process.ts";
import { showInformation, withErrorMessage } from "../notifications.ts";
import type { Services } from "../services.ts";

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
  const next = await showInformation(done, SET_UP);
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
  const before = await readText(file).catch((error: NodeJS.ErrnoException) => {
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
    throw new Error(vscode.l10n.t("{0} was not changed: {1}", file, messageOf(error)), { cause: error });
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

export type AgentCommand = Pick<AgentProgram, "command" | "args" | "env">;

export type UserFolders = {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type OtherEditor = {
  readonly name: string;
  /** Place of the settings, for people. */
  readonly place: string;
  /** The place as the heading of settings that the user adds there. */
  readonly goal: string;
  readonly settings: (agent: AgentCommand) => string;
  /** File that takes the settings. Undefined for a file that is a program, which the user changes. */
  readonly file?: (folders: UserFolders) => string;
};

const NAME = "Hermes";

export const otherEditors: readonly OtherEditor[] = [
  {
    name: "Zed",
    place: vscode.l10n.t("settings.json of Zed"),
    goal: vscode.l10n.t("For the settings.json of Zed:"),
    settings: (agent) => addAgent("{}", agent),
    file: ({ home, platform, env }) =>
      platform === "win32"
        ? join(env["APPDATA"] ?? join(home, "AppData", "Roaming"), "Zed", "settings.json")
        : join((platform === "linux" && env["XDG_CONFIG_HOME"]) || join(home, ".config"), "zed", "settings.json"),
  },
  {
    name: "JetBrains",
    place: vscode.l10n.t("acp.json of JetBrains AI Assistant"),
    goal: vscode.l10n.t("For the acp.json of JetBrains AI Assistant:"),
    settings: (agent) => addAgent("{}", agent),
    file: ({ home }) => join(home, ".jetbrains", "acp.json"),
  },
  {
    name: "Neovim (CodeCompanion)",
    place: vscode.l10n.t("Lua configuration of Neovim"),
    goal: vscode.l10n.t("For the Lua configuration of Neovim:"),
    settings: codeCompanionSettings,
  },
  {
    name: "Emacs (agent-shell)",
    place: vscode.l10n.t("init file of Emacs"),
    goal: vscode.l10n.t("For the init file of Emacs:"),
    settings: agentShellSettings,
  },
];

/**
 * Adds the agent to a settings file of Zed or JetBrains, or replaces it there. Comments and other settings stay;
 * other agents may get other line breaks. Throws an Error in one line for a text that is not JSON with comments.
 */
export function addAgent(text: string, { command, args, env }: AgentCommand): string {
  const settings = text.trim() === "" ? "{}\n" : text;
  const errors: ParseError[] = [];
  const parsed: unknown = parse(settings, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = settings.slice(0, error.offset).split("\n").length;
    throw new Error(vscode.l10n.t("line {0} is not valid JSON ({1})", line, printParseErrorCode(error.error)));
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new Error(vscode.l10n.t("it holds no JSON object"));
  const entry = { type: "custom", command, args, env };
  const edits = modify(settings, ["agent_servers", NAME], entry, { formattingOptions: formattingOf(settings) });
  return applyEdits(settings, edits);
}

function formattingOf(text: string): FormattingOptions {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 4 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** Extends an adapter that signs in nowhere, as Hermes does. JSON strings are valid in Lua. */
function codeCompanionSettings({ command, args, env }: AgentCommand): string {
  const variables = Object.entries(env).map(([name, value]) => `          ${name} = ${JSON.stringify(value)},\n`);
  return `require("codecompanion").setup({
  adapters = {
    acp = {
      hermes = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "hermes",
          formatted_name = "${NAME}",
          commands = { default = { ${[command, ...args].map((part) => JSON.stringify(part)).join(", ")} } },
${variables.length === 0 ? "" : `          env = {\n  ${variables.join("  ")}          },\n`}        })
      end,
    },
  },
  interactions = { chat = { adapter = "hermes" } },
})
`;
}

/** JSON strings are valid in Emacs Lisp. */
function agentShellSettings({ command, args, env }: AgentCommand): string {
  const parameters = args.map((part) => JSON.stringify(part)).join(" ");
  const variables = Object.entries(env).map(([name, value]) => JSON.stringify(`${name}=${value}`));
  return `(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier 'hermes-vscode
    :mode-line-name "${NAME}"
    :buffer-name "${NAME}"
    :shell-prompt "${NAME}> "
    :shell-prompt-regexp "${NAME}> "
    :client-maker
    (lambda (buffer)
      (agent-shell--make-acp-client
       :command ${JSON.stringify(command)}
       :command-params '(${parameters})
       :environment-variables '(${variables.join(" ")})
       :context-buffer buffer)))))
`;
}
