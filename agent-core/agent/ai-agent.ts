import { SessionBrowser } from "../browser/session-browser.ts";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import { SessionScripts } from "../execute-code/session-scripts.ts";
import type { Hooks } from "../hooks/hook.ts";
import type { Message } from "../messages/message.ts";
import type { Delegation } from "../orchestration/delegation.ts";
import type { GoalVerdict } from "../orchestration/evaluation.ts";
import type { JudgeParts } from "../orchestration/evaluation-checks.ts";
import type { HermesSettled } from "../protocol/files.ts";
import type { HermesTrajectory } from "../protocol/trajectory.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import type { Journal } from "../sessions/journal.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { newSessionId } from "../sessions/session-files.ts";
import { FileMemory } from "../tools/seen-files.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { type AgentParts, type AgentSetup, sessionCheckpoints, setUpAgent } from "./agent-setup.ts";
import { AgentShell, hasRunCommands } from "./agent-shell.ts";
import { passwordsOf, recordedQuestions } from "./approvals.ts";
import type { CompressedEvent } from "./callbacks.ts";
import type { SubAgents } from "./child-agent.ts";
import { ContextKeeper } from "./context-keeper.ts";
import { AgentError, type ConversationResult } from "./conversation-result.ts";
import type { ExtensionSession } from "./extensions.ts";
import { MemoryReview } from "./memory-review.ts";
import { type Notifier, notifier } from "./notifier.ts";
import { SessionRecord } from "./session-record.ts";
import { makeTitle } from "./session-title.ts";
import { openStored, withStored } from "./stored-agent.ts";
import { type RunOptions, TURN_RUNS, TurnRunner } from "./turn-runner.ts";

/** Time without a turn after which a session's messages leave the memory. Milliseconds. */
const IDLE_MS = 600_000;

export class AIAgent implements AgentParts {
  readonly sessionId: string;
  readonly setup: AgentSetup;
  /** Messages, title and plan. Only the agent's own methods take messages back. */
  readonly session: SessionRecord;
  readonly notify: Notifier;
  /** Copies of changed files, for restores. Undefined without a journal. */
  readonly checkpoints: Checkpoints | undefined;
  readonly shell: AgentShell;
  /** Fill level and contents of the model's window, estimates before the first answer. */
  readonly context: ContextKeeper;
  readonly turns: TurnRunner;
  readonly #files: FileMemory;
  readonly #browser: SessionBrowser;
  readonly #scripts = new SessionScripts();
  readonly #review: MemoryReview;
  /** Loaded with the first delegation. */
  #subAgents: SubAgents | undefined;
  /** Ends auxiliary work outside the turns. */
  readonly #closed = new AbortController();
  /** Title until a model has written one; undefined afterwards. */
  #firstTitle: string | undefined;
  /** Journals that `load` opened. */
  readonly #ownJournals: Journal[] = [];
  #idle: NodeJS.Timeout | undefined;

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
    const session = new SessionRecord({ ...options, environment: setup.environment, notify });
    this.sessionId = options.sessionId ?? newSessionId(setup.clock.now());
    this.setup = setup;
    this.session = session;
    this.notify = {
      ...notify,
      status: (event) => {
        const { message: text, memoryCall: callId } = event;
        // The user may undo these writes later.
        if (callId !== undefined)
          session.journal({ type: "notice", text, callId, position: session.conversation.next });
        notify.status(event);
      },
    };
    const folder = setup.spillFolder(this.sessionId);
    this.#browser = new SessionBrowser(options.browser ?? {}, () => folder);
    this.#files = new FileMemory(() => session.conversation.next);
    this.shell = new AgentShell({
      terminals: setup.host.terminals,
      cwd: setup.cwd,
      folder,
      wasUsed: hasRunCommands(session.conversation.messages),
      page: () => this.#browser.address,
    });
    this.checkpoints = sessionCheckpoints(setup, {
      position: () => session.conversation.next,
      journal: (entry) => session.journal(entry),
      notifyUser: (message) => notify.status({ severity: "warning", message }),
    });
    this.#review = new MemoryReview(this);
    this.context = new ContextKeeper(this, (signal) => this.#review.beforeSummary(signal));
    this.turns = new TurnRunner(this, {
      storeDiff: (diff) => this.checkpoints?.storeDiff(diff) ?? { ...diff },
      onInferred: options.infersVerdicts ? (verdict) => void this.recordReview(verdict) : undefined,
      beginTurn: () => this.#beginTurn(),
      endTurn: (stopReason) => this.#endTurn(stopReason),
    });
    setup.extensions.begin(this.#extensionSession());
    this.#restLater();
  }

  /** Emits the session's events to its hooks; a delegation emits `subagent_start` and `subagent_stop` of its children. */
  get hooks(): Hooks {
    return this.turns.hooks;
  }

  /** Its running sub-agents; undefined before the first delegation. */
  get delegation(): Pick<Delegation, "stop" | "steer"> | undefined {
    return this.#subAgents?.delegation;
  }

  /** The messages that the model gets, without the system prompt. */
  get messages(): readonly Message[] {
    return this.session.conversation.messages;
  }

  /** All messages that were not taken back, compressed or not. */
  get transcript(): readonly TranscriptEntry[] {
    return this.session.conversation.transcript;
  }

  /** Takes back the messages from this position on. `isRetry`: the next one asks again. Throws during a turn. */
  rewind(keep: number, isRetry = false): void {
    this.#checkIdle();
    this.session.rewind(keep, isRetry);
    this.#files.rewind(keep);
    void this.setup.skills?.library.takeBack();
    if (keep === 0) this.hooks.observe("on_session_reset", { extra: { reason: "rewind" } });
  }

  /** Reverts the last rewind. Returns the first position that returned; undefined for none. Throws during a turn. */
  unrewind(): number | undefined {
    this.#checkIdle();
    const first = this.session.unrewind();
    if (first !== undefined) this.#files.unrewind();
    return first;
  }

  /** Continues another session in this one, whose own messages are taken back. Throws during a turn. */
  resumeFrom(stored: StoredSession): void {
    this.#checkIdle();
    this.session.resumeFrom(stored);
    this.hooks.observe("on_session_reset", { extra: { reason: "resume" } });
  }

  /** Compresses older messages. Undefined when nothing can be dropped. Throws during a turn. */
  async compress(focus: string | undefined, signal: AbortSignal): Promise<CompressedEvent | undefined> {
    if (this.turns.isRunning)
      throw new Error("A turn is running. The agent compresses the conversation itself when necessary.");
    return this.context.compress(focus, signal);
  }

  /** Records the user's decision on an edit. Returns false when this session did not edit the file. */
  recordReview(review: ReviewOutcome): boolean {
    const { path, outcome, lines } = review;
    const callId = this.checkpoints?.lastEditor(path);
    if (callId === undefined) return false;
    this.session.journal({ type: "verdict", callId, path, outcome, lines });
    void this.setup.skills?.library.review(review);
    return true;
  }

  /** Keeps the user's decision about a file that this session edited, for the cards of a replay. */
  recordSettled({ path, outcome }: HermesSettled): void {
    if (this.checkpoints?.lastEditor(path) !== undefined) this.session.settle({ path, outcome });
  }

  /** The session as training data, without what an earlier process knew about its model calls. */
  async trajectory(): Promise<HermesTrajectory> {
    const { trajectoryOf } = await import("../sessions/trajectory.ts");
    return trajectoryOf(this);
  }

  /** Waits for slow extensions as a first turn does, and takes their tools unless a turn runs. */
  async settleExtensions(signal: AbortSignal): Promise<void> {
    await this.setup.extensions.ready(signal);
    if (!this.turns.isRunning) this.setup.catalogue.refresh(this.context.window);
  }

  /** Loads what the first prompt and the first tool call need. Never rejects. */
  async warmUp(): Promise<void> {
    await this.setup.warmUp({ hasPrompt: this.session.systemPrompt !== undefined });
  }

  /** Sends a message and returns the final answer. Rejects with `AgentError` when the model could not be used. */
  async chat(text: string): Promise<string> {
    const result = await this.runConversation({ userMessage: text });
    if (result.fault !== undefined) throw new AgentError(result.fault);
    return result.finalResponse;
  }

  /** Runs one turn to its end, as `turns.run`. */
  runConversation(options: RunOptions): Promise<ConversationResult> {
    return this.turns.run(options);
  }

  /** Ends the running turn, auxiliary work and all processes. The agent cannot be used afterwards. */
  async close(): Promise<void> {
    this.turns.interrupt();
    clearTimeout(this.#idle);
    this.#closed.abort();
    await this.#review.cancel();
    await this.#subAgents?.closed();
    if (this.turns.hasRun) this.hooks.observe("on_session_finalize", { extra: { reason: "close" } });
    await this.hooks.close();
    await Promise.all([this.shell.dispose(), this.#browser.close(), this.#scripts.close()]);
    await this.setup.extensions.dispose();
    await this.checkpoints?.close();
    await this.setup.host.terminals.dispose();
    for (const journal of this.#ownJournals) journal.close();
  }

  /** Judges how far a goal is reached. Rejects with a reason for people when no usable answer comes. */
  async judge(parts: JudgeParts, signal: AbortSignal): Promise<GoalVerdict> {
    const [{ judgeRequest }, { goalVerdict }] = await Promise.all([
      import("../orchestration/evaluation-checks.ts"),
      import("../orchestration/evaluation.ts"),
    ]);
    return goalVerdict(await this.setup.auxiliary.judge(judgeRequest("other", parts), signal));
  }

  #beginTurn(): void {
    void this.#review.cancel();
    clearTimeout(this.#idle);
    this.checkpoints?.beginTurn();
    // The list of sessions names a running one. The title of a model for titles waits for the end of the turn.
    if (this.setup.auxiliary.ownModel("title_generation") === undefined) this.#makeTitle(false);
  }

  #endTurn(stopReason: ConversationResult["stopReason"] | undefined): void {
    this.#restLater();
    if (stopReason === undefined) return;
    if (this.session.title === this.#firstTitle) this.#makeTitle(this.#titlesByModel);
    if (stopReason === "end_turn") this.#review.turnEnded();
  }

  #restLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.session.conversation.rest(), IDLE_MS).unref();
  }

  #checkIdle(): void {
    if (this.turns.isRunning) throw new Error(TURN_RUNS);
  }

  /** The built-in interpreter is no language model. */
  get #titlesByModel(): boolean {
    const { auxiliary, options, models } = this.setup;
    if (auxiliary.ownModel("title_generation") !== undefined) return true;
    return options.titlesByModel === true && models.current.endpoint.provider !== "offline";
  }

  /** Replaces no title that the user gave. */
  #makeTitle(byModel: boolean): void {
    const before = this.session.title;
    if (!byModel && before !== undefined) return;
    const { auxiliary, onDefect } = this.setup;
    const request = { messages: this.messages, auxiliary, byModel, signal: this.#closed.signal, onDefect };
    makeTitle(request, (title) => {
      if (this.session.title !== before) return;
      this.#firstTitle = byModel ? undefined : title;
      this.session.setTitle(title);
    });
  }

  #extensionSession(): ExtensionSession {
    const { cwd, auxiliary, callbacks } = this.setup;
    return {
      sessionId: this.sessionId,
      cwd,
      auxiliary,
      status: (event) => this.notify.status(event),
      ask: async (question, signal) => (await callbacks.clarify?.(question, signal)) ?? { kind: "unavailable" },
      approve: callbacks.approval?.bind(callbacks),
      isKnown: (text) => this.session.isKnown(text),
    };
  }

  contextFor(callId: string, signal: AbortSignal): ToolContext {
    const { options, host, cwd, callbacks, spillFolder, memory, skills, policy, web, commandSeconds, environment } =
      this.setup;
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
      show: (activity) => this.notify.toolProgress({ type: "activity", callId, activity }),
      isSecret: (path) => policy.isSecret(path),
      host: this.checkpoints?.hostFor(callId) ?? host,
      sessions: options.sessionIndex,
      skills: skills?.library,
      sessionId: this.sessionId,
      taskId: this.turns.taskId,
      shell: this.shell.state,
      shellFolder: this.shell.state.folder,
      processes: this.shell.processes,
      browser: this.#browser,
      scripts: this.#scripts,
      spillFolder: spillFolder(this.sessionId),
      files: this.#files,
      todos: this.session.todos,
      ask: recordedQuestions(callbacks, callId, (answer) => this.session.journal({ type: "answer", ...answer })),
      askPassword: passwordsOf(callbacks.password?.bind(callbacks), environment["SUDO_PASSWORD"]),
      delegate: async (tasks) => {
        const loaded = await import("./child-agent.ts");
        this.#subAgents ??= new loaded.SubAgents(this, (childOptions) => new AIAgent(childOptions));
        return this.#subAgents.run(callId, tasks, signal);
      },
    };
  }
}
