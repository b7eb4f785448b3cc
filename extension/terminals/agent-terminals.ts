/** Commands of the agent, each in a terminal of VS Code. */
import {
  type CreateTerminalRequest,
  type CreateTerminalResponse,
  RequestError,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { ChildExit } from "../../agent-core/platform/children/start-child.ts";
import type { HermesTerminalStarted } from "../../agent-core/protocol/processes.ts";
import { type ShownCommand, startInChildTerminal } from "./child-terminal.ts";
import { OutputRing } from "./output-ring.ts";

/** Default limit of `terminal/output`. Bytes. */
const DEFAULT_OUTPUT_BYTES = 1_048_576;

export type TerminalListener = {
  output(sessionId: string, terminalId: string, text: string): void;
  exit(
    sessionId: string,
    terminalId: string,
    exit: { readonly exitCode: number | null; readonly signal: string | null },
  ): void;
};

type AgentTerminal = {
  readonly command: ShownCommand;
  readonly ring: OutputRing;
  readonly exit: Promise<WaitForTerminalExitResponse>;
  ended: WaitForTerminalExitResponse | undefined;
  /** True once the agent is done with the terminal. Until then, processes of an ended command may still print. */
  isReleased: boolean;
};

export class AgentTerminals implements vscode.Disposable {
  readonly #terminals = new Map<string, AgentTerminal>();
  readonly #listener: TerminalListener;
  readonly #closing: vscode.Disposable;
  #count = 0;

  constructor(listener: TerminalListener) {
    this.#listener = listener;
    this.#closing = vscode.window.onDidCloseTerminal((closed) => {
      for (const { command } of this.#terminals.values()) if (command.terminal === closed) void command.kill();
    });
  }

  async create(request: CreateTerminalRequest): Promise<CreateTerminalResponse> {
    if (!vscode.workspace.isTrusted) {
      throw RequestError.internalError(undefined, "commands are not run in a workspace that is not trusted");
    }
    this.#count += 1;
    const id = `terminal-${this.#count}`;
    const { sessionId } = request;
    const ring = new OutputRing(request.outputByteLimit ?? DEFAULT_OUTPUT_BYTES);
    const show = (text: string): void => this.#listener.output(sessionId, id, text);
    const command = await startInChildTerminal(request, ring, show);
    const exit = command.exit.then((ended) => this.#ended(sessionId, id, ended));
    exit.catch(() => undefined); // `waitForExit` rejects for its caller
    this.#terminals.set(id, { command, ring, exit, ended: undefined, isReleased: false });
    const hermes: HermesTerminalStarted = { ...command.tree };
    return { terminalId: id, _meta: { hermes } };
  }

  output(id: string): TerminalOutputResponse {
    const { ring, ended } = this.#get(id);
    return { output: ring.text(), truncated: ring.truncated, exitStatus: ended ?? null };
  }

  /** Outputs of the commands whose terminals are still there, oldest first. */
  get outputs(): readonly { readonly name: string; readonly text: () => string }[] {
    return [...this.#terminals.values()].map(({ command, ring }) => ({
      name: command.terminal.name,
      text: () => ring.text(),
    }));
  }

  waitForExit(id: string): Promise<WaitForTerminalExitResponse> {
    return this.#get(id).exit;
  }

  /** Types text where the user sees it; gives the reason when that fails. */
  async input(id: string, text: string): Promise<string | undefined> {
    return this.#get(id).command.type(text);
  }

  async kill(id: string): Promise<void> {
    await this.#get(id).command.kill();
  }

  /** Releases a terminal, which stays until the user closes it or the next command is released. */
  release(id: string): void {
    const released = this.#get(id);
    released.isReleased = true;
    if (released.ended === undefined) void released.command.kill();
    for (const [other, entry] of this.#terminals) {
      if (entry === released || !entry.isReleased || entry.ended === undefined) continue;
      entry.command.terminal.dispose();
      this.#terminals.delete(other);
    }
  }

  /** Brings a command's terminal to the front without taking the caret. */
  show(id: string): void {
    this.#terminals.get(id)?.command.terminal.show(true);
  }

  /** Ends all commands and their processes; resolves when none is left. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#terminals.values()].map(({ command }) => command.kill()));
  }

  dispose(): void {
    this.#closing.dispose();
    void this.endAll();
    for (const { command } of this.#terminals.values()) command.terminal.dispose();
    this.#terminals.clear();
  }

  #ended(sessionId: string, id: string, { exitCode, signal }: ChildExit): WaitForTerminalExitResponse {
    const entry = this.#terminals.get(id);
    const ended = { exitCode, signal };
    if (entry) entry.ended = ended;
    this.#listener.exit(sessionId, id, ended);
    return ended;
  }

  #get(id: string): AgentTerminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }
}
