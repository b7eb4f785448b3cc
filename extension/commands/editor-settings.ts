/** Settings with which other editors start this agent. */
import { join } from "node:path";
import { applyEdits, type FormattingOptions, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import * as vscode from "vscode";

/** Command line of the agent. */
export type AgentCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** Folders of the user on this machine. */
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
    throw new Error(vscode.l10n.t("line {0} is no valid JSON ({1})", line, printParseErrorCode(error.error)));
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
