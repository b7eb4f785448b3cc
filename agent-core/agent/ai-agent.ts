/** The agent as its users see it: a session with a model, tools and a memory of its own. */
import type { Grants } from "../approval/grants.ts";
import { SessionBrowser } from "../browser/session-browser.ts";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import { SessionScripts } from "../code/session-scripts.ts";
import type { Hooks } from "../hooks/hook.ts";
import type { SandboxState } from "../host/terminals/terminals.ts";
import type { Memory } from "../memory/memory.ts";
import type { Message } from "../messages/message.ts";
import type { Delegation } from "../orchestration/delegation.ts";
import type { GoalVerdict } from "../orchestration/evaluation.ts";
import type { JudgeParts } from "../orchestration/evaluation-checks.ts";
import type { HermesCommandEnd, HermesTrajectory } from "../protocol/trajectory.ts";
import { modelInfo, refusesImages } from "../providers/model-info.ts";
import type { ModelSettings, ResolvedModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import type { Compression, TranscriptEntry } from "../sessions/conversation.ts";
import type { EntryOf } from "../sessions/entry.ts";
import type { Journal } from "../sessions/journal.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { newSessionId } from "../sessions/session-files.ts";
import type { UsageSum } from "../sessions/usage-ledger.ts";
import type { SessionSkills } from "../skills/session-skills.ts";
import { FileMemory } from "../tools/file-memory.ts";
import type { Processes } from "../tools/terminal/processes.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { type AgentSetup, sessionCheckpoints, setUpAgent } from "./agent-setup.ts";
import { AgentShell, hasRunCommands } from "./agent-shell.ts";
import { passwordsOf, recordedQuestions } from "./approvals.ts";
import type { CompressedEvent, StatusEvent } from "./callbacks.ts";
import type { DelegatingAgent, SubAgents } from "./child-agent.ts";
import { type ContextKeeper, createContextKeeper } from "./context-keeper.ts";
import { AgentError, type ConversationResult } from "./conversation-result.ts";
import type { ExtensionCommand, ExtensionSession, Extensions } from "./extensions.ts";
import { type Notifier, notifier } from "./notifier.ts";
import { SessionRecord } from "./session-record.ts";
import { makeTitle } from "./session-title.ts";
import { openStored, withStored } from "./stored-agent.ts";
import { type RunOptions, TURN_RUNS, TurnRunner } from "./turn-runner.ts";
import { createMemoryReview, type MemoryReview } from "./unseen-memory.ts";

export class AIAgent {
  readonly sessionId: string;
  /** Copies of changed files, for restores. Undefined without a journal. */
  readonly checkpoints: Checkpoints | undefined;
  readonly #setup: AgentSetup;
  readonly #record: SessionRecord;
  readonly #files: FileMemory;
  readonly #shell: AgentShell;
  readonly #browser: SessionBrowser;
  readonly #scripts = new SessionScripts();
  readonly #context: ContextKeeper;
  readonly #turns: TurnRunner;
  readonly #review: MemoryReview;
  readonly #delegating: DelegatingAgent;
  /** Loaded with the first delegation. */
  #subAgents: SubAgents | undefined;
  /** Ends auxiliary work outside the turns. */
  readonly #closed = new AbortController();
  /** Title until a model has written one; undefined afterwards. */
  #firstTitle: string | undefined;
  /** Journals that `load` opened. */
  readonly #ownJournals: Journal[] = [];

  /**
   * Continues a stored session of the home. Its folder and model are the defaults of the options. Rejects with an Error in
   * one line when there is no such session, or when another process has it open.
   */
  static async load(sessionId: string, options: AIAgentOptions = {}): Promise<AIAgent> {
    const stored = await openStored(sessionId, options);
    const agent = new AIAgent(stored);
    agent.#ownJournals.push(stored.journal);
    return agent;
  }

  /**
   * A `sessionId` of a stored session continues it, as `load` does; only results that a crash lost are not recovered. Throws
   * an Error in one line when the options cannot be met: an unknown toolset, an API mode without a wire.
   */
  constructor(given: AIAgentOptions = {}) {
    const options = withStored(given);
    if (options !== given && options.journal !== undefined) this.#ownJournals.push(options.journal);
    const setup = setUpAgent(options);
    const notify = notifier(setup.callbacks, setup.onDefect, options);
    const record = new SessionRecord({ ...options, environment: setup.environment, notify });
    this.sessionId = options.sessionId ?? newSessionId(setup.clock.now());
    this.#setup = setup;
    this.#record = record;
    this.#browser = new SessionBrowser(options.browser ?? {}, () => setup.spillFolder(this.sessionId));
    const { conversation } = record;
    this.#files = new FileMemory(() => conversation.next);
    const page = (): string | undefined => this.#browser.address;
    this.#shell = new AgentShell(setup.host.terminals, setup.cwd, hasRunCommands(conversation.messages), page);
    this.checkpoints = sessionCheckpoints(setup, {
      position: () => record.conversation.next,
      journal: (entry) => record.journal(entry),
      notifyUser: (message) => notify.status({ severity: "warning", message }),
    });
    /** Shows the line. One about writes that the user may undo later is in the journal, too. */
    const status = (event: StatusEvent): void => {
      const { message: text, memoryCall: callId } = event;
      if (callId !== undefined) record.journal({ type: "notice", text, callId, position: record.conversation.next });
      notify.status(event);
    };
    const contextFor = (callId: string, signal: AbortSignal): ToolContext => ({
      ...this.#toolContext(callId, signal),
      show: (activity) => notify.toolProgress({ type: "activity", callId, activity }),
    });
    this.#context = createContextKeeper(setup, {
      record,
      window: () => this.contextWindow,
      contextFor,
      hooks: () => this.hooks,
      notify: { ...notify, status },
    });
    this.#turns = new TurnRunner({
      sessionId: this.sessionId,
      setup,
      record,
      shell: this.#shell,
      context: this.#context,
      contextFor,
      notify,
      storeDiff: (diff) => this.checkpoints?.storeDiff(diff) ?? { ...diff },
      beginTurn: () => {
        this.checkpoints?.beginTurn();
        // The list of sessions names a running one. The title of a model for titles waits for the end of the turn.
        if (setup.auxiliary.ownModel("title_generation") === undefined) this.#makeTitle(false);
      },
      onInferred: options.infersVerdicts ? (verdict) => void this.recordReview(verdict) : undefined,
    });
    this.#review = createMemoryReview(setup, {
      record,
      interval: options.memoryReviewTurns ?? 0,
      contextFor,
      hooks: () => this.hooks,
      notify: status,
    });
    this.#delegating = {
      sessionId: this.sessionId,
      setup,
      notify,
      hooks: this.hooks,
      checkpoints: this.checkpoints,
      budget: () => this.#turns.budget,
      journal: (entry) => record.journal(entry),
      create: (childOptions) => new AIAgent(childOptions),
    };
    setup.extensions.begin(this.#extensionSession(notify));
  }

  /** Undefined until the first turn has ended. */
  get title(): string | undefined {
    return this.#record.title;
  }

  setTitle(text: string): void {
    this.#record.setTitle(text);
  }

  /** Pins or archives the session in lists; null undoes both. */
  shelve(shelf: EntryOf<"shelf">["shelf"]): void {
    this.#record.journal({ type: "shelf", shelf });
  }

  /** The messages that the model gets, without the system prompt. */
  get messages(): readonly Message[] {
    return this.#record.conversation.messages;
  }

  /** All messages that were not taken back, compressed or not. */
  get transcript(): readonly TranscriptEntry[] {
    return this.#record.conversation.transcript;
  }

  /** Takes back the messages from this position on. `isRetry`: the next one asks again. Throws during a turn. */
  rewind(keep: number, isRetry = false): void {
    this.#checkIdle();
    this.#record.rewind(keep, isRetry);
    this.#files.rewind(keep);
    void this.skills?.library.takeBack();
    if (keep === 0) this.hooks.observe("on_session_reset", { extra: { reason: "rewind" } });
  }

  /** Position from which changes of files belong to the message at `position`. It is earlier only after a retry. */
  changesFrom(position: number): number {
    return this.#record.conversation.originOf(position);
  }

  /** Reverts the last rewind. Returns the first position that returned; undefined for none. Throws during a turn. */
  unrewind(): number | undefined {
    this.#checkIdle();
    const first = this.#record.unrewind();
    if (first !== undefined) this.#files.unrewind();
    return first;
  }

  /** Continues another session in this one, whose own messages are taken back. Throws during a turn. */
  resumeFrom(stored: StoredSession): void {
    this.#checkIdle();
    this.#record.resumeFrom(stored);
    this.hooks.observe("on_session_reset", { extra: { reason: "resume" } });
  }

  /** The current model and its endpoint. */
  get model(): ResolvedModel {
    return this.#setup.models.current;
  }

  /** The value of `approvalMode` has changed: calls that it allows now stop waiting for the user. */
  modeChanged(): void {
    this.#setup.policy.changed();
  }

  /** Uses another model from the next call on. Throws an Error in one line when there is no such model. */
  setModel(settings: ModelSettings): void {
    this.#setup.models.choose(this.#setup.resolve(settings));
  }

  /** Sets the effort from the next call on. Undefined: the provider's default. */
  setReasoningEffort(effort: Sampling["reasoningEffort"]): void {
    this.#setup.sampling = { ...this.#setup.sampling, reasoningEffort: effort };
  }

  /** Fill level and contents of the model's window, estimates before the first answer. */
  get context(): Pick<ContextKeeper, "pressure" | "contents"> {
    return this.#context;
  }

  /** Tokens of the model's context. */
  get contextWindow(): number {
    return modelInfo(this.model.model, this.#setup.modelFacts(this.model)).contextWindow;
  }

  /** True for a model that is known to take no images. */
  get refusesImages(): boolean {
    return refusesImages(this.model, this.#setup.modelFacts(this.model));
  }

  /** Undefined while nothing is compressed. */
  get compression(): Compression | undefined {
    return this.#record.conversation.compression;
  }

  /** Compresses older messages. Undefined when nothing can be dropped. Throws during a turn. */
  async compress(focus: string | undefined, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    if (this.isRunning)
      throw new Error("A turn is running. The agent compresses the conversation itself when necessary.");
    return this.#context.compress(focus, signal);
  }

  /** Records the user's decision on an edit. Returns false when this session did not edit the file. */
  recordReview(review: ReviewOutcome): boolean {
    const { path, outcome, lines } = review;
    const callId = this.checkpoints?.lastEditor(path);
    if (callId === undefined) return false;
    this.#record.journal({ type: "verdict", callId, path, outcome, lines });
    void this.#setup.skills?.library.review(review);
    return true;
  }

  /** Sandbox of its commands. Undefined for another machine. */
  get sandbox(): SandboxState | undefined {
    return this.#setup.host.terminals.sandboxState;
  }

  /** Processes that its commands have started. */
  get processes(): Processes {
    return this.#shell.processes;
  }

  /** Usage of all model calls of the session. */
  get usage(): UsageSum {
    return this.#setup.ledger.sum;
  }

  /** Memory across sessions; undefined when it is off. */
  get memory(): Memory | undefined {
    return this.#setup.memory;
  }

  /** Lasting permissions, for this session and for always. */
  get grants(): Pick<Grants, "list" | "revoke" | "keep"> {
    return this.#setup.grants;
  }

  /** Emits the session's events to its hooks; a delegation emits `subagent_start` and `subagent_stop` of its children. */
  get hooks(): Hooks {
    return this.#turns.hooks;
  }

  /** The session as training data, without what an earlier process knew about its model calls. */
  async trajectory(): Promise<HermesTrajectory> {
    const { trajectoryOf } = await import("../sessions/trajectory.ts");
    return trajectoryOf(this, this.#setup.catalogue, this.#turns, this.#record.systemPrompt);
  }

  /**
   * Runs a command of the session's client where the agent's commands run: in the sandbox, if there is one. Rejects with a
   * sentence for people when it cannot be started.
   */
  runCommand(command: string, signal: AbortSignal): Promise<HermesCommandEnd> {
    return this.#shell.runForClient(command, this.#setup.spillFolder(this.sessionId), signal);
  }

  get toolNames(): readonly string[] {
    return this.#setup.catalogue.callable.map((tool) => tool.name);
  }

  /** Slash commands of its extensions. */
  get commands(): readonly ExtensionCommand[] {
    return this.#setup.extensions.commands();
  }

  /** Its running sub-agents; undefined before the first delegation. */
  get delegation(): Pick<Delegation, "stop" | "steer"> | undefined {
    return this.#subAgents?.delegation;
  }

  /** Waits for slow extensions as a first turn does, and takes their tools unless a turn runs. */
  async settleExtensions(signal: AbortSignal): Promise<void> {
    await this.#setup.extensions.ready(signal);
    if (!this.isRunning) this.#setup.catalogue.refresh(this.#context.window);
  }

  /** MCP servers, plugins, hooks and skills of the session. */
  get extensions(): Pick<Extensions, "items" | "act" | "onChange" | "trust"> {
    return this.#setup.extensions;
  }

  /** Undefined when they are off. */
  get skills(): SessionSkills | undefined {
    return this.#setup.skills;
  }

  get isRunning(): boolean {
    return this.#turns.isRunning;
  }

  /** Loads what the first prompt and the first tool call need. Never rejects. */
  async warmUp(): Promise<void> {
    await this.#setup.warmUp({ hasPrompt: this.#record.systemPrompt !== undefined });
  }

  /** Sends a message and returns the final answer. Rejects with `AgentError` when the model could not be used. */
  async chat(text: string): Promise<string> {
    const result = await this.runConversation({ userMessage: text });
    if (result.fault !== undefined) throw new AgentError(result.fault);
    return result.finalResponse;
  }

  /** Runs one turn to its end. Rejects only when a turn is running already, or on a defect of the agent itself. */
  async runConversation(options: RunOptions): Promise<ConversationResult> {
    void this.#review.cancel();
    const result = await this.#turns.run(options);
    if (this.title === this.#firstTitle) this.#makeTitle(this.#titlesByModel);
    if (result.stopReason === "end_turn") this.#review.turnEnded();
    return result;
  }

  /** Cancels the running turn. Its effects and the text shown so far stay. */
  interrupt(): void {
    this.#turns.interrupt();
  }

  /** Sends a message into the running turn, after its current tool calls. Returns false when no turn runs. */
  steer(message: RunOptions["userMessage"]): boolean {
    return this.#turns.steer(message);
  }

  /** Ends the running turn, auxiliary work and all processes. The agent cannot be used afterwards. */
  async close(): Promise<void> {
    this.interrupt();
    this.#closed.abort();
    await this.#review.cancel();
    await this.#subAgents?.closed();
    if (this.#turns.hasRun) this.hooks.observe("on_session_finalize", { extra: { reason: "close" } });
    await this.hooks.close();
    await Promise.all([this.#shell.dispose(), this.#browser.close(), this.#scripts.close()]);
    await this.#setup.extensions.dispose();
    await this.checkpoints?.close();
    await this.#setup.host.terminals.dispose();
    for (const journal of this.#ownJournals) journal.close();
  }

  /** Judges how far a goal is reached. Rejects with a reason for people when no usable answer comes. */
  async judge(parts: JudgeParts, signal: AbortSignal): Promise<GoalVerdict> {
    const [{ judgeRequest }, { goalVerdict }] = await Promise.all([
      import("../orchestration/evaluation-checks.ts"),
      import("../orchestration/evaluation.ts"),
    ]);
    return goalVerdict(await this.#setup.auxiliary.judge(judgeRequest("other", parts), signal));
  }

  #checkIdle(): void {
    if (this.isRunning) throw new Error(TURN_RUNS);
  }

  /** The built-in interpreter is no language model. */
  get #titlesByModel(): boolean {
    const { auxiliary, options } = this.#setup;
    if (auxiliary.ownModel("title_generation") !== undefined) return true;
    return options.titlesByModel === true && this.model.endpoint.provider !== "offline";
  }

  /** Replaces no title that the user gave. */
  #makeTitle(byModel: boolean): void {
    const before = this.title;
    if (!byModel && before !== undefined) return;
    const { auxiliary, onDefect } = this.#setup;
    const request = { messages: this.messages, auxiliary, byModel, signal: this.#closed.signal, onDefect };
    makeTitle(request, (title) => {
      if (this.title !== before) return;
      this.#firstTitle = byModel ? undefined : title;
      this.setTitle(title);
    });
  }

  #extensionSession(notify: Notifier): ExtensionSession {
    const { cwd, auxiliary, callbacks } = this.#setup;
    return {
      sessionId: this.sessionId,
      cwd,
      auxiliary,
      status: (event) => notify.status(event),
      ask: async (question, signal) => (await callbacks.clarify?.(question, signal)) ?? { kind: "unavailable" },
      approve: callbacks.approval?.bind(callbacks),
      isKnown: (text) => this.#record.isKnown(text),
    };
  }

  #toolContext(callId: string, signal: AbortSignal): Omit<ToolContext, "show"> {
    const { options, host, cwd, callbacks, spillFolder, memory, skills, policy, web, commandSeconds, environment } =
      this.#setup;
    return {
      cwd,
      otherFolders: options.otherFolders ?? [],
      memory,
      cron: options.cron,
      web,
      commandSeconds,
      scriptLimits: options.scriptLimits,
      callId,
      signal,
      isSecret: (path) => policy.isSecret(path),
      host: this.checkpoints?.hostFor(callId) ?? host,
      sessions: options.sessionIndex,
      skills: skills?.library,
      sessionId: this.sessionId,
      taskId: this.#turns.taskId,
      shell: this.#shell.state,
      shellFolder: this.#shell.state.folder,
      processes: this.#shell.processes,
      browser: this.#browser,
      scripts: this.#scripts,
      spillFolder: spillFolder(this.sessionId),
      files: this.#files,
      todos: this.#record.todos,
      ask: recordedQuestions(callbacks, callId, (answer) => this.#record.journal({ type: "answer", ...answer })),
      askPassword: passwordsOf(callbacks.password?.bind(callbacks), environment["SUDO_PASSWORD"]),
      delegate: async (tasks) => {
        const loaded = await import("./child-agent.ts");
        this.#subAgents ??= new loaded.SubAgents(this.#delegating);
        return this.#subAgents.run(callId, tasks, signal);
      },
    };
  }
}
