/** Runs the turns of an agent, one at a time: gives the loop its ports, and records the result of each turn. */
import type { Effect } from "../approval/decision.ts";
import type { Hooks } from "../hooks/hook.ts";
import { type ContentPart, type Message, typedText, type UserMessage } from "../messages/message.ts";
import { newId } from "../platform/new-id.ts";
import { sameFolderAs } from "../platform/paths.ts";
import { PLACE_HEAD } from "../prompt/system-prompt.ts";
import type { HermesModelStep } from "../protocol/trajectory.ts";
import { callModel } from "../providers/call/call-model.ts";
import type { Fault } from "../providers/fault.ts";
import type { EntryOf, StoredDiff } from "../sessions/entry.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import { writeSpillFile } from "../sessions/session-files.ts";
import { WatchedEdits } from "../tools/edit-problems.ts";
import type { FileDiff, Tool } from "../tools/tool.ts";
import type { AgentParts } from "./agent-setup.ts";
import type { AgentShell } from "./agent-shell.ts";
import { PartialAnswer } from "./answer-reader.ts";
import type { StepEvent, ToolProgressEvent } from "./callbacks.ts";
import { type ContextKeeper, withheldFrom } from "./context-keeper.ts";
import { type ConversationResult, resultOf } from "./conversation-result.ts";
import { InferredVerdicts, readFromDisk } from "./inferred-verdicts.ts";
import { IterationBudget } from "./iteration-budget.ts";
import { journalledProgress, type Notifier } from "./notifier.ts";
import { lastEditsOf } from "./stored-agent.ts";
import { runTurn, type Turn } from "./turn.ts";
import { sessionHooks, TurnHooks } from "./turn-hooks.ts";

export type RunOptions = {
  readonly userMessage: string | readonly ContentPart[];
  /** Added to the system prompt of a new session. */
  readonly systemMessage?: string;
  /** Replaces the history before the message is added. */
  readonly conversationHistory?: readonly Message[];
  /** Id of the task across calls. Default: a new one. */
  readonly taskId?: string;
  /** Cancels the turn. */
  readonly signal?: AbortSignal;
};

/** Agent whose turns run. */
type TurnAgent = Omit<AgentParts, "hooks"> & { readonly shell: AgentShell; readonly context: ContextKeeper };

export type TurnPorts = {
  /** Converts a diff to its form in the journal. */
  readonly storeDiff: (diff: FileDiff) => StoredDiff;
  /** Receives verdicts that are inferred from the files; absent for a client that reports them. */
  readonly onInferred: ((verdict: ReviewOutcome) => void) | undefined;
  /** Called before the first request of each turn. */
  readonly beginTurn: () => void;
  /** Called after each turn; `stopReason` is undefined after a defect. */
  readonly endTurn: (stopReason: ConversationResult["stopReason"] | undefined) => void;
};

/** Message to a user whose request must wait for the end of the turn. */
export const TURN_RUNS = "A turn is running. Stop it before you undo or restore.";

/** The end of a turn waits this long for the problems of its edits. Milliseconds. */
const SETTLE_MS = 1_500;

const MOVED = "[The session goes on in another folder. Relative paths and commands refer to it from now on.]";

const PLAN_MODE = "[Plan mode is on: you can read, search and run commands that only read. Every change is refused.]";
const PLAN_WANTED =
  "[Find out what the task needs, then end with a plan for the user's approval: the steps, the files to change, and how to check the result.]";

export class TurnRunner {
  readonly hooks: Hooks;
  readonly #agent: TurnAgent;
  readonly #ports: TurnPorts;
  /** Notifies the callbacks, and records usage, the display of tool calls and the partial answer. */
  readonly #notify: Notifier;
  readonly #partial = new PartialAnswer();
  readonly #verdicts: InferredVerdicts;
  readonly #edits = new WatchedEdits();
  #steering: UserMessage[] = [];
  #hasRun = false;
  #running: AbortController | undefined;
  /** Start of the turn on the monotonic clock. */
  #begunAt = 0;
  /** Undefined before the model's first text or thought in the turn. */
  #firstTokenMs: number | undefined;
  #budget: IterationBudget | undefined;
  #taskId = "";
  /** Model calls of this process, in order. */
  readonly steps: HermesModelStep[] = [];
  readonly failedCalls: Set<string> = new Set<string>();

  constructor(agent: TurnAgent, ports: TurnPorts) {
    this.#agent = agent;
    this.#ports = ports;
    const { session, setup, context } = agent;
    const { stored } = setup.options;
    this.#verdicts = new InferredVerdicts(readFromDisk, stored && lastEditsOf(stored));
    const notify = this.#partial.watch(agent.notify);
    this.#notify = {
      ...notify,
      step: (event) => {
        const costUsd = event.usage && setup.ledger.add(event.usage, setup.models.current);
        if (event.usage !== undefined) context.recordUsage(event.usage, event.added[0]);
        this.#addStep(event, costUsd);
        notify.step(event);
        notify.contextPressure(context.pressure);
      },
      streamDelta: (event) => {
        this.#firstTokenMs ??= Math.round(setup.clock.monotonicNow() - this.#begunAt);
        notify.streamDelta(event);
      },
      reasoning: (event) => {
        this.#firstTokenMs ??= Math.round(setup.clock.monotonicNow() - this.#begunAt);
        notify.reasoning(event);
      },
      toolProgress: journalledProgress(
        (event) => this.#emitProgress(event),
        (entry) => session.journal(entry),
        ports.storeDiff,
      ),
    };
    this.hooks = sessionHooks({ ...agent, notify: this.#notify }, () => this.#taskId);
  }

  /** True once a turn has begun since the session was opened. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Iterations of the last turn; undefined before the first one. */
  get budget(): IterationBudget | undefined {
    return this.#budget;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs one turn to its end. Rejects only when a turn is running already, or on a defect of the agent itself. */
  async run(options: RunOptions): Promise<ConversationResult> {
    if (this.#running !== undefined) throw new Error("A turn is already running. Wait until it ends, or stop it.");
    const running = new AbortController();
    this.#running = running;
    this.#begunAt = this.#agent.setup.clock.monotonicNow();
    this.#firstTokenMs = undefined;
    const signal = options.signal ? AbortSignal.any([options.signal, running.signal]) : running.signal;
    let result: ConversationResult | undefined;
    try {
      result = await this.#run(options, signal);
      return result;
    } finally {
      this.#running = undefined;
      this.#notify.state({ state: "idle" });
      this.#recordUnusedSteering();
      this.#ports.endTurn(result?.stopReason);
    }
  }

  /** Cancels the running turn. Its effects stay. */
  interrupt(): void {
    this.#running?.abort();
  }

  /** Queues a message for the running turn. Returns false, and keeps nothing, when no turn runs. */
  steer(message: RunOptions["userMessage"]): boolean {
    if (this.#running === undefined) return false;
    this.#steering.push({ role: "user", content: contentOf(message) });
    return true;
  }

  /** Task of the running turn, or of the last one. */
  get taskId(): string {
    return this.#taskId;
  }

  async #run(options: RunOptions, signal: AbortSignal): Promise<ConversationResult> {
    this.#taskId = options.taskId ?? newId();
    const { session, shell, setup, sessionId, context } = this.#agent;
    if (options.conversationHistory) session.replaceHistory(options.conversationHistory);
    this.#notify.prompted({ position: session.add({ role: "user", content: contentOf(options.userMessage) }) });
    this.#ports.beginTurn();
    const shellOpened = shell.open(signal, (event) => this.#notify.status(event));
    await setup.extensions.ready(signal);
    setup.catalogue.refresh(context.window);
    // The prompt precedes the data of extensions, which add only facts that it lacks.
    const prompt = this.#prepareSystemPrompt(options);
    await Promise.all([prompt, this.#attach(options.userMessage), shellOpened, this.#inferVerdicts()]);
    const turn = this.#turn(session.systemPrompt ?? "", signal);
    this.#hasRun = true;
    const outcome = await runTurn(turn);
    const { end } = outcome;
    if (!setup.isSubAgent) await shell.endTurn((message) => this.#notify.status({ severity: "warning", message }));
    turn.hooks.end(end, session.conversation.messages);
    const partial = this.#partial.cutOffBy(end, signal);
    if (partial !== undefined) this.#add(partial);
    const { messages } = session.conversation;
    const result = resultOf(outcome, { messages, sessionId, taskId: this.#taskId });
    if (outcome.usages.length > 0) setup.ledger.record(result.usage, setup.models.current, context.count);
    const error = end.stopReason === "error" ? failureOf(end.fault) : {};
    const waited = this.#firstTokenMs === undefined ? {} : { firstTokenMs: this.#firstTokenMs };
    session.journal({ type: "turn-end", stopReason: end.stopReason, ...error, ...waited });
    if (this.#ports.onInferred !== undefined) await this.#verdicts.endTurn();
    if (!setup.isSubAgent) await setup.skills?.endTurn(end.stopReason === "end_turn", turn.services.changedPaths);
    await session.sync();
    if (end.stopReason !== "cancelled") await this.hooks.idle(signal);
    return result;
  }

  #turn(systemPrompt: string, signal: AbortSignal): Turn {
    const { session, context, setup } = this.#agent;
    const { maxIterations, options, catalogue } = setup;
    const changedPaths = new Set<string>();
    const { hooks } = this;
    const { platform } = options;
    const { model } = setup.models.current;
    const budget = new IterationBudget(maxIterations, options.parentBudget);
    this.#budget = budget;
    return {
      hooks: new TurnHooks({ hooks, model, platform, isFirst: !this.#hasRun, changedPaths, notes: this.#planNotes() }),
      budget,
      systemPrompt,
      appendOnly: options.appendOnly === true,
      history: () => session.conversation.messages,
      record: (message) => this.#add(message),
      compressIfNeeded: (isFirst) => {
        catalogue.refresh(); // a server may have added tools
        return context.compressIfNeeded(isFirst, signal);
      },
      callModel: (messages, withTools, callSignal) =>
        callModel(
          {
            messages: this.#withPrefill(messages),
            tools: withTools ? catalogue.tools.map((tool) => tool.schema) : [], // the same ones to the end: a cached prefix begins with them
            sampling: setup.sampling,
            onOverflow: async (refused, overflowSignal) => {
              const shorter = await context.compressAfterRefusal(refused, overflowSignal);
              return shorter && this.#withPrefill(shorter);
            },
            onLeftOut: (left) => context.leaveOut(left),
          },
          setup.route,
          callSignal,
        ),
      takeSteering: () => this.#takeSteering(),
      notices: () => this.#notices(),
      lateErrors: () => this.#lateErrors(signal),
      notify: this.#notify,
      signal,
      services: {
        get tools() {
          return catalogue.callable;
        },
        withheld: (tool: Tool) => withheldFrom(tool, context),
        cwd: setup.cwd,
        otherFolders: options.otherFolders ?? [],
        temporaryFolder: () => setup.host.terminals.temporaryFolder?.(),
        shell: this.#agent.shell.view,
        policy: { ...setup.policy, decide: (effect) => setup.policy.decide(this.#withNames(effect)) },
        hooks,
        changedPaths,
        ask: setup.callbacks.approval?.bind(setup.callbacks),
        modelApproval: setup.modelApproval,
        notify: this.#notify,
        recordAnswer: (answer) => session.journal({ type: "answer", ...answer }),
        monotonicNow: () => setup.clock.monotonicNow(),
        contextFor: (callId, callSignal) => this.#agent.contextFor(callId, callSignal),
        edits: this.#edits,
        writeSpill: writeSpillFile,
        subfolderContext: setup.subfolderContext,
      },
    };
  }

  /** The messages with the prefill after the system prompt, so that the start of all requests stays the same. */
  #withPrefill(messages: readonly Message[]): readonly Message[] {
    const { prefillMessages = [] } = this.#agent.setup.options;
    return messages.toSpliced(messages[0]?.role === "system" ? 1 : 0, 0, ...prefillMessages);
  }

  /** Marks a note that a tool says, and an effect whose addresses the session names. In a sub-agent nothing counts as named, since a model wrote its task. */
  #withNames(effect: Effect): Effect {
    const { session, setup } = this.#agent;
    if (!("sent" in effect) || setup.isSubAgent) return session.withSource(effect);
    return effect.sent.every((address) => session.names(address)) ? { ...effect, isNamed: true } : effect;
  }

  #add(message: Message): number {
    if (message.role === "assistant") this.#partial.clear();
    return this.#agent.session.add(message);
  }

  /** The event comes right after its messages were added. */
  #addStep({ usage, tokens, added }: StepEvent, costUsd: number | undefined): void {
    const { session, setup } = this.#agent;
    this.steps.push({
      position: session.conversation.next - added.length,
      at: setup.clock.now(),
      model: setup.models.current.model,
      ...(usage && { usage }),
      ...(costUsd !== undefined && { costUsd }),
      ...(tokens && { tokens }),
    });
  }

  #emitProgress(event: ToolProgressEvent): void {
    if (event.type === "finished" && !event.result.ok) this.failedCalls.add(event.callId);
    if (event.type === "finished") for (const diff of event.result.diffs ?? []) this.#verdicts.edited(diff);
    this.#agent.notify.toolProgress(event);
  }

  /** Infers decisions on edits from the files, for editors that report none. */
  async #inferVerdicts(): Promise<void> {
    const { onInferred } = this.#ports;
    if (onInferred !== undefined) for (const verdict of await this.#verdicts.infer()) onInferred(verdict);
  }

  async #prepareSystemPrompt({ systemMessage }: RunOptions): Promise<void> {
    const { session, setup } = this.#agent;
    if (session.systemPrompt === undefined) session.freezeSystemPrompt(await setup.buildSystemPrompt(systemMessage));
  }

  /**
   * Adds the new folder of a session that is continued elsewhere, and the extensions' data for a message. The offline
   * interpreter reads only what the user typed.
   */
  async #attach(message: RunOptions["userMessage"]): Promise<void> {
    const { session, setup } = this.#agent;
    const { toldFolder = setup.cwd } = session;
    const moved = sameFolderAs(setup.cwd)(toldFolder) ? [] : [`${MOVED}\n${PLACE_HEAD}${setup.cwd}`];
    if (moved.length > 0) session.journal({ type: "folder", cwd: setup.cwd });
    const attached = [...moved, ...(await setup.extensions.attachments(typedText(message)))];
    const isRead = attached.length > 0 && setup.models.current.mode !== "offline";
    if (isRead) session.add({ role: "user", content: attached.join("\n\n"), synthetic: true });
  }

  /** The offline interpreter reads only what the user typed. */
  #planNotes(): readonly string[] {
    const { policy, models, isSubAgent } = this.#agent.setup;
    if (!policy.isPlanning() || models.current.mode === "offline") return [];
    return isSubAgent ? [PLAN_MODE] : [PLAN_MODE, PLAN_WANTED];
  }

  async #notices(): Promise<readonly string[]> {
    const { shell, context, setup } = this.#agent;
    return [
      ...(await shell.notices(setup.policy)),
      ...this.#edits.takeLate(),
      ...(context.warning === undefined ? [] : [context.warning]),
    ];
  }

  /** The offline interpreter reads only what the user typed. */
  async #lateErrors(signal: AbortSignal): Promise<readonly string[]> {
    await this.#edits.settled(SETTLE_MS, signal);
    signal.throwIfAborted();
    const isRead = this.#edits.hasLateErrors && this.#agent.setup.models.current.mode !== "offline";
    return isRead ? this.#edits.takeLate() : [];
  }

  #takeSteering(): readonly UserMessage[] {
    const taken = this.#steering;
    this.#steering = [];
    return taken;
  }

  /** A message that missed its turn precedes the next prompt. */
  #recordUnusedSteering(): void {
    for (const message of this.#takeSteering()) {
      this.#notify.steered({ message, position: this.#agent.session.add(message) });
    }
  }
}

function contentOf(message: RunOptions["userMessage"]): string | ContentPart[] {
  if (typeof message === "string") return message.toWellFormed();
  const parts = message.filter((part) => part.type !== "text" || part.text !== ""); // servers refuse an empty one
  return parts.map((part) => (part.type === "text" ? { ...part, text: part.text.toWellFormed() } : part));
}

/** Reason of a failed turn, for the journal. */
function failureOf({ message, kind, keyFor }: Fault): Pick<EntryOf<"turn-end">, "error" | "fault" | "keyFor"> {
  return { error: message, fault: kind, ...(keyFor !== undefined && { keyFor }) };
}
