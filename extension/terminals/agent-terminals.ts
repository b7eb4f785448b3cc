/** The agent's commands: our own children, so that output and exit code are complete, shown in VS Code terminals. */
import {
  type CreateTerminalRequest,
  type CreateTerminalResponse,
  RequestError,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { HermesTerminalStarted } from "../../agent-core/acp/meta.ts";
import type { Child } from "../../agent-core/host/children/start-child.ts";
import { ASKS_FOR_SECRET } from "../../webview/panel-protocol.ts";
import { startAgentChild } from "./agent-child.ts";
import { OutputRing } from "./output-ring.ts";
import { Screen, type ScreenInput } from "./screen.ts";
import { type TerminalRequest, terminalRequest } from "./terminal-request.ts";

/** Bytes kept for `terminal/output` when the agent names no limit. */
const DEFAULT_OUTPUT_BYTES = 1_048_576;
/** A second Ctrl+C within this time ends what the first one could not. */
const SECOND_INTERRUPT_MS = 2_000;

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

export type TerminalListener = {
  output(terminalId: string, text: string): void;
  exit(terminalId: string, exit: { readonly exitCode: number | null; readonly signal: string | null }): void;
};

type AgentTerminal = {
  readonly child: Child;
  readonly ring: OutputRing;
  readonly screen: Screen;
  readonly terminal: vscode.Terminal;
  readonly hasPty: boolean;
  readonly exit: Promise<WaitForTerminalExitResponse>;
  ended: WaitForTerminalExitResponse | undefined;
  /** The agent is done with it. Until then something that an ended command left running may still be shown in it. */
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
      for (const { terminal, child } of this.#terminals.values()) if (terminal === closed) void child.kill();
    });
  }

  async create(request: CreateTerminalRequest): Promise<CreateTerminalResponse> {
    if (!vscode.workspace.isTrusted) {
      throw RequestError.internalError(undefined, "commands are not run in a workspace that is not trusted");
    }
    this.#count += 1;
    const id = `terminal-${this.#count}`;
    const details = terminalRequest(request);
    const ring = new OutputRing(request.outputByteLimit ?? DEFAULT_OUTPUT_BYTES);
    let early = "";
    let print = (text: string): void => {
      early += text;
    };
    const child = await startAgentChild(request, details, (bytes, text) => {
      ring.add(bytes);
      print(details.hasPty ? text : text.replace(/\r?\n/g, "\r\n"));
      this.#listener.output(id, text);
    });
    const screen = new Screen(screenInput(child, details));
    screen.note(`$ ${details.title.replace(/\r?\n/g, "\r\n  ")}`);
    screen.print(early);
    print = (text) => screen.print(text);
    const terminal = vscode.window.createTerminal({
      name: `Hermes: ${details.title.slice(0, 40)}`,
      pty: screen,
      iconPath: new vscode.ThemeIcon("sparkle"),
    });
    const exit = child.exit.then((ended) => this.#ended(id, ended));
    exit.catch((error: Error) => screen.note(error.message)); // also told to whoever waits for it
    this.#terminals.set(id, {
      child,
      ring,
      screen,
      terminal,
      hasPty: details.hasPty,
      exit,
      ended: undefined,
      isReleased: false,
    });
    const hermes: HermesTerminalStarted = { ...child.tree };
    return { terminalId: id, _meta: { hermes } };
  }

  output(id: string): TerminalOutputResponse {
    const { ring, ended } = this.#get(id);
    return { output: ring.text(), truncated: ring.truncated, exitStatus: ended ?? null };
  }

  waitForExit(id: string): Promise<WaitForTerminalExitResponse> {
    return this.#get(id).exit;
  }

  /** Types for the agent, where the user sees it; gives why not when that cannot be done. */
  async input(id: string, text: string): Promise<string | undefined> {
    const { child, screen, hasPty, ring } = this.#get(id);
    if (hasPty) return child.write(text);
    if (text === CTRL_C) {
      child.interrupt();
      return undefined;
    }
    const ends = text.endsWith(CTRL_D);
    const typed = ends ? text.slice(0, -1) : text;
    const echo = ASKS_FOR_SECRET.test(ring.openLine()) ? typed.replace(/[^\r\n]/g, "") : typed;
    screen.print(`\u001b[2m${echo.replace(/\r?\n/g, "\r\n")}\u001b[0m`);
    const failure = await child.write(typed);
    if (ends) child.endInput();
    return failure;
  }

  async kill(id: string): Promise<void> {
    await this.#get(id).child.kill();
  }

  /** The agent is done with it; what it showed stays until the user closes it or the next command is released. */
  release(id: string): void {
    const released = this.#get(id);
    released.isReleased = true;
    if (released.ended === undefined) void released.child.kill();
    for (const [other, entry] of this.#terminals) {
      if (entry === released || !entry.isReleased || entry.ended === undefined) continue;
      entry.terminal.dispose();
      this.#terminals.delete(other);
    }
  }

  /** Brings a command's terminal to the front without taking the caret. */
  show(id: string): void {
    this.#terminals.get(id)?.terminal.show(true);
  }

  /** Ends every command with all it has left running; resolves when nothing of them is left. */
  async endAll(): Promise<void> {
    await Promise.allSettled([...this.#terminals.values()].map(({ child }) => child.kill()));
  }

  dispose(): void {
    this.#closing.dispose();
    void this.endAll();
    for (const { terminal } of this.#terminals.values()) terminal.dispose();
    this.#terminals.clear();
  }

  #ended(id: string, ended: WaitForTerminalExitResponse): WaitForTerminalExitResponse {
    const entry = this.#terminals.get(id);
    if (entry) {
      entry.ended = ended;
      entry.screen.over();
      entry.screen.print("\r\n");
      entry.screen.note(`[${ended.signal ? `ended by ${ended.signal}` : `exit code ${ended.exitCode}`}]`);
    }
    this.#listener.exit(id, { exitCode: ended.exitCode ?? null, signal: ended.signal ?? null });
    return ended;
  }

  #get(id: string): AgentTerminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw RequestError.resourceNotFound(id);
    return terminal;
  }
}

function screenInput(child: Child, { input, hasPty }: TerminalRequest): ScreenInput {
  let interruptedAt = Number.NEGATIVE_INFINITY;
  return {
    kind: hasPty ? "raw" : inputKinds[input],
    send: (text) => void child.write(text),
    end: () => child.endInput(),
    interrupt() {
      const now = performance.now();
      if (now - interruptedAt < SECOND_INTERRUPT_MS) void child.kill();
      else child.interrupt();
      interruptedAt = now;
    },
  };
}

const inputKinds = { none: "none", open: "line" } as const;
