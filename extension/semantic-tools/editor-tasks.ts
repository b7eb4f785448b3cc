/** Tasks of the workspace as shell commands. VS Code does not hand out the output of a task that it runs itself. */
import { platform } from "node:process";
import * as vscode from "vscode";
import type { HermesTaskOfEditor } from "../../agent-core/protocol/editor.ts";

export async function listTasks(): Promise<readonly HermesTaskOfEditor[]> {
  const tasks = await vscode.tasks.fetchTasks();
  return tasks.map((task) => {
    const root = folderOf(task);
    return {
      name: task.source === "Workspace" ? task.name : `${task.source}: ${task.name}`,
      group: task.group?.id ?? "",
      command: hasDependencies(task) ? null : resolved(commandOf(task), root),
      folder:
        resolved(task.execution && "options" in task.execution ? task.execution.options?.cwd : undefined, root) ?? root,
      isBackground: task.isBackground,
    };
  });
}

function folderOf({ scope }: vscode.Task): string {
  const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.fsPath ?? "";
}

/** The types do not show the dependencies of a task of tasks.json. */
function hasDependencies({ name, source }: vscode.Task): boolean {
  if (source !== "Workspace") return false;
  const configured = vscode.workspace.getConfiguration("tasks").get<readonly Record<string, unknown>[]>("tasks", []);
  return configured.some((task) => task["label"] === name && task["dependsOn"] !== undefined);
}

function commandOf({ execution }: vscode.Task): string | undefined {
  if (execution instanceof vscode.ShellExecution) {
    const { commandLine, command, args = [], options } = execution;
    const line = commandLine ?? (command === undefined ? undefined : joined([command, ...args]));
    return line === undefined ? undefined : withVariables(line, options?.env);
  }
  if (execution instanceof vscode.ProcessExecution) {
    return withVariables(joined([execution.process, ...execution.args]), execution.options?.env);
  }
  return undefined;
}

function joined([command = "", ...args]: readonly (string | vscode.ShellQuotedString)[]): string {
  const plain = typeof command === "string" ? command : quoted(command.value);
  return [plain, ...args.map((arg) => quoted(typeof arg === "string" ? arg : arg.value))].join(" ");
}

function quoted(text: string): string {
  if (/^[\w./:=@%+,${}-]+$/.test(text)) return text;
  return platform === "win32" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}

function withVariables(line: string, variables: Readonly<Record<string, string>> = {}): string | undefined {
  const set = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}; `);
  if (set.length > 0 && platform === "win32") return undefined;
  return `${set.join("")}${line}`;
}

/** Variables that only VS Code resolves when it runs the task. */
const OTHERS =
  /\$\{(?:file|relativeFile|line|column|selected|env:|config:|input:|command:|userHome|execPath|default|pathSep|\/)/;

/** Null for a text with variables that only VS Code knows. */
function resolved(text: string | undefined, folder: string): string | null {
  const known = text?.replaceAll(/\$\{(?:workspaceFolder|workspaceRoot|cwd)\}/g, folder);
  return known === undefined || OTHERS.test(known) ? null : known;
}
