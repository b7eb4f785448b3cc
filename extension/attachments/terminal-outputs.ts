/** Output of the last command in each terminal, which shell integration reports. */
import * as vscode from "vscode";
import { ESCAPE_SEQUENCES } from "../../agent-core/platform/ansi.ts";
import type { AgentTerminals } from "../terminals/agent-terminals.ts";
import { OutputRing } from "../terminals/output-ring.ts";

/** Output that is kept of one command: as much as an attachment may have. Bytes. */
const MAX_OUTPUT_BYTES = 200_000;

type LastCommand = { readonly line: string; readonly output: OutputRing };

export class TerminalOutputs implements vscode.Disposable {
  readonly #last = new Map<vscode.Terminal, LastCommand>();
  readonly #own: Pick<AgentTerminals, "outputs">;
  readonly #subscriptions: readonly vscode.Disposable[];

  /** `own`: terminals of the agent's commands, which have no shell integration. */
  constructor(own: Pick<AgentTerminals, "outputs">) {
    this.#own = own;
    this.#subscriptions = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => void this.#read(terminal, execution)),
      vscode.window.onDidCloseTerminal((terminal) => this.#last.delete(terminal)),
    ];
  }

  /** Names of the terminals with a command, without repetition; the active one first. */
  get names(): readonly string[] {
    const active = vscode.window.activeTerminal;
    const known = [...this.#last.keys()].sort((one, other) => Number(other === active) - Number(one === active));
    return [...new Set([...known, ...this.#own.outputs].map(({ name }) => name))];
  }

  /** The last command of the terminal with this name, and its output. Throws an Error in one line if it has run none. */
  textOf(name = vscode.window.activeTerminal?.name): string {
    const active = vscode.window.activeTerminal;
    const named = [...this.#last].filter(([terminal]) => terminal.name === name);
    const [, last] = named.find(([terminal]) => terminal === active) ?? named.at(-1) ?? [];
    const own = this.#own.outputs.findLast((output) => output.name === name);
    if (last === undefined && own !== undefined) return plain(own.text());
    if (last === undefined) throw new Error("shell integration has reported no command of this terminal");
    const output = plain(last.output.text());
    return `$ ${last.line}\n${last.output.truncated ? "[… the beginning is left out]\n" : ""}${output}`;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #read(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): Promise<void> {
    const output = new OutputRing(MAX_OUTPUT_BYTES);
    this.#last.set(terminal, { line: execution.commandLine.value, output });
    for await (const text of execution.read()) output.add(Buffer.from(text));
  }
}

function plain(output: string): string {
  return output.replaceAll(ESCAPE_SEQUENCES, "").replaceAll("\r\n", "\n").trimEnd();
}
