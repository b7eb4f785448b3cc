/** The agent: a conversation with its model, tools and state. One turn at a time; the loop itself is in turn.ts. */
import { randomUUID } from "node:crypto";
import type { ContentPart, Message } from "../messages/message.ts";
import type { Fault } from "../providers/fault.ts";
import type { NewEntry } from "../sessions/journal.ts";
import { newSessionId } from "../sessions/session-id.ts";
import { writeSpillFile } from "../sessions/spill-file.ts";
import { FileMemory } from "../tools/file-memory.ts";
import { Processes } from "../tools/terminal/processes.ts";
import { SessionShell } from "../tools/terminal/session-shell.ts";
import { TodoList } from "../tools/todo-list.ts";
import type { ShellView, ToolContext } from "../tools/tool.ts";
import { type AgentSetup, type AIAgentOptions, setUpAgent } from "./agent-setup.ts";
import { type ConversationResult, resultOf } from "./conversation-result.ts";
import { journalToolProgress } from "./journal-tools.ts";
import { type Notifier, notifier } from "./notifier.ts";
import { runTurn, type Turn } from "./turn.ts";

export type RunOptions = {
  readonly userMessage: string | readonly ContentPart[];
  /** Said to the model on top of its own system prompt; read with the first message of a session only. */
  readonly systemMessage?: string;
  /** Replaces the history before the message is added. */
  readonly conversationHistory?: readonly Message[];
  /** Names the work across calls; made up when absent. */
  readonly taskId?: string;
  /** Cancels the turn. */
  readonly signal?: AbortSignal;
};

/** A turn that ended because the model could not be used. */
export class AgentError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "AgentError";
    this.fault = fault;
  }
}

export class AIAgent {
  readonly sessionId: string;
  readonly #setup: AgentSetup;
  readonly #notify: Notifier;
  readonly #files = new FileMemory();
  readonly #todos: TodoList;
  readonly #shell: SessionShell;
  readonly #processes = new Processes();
  /** The history tells of a shell and of processes that are no more, and the model does not know. */
  #isShellForgotten: boolean;
  /** Settles when the place where commands run was reached for the first time, or could not be. */
  #shellOpened: Promise<void> | undefined;
  #history: Message[];
  /** Frozen with the first message of the session. */
  #systemPrompt: string | undefined;
  #running: AbortController | undefined;

  /** Throws an Error in one line when the options cannot be met: an unknown toolset, an API mode without a wire. */
  constructor(options: AIAgentOptions = {}) {
    this.#setup = setUpAgent(options);
    this.sessionId = options.sessionId ?? newSessionId(Date.now());
    this.#history = [...(options.history ?? [])];
    const { callbacks, onDefect, cwd } = this.#setup;
    this.#shell = new SessionShell(cwd);
    this.#isShellForgotten = this.#history.some(usesTerminal);
    this.#notify = notifier(
      journalToolProgress(callbacks, (entry) => this.#journal(entry)),
      onDefect,
    );
    this.#todos = new TodoList((items) => {
      this.#journal({ type: "todos", items: [...items] });
      this.#notify.plan(items);
    });
    this.#todos.restore(options.todos ?? []);
  }

  /** The conversation so far, without the system prompt. */
  get messages(): readonly Message[] {
    return this.#history;
  }

  /** Name of the model in use. */
  get model(): string {
    return this.#setup.model.model;
  }

  /** Tokens that the model can see. */
  get contextWindow(): number {
    return this.#setup.contextWindow;
  }

  get toolNames(): readonly string[] {
    return this.#setup.tools.map((tool) => tool.name);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Sends a message and gives the final answer. Rejects with `AgentError` when the model could not be used. */
  async chat(text: string): Promise<string> {
    const result = await this.runConversation({ userMessage: text });
    if (result.fault !== undefined) throw new AgentError(result.fault);
    return result.finalResponse;
  }

  /** Runs one turn to its end. Rejects only when a turn is running already, or on a defect of the agent itself. */
  async runConversation(options: RunOptions): Promise<ConversationResult> {
    if (this.#running !== undefined) throw new Error("A turn is running already; wait for its end or interrupt it.");
    const running = new AbortController();
    this.#running = running;
    const signal = options.signal ? AbortSignal.any([options.signal, running.signal]) : running.signal;
    try {
      return await this.#run(options, signal);
    } finally {
      this.#running = undefined;
    }
  }

  /** Stops the running turn; what it has done stays, its unfinished answer is dropped. */
  interrupt(): void {
    this.#running?.abort(new DOMException("The turn was cancelled.", "AbortError"));
  }

  /** Ends everything that its commands have left running. The agent cannot be used afterwards. */
  async close(): Promise<void> {
    this.interrupt();
    await this.#processes.dispose();
    await this.#setup.host.terminals.dispose();
  }

  async #run(options: RunOptions, signal: AbortSignal): Promise<ConversationResult> {
    if (options.conversationHistory) this.#history = [...options.conversationHistory];
    this.#record({ role: "user", content: contentOf(options.userMessage) });
    this.#shellOpened ??= this.#openShell(signal);
    this.#systemPrompt ??= await this.#setup.buildSystemPrompt(options.systemMessage);
    await this.#shellOpened;
    const outcome = await runTurn(this.#turn(this.#systemPrompt, signal));
    const { end } = outcome;
    this.#journal({
      type: "turn-end",
      stopReason: end.stopReason,
      ...(end.stopReason === "error" && { error: end.fault.message }),
    });
    await this.#setup.journal?.sync();
    return resultOf(outcome, {
      messages: this.#history,
      sessionId: this.sessionId,
      taskId: options.taskId ?? randomUUID(),
    });
  }

  #turn(systemPrompt: string, signal: AbortSignal): Turn {
    const { tools, cwd, policy, callbacks, maxIterations, callModel } = this.#setup;
    return {
      maxIterations,
      systemPrompt,
      history: () => this.#history,
      record: (message) => this.#record(message),
      callModel,
      notices: () => this.#notices(),
      notify: this.#notify,
      signal,
      services: {
        tools,
        cwd,
        shell: this.#shellView(),
        policy,
        ask: callbacks.approval?.bind(callbacks),
        notify: this.#notify,
        monotonicNow: () => performance.now(),
        contextFor: (callId, callSignal) => this.#contextFor(callId, callSignal),
        writeSpill: writeSpillFile,
      },
    };
  }

  #contextFor(callId: string, signal: AbortSignal): ToolContext {
    const { host, cwd, callbacks, spillFolder } = this.#setup;
    return {
      host,
      cwd,
      shell: this.#shell,
      shellFolder: this.#shell.folder,
      processes: this.#processes,
      callId,
      signal,
      spillFolder: spillFolder(this.sessionId),
      files: this.#files,
      todos: this.#todos,
      ask: callbacks.clarify?.bind(callbacks) ?? (() => Promise.resolve({ kind: "unavailable" })),
      show: (activity) => this.#notify.toolProgress({ type: "activity", callId, activity }),
    };
  }

  async #notices(): Promise<readonly string[]> {
    const lines = await this.#processes.notices();
    if (!this.#isShellForgotten) return lines;
    this.#isShellForgotten = false;
    return [
      `[The session was opened again: the shell is in ${this.#shell.folder}, earlier processes have ended.]`,
      ...lines,
    ];
  }

  async #openShell(signal: AbortSignal): Promise<void> {
    const { host, cwd } = this.#setup;
    try {
      this.#shell.begin(await host.terminals.open(cwd, signal));
    } catch (error) {
      // Not reached: each command tries again by itself, no turn waits for it once more. Cancelled: the next turn does.
      if (signal.aborted) this.#shellOpened = undefined;
      this.#notify.status({ severity: "warning", message: error instanceof Error ? error.message : String(error) });
    }
  }

  #shellView(): ShellView {
    const shell = this.#shell;
    return {
      get folder() {
        return shell.folder;
      },
      process: (id) => this.#processes.find(id),
    };
  }

  #record(message: Message): void {
    this.#history.push(message);
    this.#journal({ type: "message", message });
  }

  #journal(entry: NewEntry): void {
    this.#setup.journal?.append(entry);
  }
}

function usesTerminal(message: Message): boolean {
  return message.role === "assistant" && (message.tool_calls ?? []).some((call) => call.function.name === "terminal");
}

function contentOf(message: RunOptions["userMessage"]): string | ContentPart[] {
  return typeof message === "string" ? message : [...message];
}
