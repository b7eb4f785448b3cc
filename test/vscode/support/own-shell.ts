// Commands of the agent in the user's own shell: starting them, and the shell that a user has chosen in VS Code.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import type { CommandVariables } from "../../../agent-core/host/terminals/backend.ts";
import type { CommandRequest, RunningCommand } from "../../../agent-core/host/terminals/terminals.ts";
import { type AgentSide, connectAgentSide, unreviewed, workspaceFolder } from "./agent-side.ts";

export type StartedCommand = { readonly running: RunningCommand; readonly file: string };

/** The agent's side while `hermes.terminal.runIn` says `shell`. */
export class OwnShell {
  readonly side: AgentSide;
  readonly spill = join(workspaceFolder(), ".own-terminal-suite");
  #count = 0;

  static async open(variables?: CommandVariables): Promise<OwnShell> {
    await setting("hermes", "terminal.runIn", "shell");
    return new OwnShell(await connectAgentSide(unreviewed, variables));
  }

  private constructor(side: AgentSide) {
    this.side = side;
  }

  async close(): Promise<void> {
    await this.side.terminals.endAll();
    await this.side.dispose();
    await setting("hermes", "terminal.runIn", undefined);
    rmSync(this.spill, { recursive: true, force: true });
  }

  async start(command: string, more: Partial<CommandRequest> = {}): Promise<StartedCommand> {
    this.#count += 1;
    const outputFile = join(this.spill, `${this.#count}.txt`);
    const shell = { folder: workspaceFolder(), variables: undefined };
    const request = { command, shell, keepsShell: true, input: "none", pty: false, outputFile, ...more } as const;
    return {
      running: await this.side.host.terminals.start(request, new AbortController().signal),
      file: outputFile,
    };
  }

  /** Runs to the end; `text` is the output file, with the line ends of a file. */
  async run(command: string, more: Partial<CommandRequest> = {}) {
    const { running, file } = await this.start(command, more);
    const exit = await running.exit;
    const after = await running.shellAfter();
    await running.release();
    return { exit, after, text: readFileSync(file, "utf8").replaceAll("\r\n", "\n") };
  }

  /** Resolves when the command has printed `ready`; rejects with its output when it ended without that. */
  async ready({ running, file }: StartedCommand): Promise<void> {
    const ended = running.exit.then(({ exitCode }) => {
      throw new Error(`It ended with ${exitCode}: ${readFileSync(file, "utf8")}`);
    });
    await Promise.race([this.side.printed(running.terminalId, "ready\r\n"), ended]);
    ended.catch(() => undefined); // it ends later, as it shall
  }
}

/** Terminals with the user's shell. */
export function shells(): readonly vscode.Terminal[] {
  return vscode.window.terminals.filter(({ name }) => name === "Hermes");
}

/** The command's output ends in this, where its exit code is not known. */
export const unknownExit = { exitCode: null, signal: null };

/**
 * Makes the program the user's shell in VS Code, with these start-up files in a home of its own, while `use` runs; no
 * terminal of the agent is open when that begins or ends.
 */
export async function withShell(
  side: AgentSide,
  { program, files = {} }: { readonly program: string; readonly files?: Readonly<Record<string, string>> },
  use: () => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-own-shell-"));
  const usual = vscode.env.shell;
  // Under another path, so that VS Code reports the change.
  const path = join(folder, basename(program));
  symlinkSync(program, path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const env = {
    HOME: folder,
    ZDOTDIR: folder,
    XDG_CONFIG_HOME: join(folder, ".config"),
    XDG_DATA_HOME: join(folder, ".local"),
  };
  await setting("terminal.integrated", "env.linux", env);
  await setting("terminal.integrated", "profiles.linux", { suite: { path } });
  await setting("terminal.integrated", "defaultProfile.linux", "suite");
  await defaultShell(path);
  await side.terminals.endAll();
  try {
    await use();
  } finally {
    await side.terminals.endAll();
    await setting("terminal.integrated", "defaultProfile.linux", undefined);
    await setting("terminal.integrated", "profiles.linux", undefined);
    await setting("terminal.integrated", "env.linux", undefined);
    await defaultShell(usual);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function setting(section: string, name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration(section).update(name, value, vscode.ConfigurationTarget.Global);
}

/** Resolves when terminals are opened with this shell: settings of terminals take effect some time later. */
async function defaultShell(path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (vscode.env.shell !== path) return;
      watch.dispose();
      resolve();
    };
    const watch = vscode.env.onDidChangeShell(look);
    look();
  });
}
