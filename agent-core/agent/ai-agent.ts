/** The agent: a conversation with its model, tools and state. One turn at a time; the loop itself is in turn.ts. */
import { randomUUID } from "node:crypto";
import type { Grants } from "../approval/grants.ts";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import type { ContentPart, Message } from "../messages/message.ts";
import { type ModelInfo, modelInfo } from "../providers/model-info.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import { type Compression, Conversation, type TranscriptEntry } from "../sessions/conversation.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { newSessionId, writeSpillFile } from "../sessions/session-files.ts";
import { titleLine } from "../sessions/titles.ts";
import type { UsageSum } from "../sessions/usage-sum.ts";
import { FileMemory } from "../tools/file-memory.ts";
import type { Processes } from "../tools/terminal/processes.ts";
import { TodoList } from "../tools/todo-list.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import { adoptSession } from "./adopt-session.ts";
import { AgentError } from "./agent-error.ts";
import { type AgentSetup, type AIAgentOptions, setUpAgent } from "./agent-setup.ts";
import { AgentShell, hasRunCommands } from "./agent-shell.ts";
import { recordedQuestions } from "./approvals.ts";
import { IterationBudget } from "./budget.ts";
import type { CompressedEvent } from "./callbacks.ts";
import type { ContextKeeper } from "./context-keeper.ts";
import { type ConversationResult, resultOf } from "./conversation-result.ts";
import { journalledProgress } from "./journal-tools.ts";
import { keepContext, withheldFrom } from "./keep-context.ts";
import { type Notifier, notifier } from "./notifier.ts";
import { SeenAnswer } from "./seen-answer.ts";
import { sessionCheckpoints } from "./session-checkpoints.ts";
import { sessionTitle } from "./session-title.ts";
import { Steering } from "./steering.ts";
import { storedMessage } from "./stored-message.ts";
import { runTurn, type Turn } from "./turn.ts";
import { UsageLedger } from "./usage-ledger.ts";

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

export class AIAgent {
  readonly sessionId: string;
  /** The files that were changed, and the way back; undefined where the conversation is not stored. */
  readonly checkpoints: Checkpoints | undefined;
  readonly #setup: AgentSetup;
  readonly #notify: Notifier;
  readonly #files = new FileMemory();
  readonly #todos: TodoList;
  readonly #shell: AgentShell;
  readonly #conversation: Conversation;
  /** Frozen with the first message of the session. */
  #systemPrompt: string | undefined;
  #running: AbortController | undefined;
  readonly #steering = new Steering();
  readonly #seen = new SeenAnswer();
  readonly #ledger: UsageLedger;
  readonly #context: ContextKeeper;
  #title: string | undefined;
  /** Ends what goes on beside the turns. */
  readonly #closed = new AbortController();

  /** Throws an Error in one line when the options cannot be met: an unknown toolset, an API mode without a wire. */
  constructor(options: AIAgentOptions = {}) {
    this.#setup = setUpAgent(options);
    this.sessionId = options.sessionId ?? newSessionId(Date.now());
    this.#conversation = options.conversation ?? new Conversation();
    const { callbacks, onDefect, cwd } = this.#setup;
    this.#shell = new AgentShell(this.#setup.host.terminals, cwd, hasRunCommands(this.#conversation.messages));
    const told = this.#seen.watching(notifier(callbacks, onDefect));
    this.#ledger = new UsageLedger(options.entries ?? [], {
      priceOf: (model) => this.#infoOf(model).price,
      journal: (entry) => this.#journal(entry),
    });
    this.#setup.usedBeside = (usage, model) => this.#ledger.addBeside(usage, model);
    this.#notify = {
      ...told,
      step: (event) => {
        if (event.usage !== undefined) {
          this.#ledger.add(event.usage, this.model);
          this.#context.measured(event.usage, event.added[0]);
        }
        told.step(event);
        told.contextPressure(this.#context.pressure);
      },
      toolProgress: journalledProgress(told.toolProgress, (entry) => this.#journal(entry)),
    };
    this.checkpoints = sessionCheckpoints(options, this.#setup, {
      position: () => this.#conversation.next,
      journal: (entry) => this.#journal(entry),
      tell: (message) => this.#notify.status({ severity: "warning", message }),
    });
    this.#context = keepContext(this.#setup, {
      conversation: this.#conversation,
      window: () => this.contextWindow,
      systemPrompt: () => this.#systemPrompt ?? "",
      contextFor: (callId, signal) => this.#contextFor(callId, signal),
      journal: (entry) => this.#journal(entry),
      notify: this.#notify,
    });
    this.#todos = new TodoList((items) => {
      this.#journal({ type: "todos", items: [...items] });
      this.#notify.plan(items);
    });
    this.#todos.restore(options.todos ?? []);
    this.#title = options.title;
    this.#systemPrompt = options.systemPrompt;
  }

  /** Undefined until the first exchange is over. */
  get title(): string | undefined {
    return this.#title;
  }

  /** Names the session. */
  setTitle(text: string): void {
    const title = titleLine(text);
    this.#title = title;
    this.#journal({ type: "title", title });
    this.#notify.title({ title });
  }

  /** The conversation as the model gets it, without the system prompt. */
  get messages(): readonly Message[] {
    return this.#conversation.messages;
  }

  /** All that was said and not taken back, compressed or not. */
  get said(): readonly TranscriptEntry[] {
    return this.#conversation.transcript;
  }

  /** Takes back the messages from this position on. Throws while a turn runs. */
  rewind(keep: number): void {
    if (this.isRunning) throw new Error("A turn is running; stop it before anything is taken back.");
    this.#takeBack(keep);
  }

  /** The model in use, and how it is reached. */
  get model(): ResolvedModel {
    return this.#setup.models.current;
  }

  /** Takes another model from the next call on. Throws an Error in one line when there is no such model. */
  setModel(settings: ModelSettings): void {
    this.#setup.models.choose(this.#setup.resolve(settings));
  }

  /** How long the model shall think, from the next call on; undefined: as its provider has it. */
  setReasoningEffort(effort: Sampling["reasoningEffort"]): void {
    const { reasoningEffort: _, ...rest } = this.#setup.sampling;
    this.#setup.sampling = { ...rest, ...(effort !== undefined && { reasoningEffort: effort }) };
  }

  /** Tokens that the model can see. */
  get contextWindow(): number {
    return this.#infoOf(this.model).contextWindow;
  }

  /** What stands for older messages; undefined while the model gets them all. */
  get compression(): Compression | undefined {
    return this.#conversation.compression;
  }

  /** Lets older messages give way to a summary now; undefined when there is nothing that can go. Throws in a turn. */
  async compress(focus: string | undefined, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    if (this.isRunning) throw new Error("A turn is running; it is compressed by itself when it has to be.");
    return this.#context.compress(focus, signal);
  }

  /** What its commands have left running. */
  get processes(): Processes {
    return this.#shell.processes;
  }

  /** What the session's model calls have taken so far. */
  get usage(): UsageSum {
    return this.#ledger.sum;
  }

  /** Answers of the user that last, for this session and for always. */
  get grants(): Pick<Grants, "list" | "revoke"> {
    return this.#setup.grants;
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
      this.#keepUnsteered();
    }
  }

  /** Stops the running turn; what it has done stays, its unfinished answer is dropped. */
  interrupt(): void {
    this.#running?.abort(new DOMException("The turn was cancelled.", "AbortError"));
  }

  /**
   * Says something to the model in the middle of the running turn: it reaches it after the tool calls of the moment.
   * False when no turn runs; nothing is kept then.
   */
  steer(message: RunOptions["userMessage"]): boolean {
    if (this.#running === undefined) return false;
    this.#steering.add({ role: "user", content: contentOf(message) });
    return true;
  }

  /** Ends the running turn, what goes on beside it and what its commands have left running; it is not used any more. */
  async close(): Promise<void> {
    this.interrupt();
    this.#closed.abort();
    await this.#shell.dispose();
    await this.checkpoints?.close();
    await this.#setup.host.terminals.dispose();
  }

  async #run(options: RunOptions, signal: AbortSignal): Promise<ConversationResult> {
    if (options.conversationHistory) this.#replaceHistory(options.conversationHistory);
    this.#notify.prompted({ position: this.#record({ role: "user", content: contentOf(options.userMessage) }) });
    this.checkpoints?.beginTurn();
    const shellOpened = this.#shell.open(signal, (event) => this.#notify.status(event));
    const systemPrompt = await this.#frozenPrompt(options.systemMessage);
    await shellOpened;
    const outcome = await runTurn(this.#turn(systemPrompt, signal));
    const { end } = outcome;
    const seen = this.#seen.brokenBy(end);
    if (seen !== undefined) this.#record(seen);
    const result = resultOf(outcome, {
      messages: this.messages,
      sessionId: this.sessionId,
      taskId: options.taskId ?? randomUUID(),
    });
    if (outcome.usages.length > 0) this.#ledger.record(result.usage, this.model);
    this.#journal({
      type: "turn-end",
      stopReason: end.stopReason,
      ...(end.stopReason === "error" && { error: end.fault.message }),
    });
    await this.#setup.journal?.sync();
    if (this.#title === undefined) this.#makeTitle();
    return result;
  }

  /** Built once and then kept with the session, also when it is resumed: the prefix of its requests never changes. */
  async #frozenPrompt(systemMessage: string | undefined): Promise<string> {
    if (this.#systemPrompt === undefined) {
      this.#systemPrompt = await this.#setup.buildSystemPrompt(systemMessage);
      this.#journal({ type: "system-prompt", text: this.#systemPrompt });
    }
    return this.#systemPrompt;
  }

  /** Goes on beside the conversation: nobody waits for a title. */
  #makeTitle(): void {
    const { auxiliary, onDefect } = this.#setup;
    const { signal } = this.#closed;
    sessionTitle(this.messages, auxiliary, signal).then(
      (title) => title !== undefined && this.#title === undefined && this.setTitle(title),
      (error: unknown) => signal.aborted || onDefect(`No title could be made: ${String(error)}`),
    );
  }

  /** What came too late for a turn that was stopped is not lost: it stands before the next message. */
  #keepUnsteered(): void {
    for (const message of this.#steering.take()) {
      this.#notify.steered({ message, position: this.#record(message) });
    }
  }

  #turn(systemPrompt: string, signal: AbortSignal): Turn {
    const { tools, cwd, policy, callbacks, maxIterations, parentBudget, callModel, subfolderContext } = this.#setup;
    const withheld = (tool: Tool): string | undefined => withheldFrom(tool, this.#context);
    return {
      budget: new IterationBudget(maxIterations, parentBudget),
      systemPrompt,
      history: () => this.messages,
      record: (message) => this.#record(message),
      makeRoom: (isFirst) => this.#context.makeRoom(isFirst, signal),
      callModel: (messages, withTools, callSignal) =>
        callModel(messages, withTools ? tools.filter((tool) => withheld(tool) === undefined) : [], callSignal),
      takeSteering: () => this.#steering.take(),
      notices: () => this.#notices(),
      notify: this.#notify,
      signal,
      services: {
        tools,
        withheld,
        cwd,
        shell: this.#shell.view,
        policy,
        ask: callbacks.approval?.bind(callbacks),
        clear: this.#setup.clear,
        notify: this.#notify,
        recordAnswer: (answer) => this.#journal({ type: "answer", ...answer }),
        monotonicNow: () => performance.now(),
        contextFor: (callId, callSignal) => this.#contextFor(callId, callSignal),
        writeSpill: writeSpillFile,
        subfolderContext: (paths) => subfolderContext.of(paths),
      },
    };
  }

  #contextFor(callId: string, signal: AbortSignal): ToolContext {
    const { host, cwd, callbacks, spillFolder, sessionIndex, memory, commandSeconds } = this.#setup;
    return {
      host: this.checkpoints?.hostFor(callId) ?? host,
      cwd,
      sessions: sessionIndex,
      memory,
      sessionId: this.sessionId,
      shell: this.#shell.state,
      shellFolder: this.#shell.state.folder,
      processes: this.#shell.processes,
      commandSeconds,
      callId,
      signal,
      spillFolder: spillFolder(this.sessionId),
      files: this.#files,
      todos: this.#todos,
      ask: recordedQuestions(callbacks, callId, (answer) => this.#journal({ type: "answer", ...answer })),
      show: (activity) => this.#notify.toolProgress({ type: "activity", callId, activity }),
    };
  }

  async #notices(): Promise<readonly string[]> {
    const { warning } = this.#context;
    return [...(await this.#shell.notices()), ...(warning === undefined ? [] : [warning])];
  }

  /** Goes on with what was said in another session; what was said in this one is taken back. Throws in a turn. */
  adopt(stored: StoredSession): void {
    if (this.#conversation.transcript.length > 0) this.rewind(0);
    const record = (message: Message): number => this.#record(message);
    adoptSession(stored, { conversation: this.#conversation, record, journal: (entry) => this.#journal(entry) });
    if (stored.todos.length === 0) return;
    this.#todos.restore(stored.todos);
    this.#journal({ type: "todos", items: [...stored.todos] });
  }

  #replaceHistory(messages: readonly Message[]): void {
    if (this.#conversation.transcript.length > 0) this.#takeBack(0);
    for (const message of messages) this.#record(message);
  }

  #infoOf(model: ResolvedModel): ModelInfo {
    return modelInfo(model.model, this.#setup.modelFacts(model));
  }

  #takeBack(keep: number): void {
    this.#conversation.rewind(keep);
    this.#journal({ type: "rewind", keep });
  }

  #record(message: Message): number {
    if (message.role === "assistant") this.#seen.clear();
    const position = this.#conversation.next;
    const entry: NewEntry = { type: "message", position, message: storedMessage(message, this.#setup.environment) };
    return this.#conversation.append(message, position, this.#setup.journal?.append(entry));
  }

  #journal(entry: NewEntry): void {
    this.#setup.journal?.append(entry);
  }
}

function contentOf(message: RunOptions["userMessage"]): string | ContentPart[] {
  return typeof message === "string" ? message : [...message];
}
