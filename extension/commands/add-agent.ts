/** Adds an agent to the setting `hermes.agents`: asks for its command and its name, and tests it before. */
import { basename } from "node:path";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { canRun, commandWords, findProgram } from "../../agent-core/platform/find-program.ts";
import type { AgentProgram } from "../agent/agent-process.ts";
import { AGENT_NAME } from "../agent/agents.ts";
import { showError, withProgress } from "../notifications.ts";
import type { Services } from "../services.ts";

const EXAMPLE = "my-agent --acp";

/** Rejects when the settings cannot be written. Resolves to false when the user cancels. */
export async function addAgent({ agents }: Pick<Services, "agents">): Promise<boolean> {
  for (let line = await askCommand(""); line !== undefined; line = await askCommand(line)) {
    const [command = "", ...args] = commandWords(line);
    const name = await askName(basename(command), new Set(agents.choices().map(({ program }) => program.name)));
    if (name === undefined) return false;
    const step = await tested(agents, { name, title: name, command, args, env: {} });
    if (step === undefined) return false;
    if (step === "add") {
      await save(name, { command, args });
      return true;
    }
  }
  return false;
}

function askCommand(value: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: Add an Agent (1/2)"),
    prompt: vscode.l10n.t("Command with its arguments. It speaks the Agent Client Protocol over its standard streams."),
    placeHolder: EXAMPLE,
    value,
    ignoreFocusOut: true,
    validateInput: (typed) => {
      const [command] = commandWords(typed);
      if (!command) return vscode.l10n.t("Enter a command, for example {0}", EXAMPLE);
      if (canRun(command) || findProgram(command) !== undefined) return undefined;
      const message = vscode.l10n.t("There is no program {0} on this machine.", command);
      return { message, severity: vscode.InputBoxValidationSeverity.Warning };
    },
  });
}

function askName(suggested: string, taken: ReadonlySet<string>): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: Add an Agent (2/2)"),
    prompt: vscode.l10n.t("Name of the agent in the list"),
    value: suggested.replaceAll(":", "-"),
    ignoreFocusOut: true,
    validateInput: (name) => {
      if (!AGENT_NAME.test(name)) return vscode.l10n.t("Enter a name without a colon.");
      return taken.has(name) ? vscode.l10n.t("There is an agent {0} already.", name) : undefined;
    },
  });
}

/** Starts the agent once. `change`: the user corrects the command. Undefined when the user cancels. */
async function tested(agents: Services["agents"], program: AgentProgram): Promise<"add" | "change" | undefined> {
  const starting = vscode.l10n.t("Hermes: starting {0}…", program.title);
  try {
    const isCancelled = await withProgress(starting, (signal) => agents.test(program, signal), true);
    return isCancelled ? undefined : "add";
  } catch (error) {
    const answers: readonly (vscode.MessageItem & { readonly step: "add" | "change" })[] = [
      { title: vscode.l10n.t("Change the Command"), step: "change" },
      { title: vscode.l10n.t("Add Anyway"), step: "add" },
    ];
    return (await showError(messageOf(error), ...answers))?.step;
  }
}

/** VS Code writes a setting of this scope to the settings of the machine that the agent runs on. */
async function save(name: string, program: { readonly command: string; readonly args: readonly string[] }) {
  const settings = vscode.workspace.getConfiguration("hermes");
  const agents = { ...settings.get<object>("agents"), [name]: program };
  await settings.update("agents", agents, vscode.ConfigurationTarget.Global);
}
