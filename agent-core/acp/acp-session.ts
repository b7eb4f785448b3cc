/** An open session: its agent, mode and trust, and the updates that its client gets. */
import { setTimeout as delay } from "node:timers/promises";
import type { AgentContext, SessionConfigOption, SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { CompressedEvent, StatusEvent } from "../agent/callbacks.ts";
import type { ApprovalMode } from "../approval/decision.ts";
import { prepareSandbox } from "../host/terminals/sandbox/find-sandbox.ts";
import { extensionMethods } from "../protocol/extensions.ts";
import { notify } from "../protocol/method.ts";
import { processMethods } from "../protocol/processes.ts";
import type { HermesSessionState } from "../protocol/sessions.ts";
import { warmUpModel } from "../providers/stream-model.ts";
import type { Journal } from "../sessions/journal.ts";
import { ProcessWatch } from "../tools/terminal/process-watch.ts";
import type { CommandSession } from "./commands/command.ts";
import { availableCommands as commandList } from "./commands/slash-commands.ts";
import { DEFAULT_MODE, modeOf, modeOption } from "./config-options.ts";
import { compactionUpdate, compressionUpdate } from "./conversation-updates.ts";
import { Goal } from "./goal.ts";
import { ClientUpdates } from "./next-protocol.ts";
import { PromptRunner } from "./prompt-runner.ts";
import { ReplayPages } from "./replay.ts";
import { RestorePoints } from "./restore-points.ts";
import { type AcpSessionOptions, sessionAgent } from "./session-agent.ts";
import { SessionModel } from "./session-model.ts";
import { type Updates, updateCallbacks } from "./update-callbacks.ts";

/** Delay of the preparation after the opening, so that an immediate prompt comes first, and after the first request. Milliseconds. */
const WARM_UP_DELAY_MS = 20;

/** Parts that a prompt needs. A new session makes them after its response, which needs none of them. */
type SessionParts = {
  readonly agent: AIAgent;
  readonly journal: Journal;
  readonly restores: RestorePoints;
  readonly earlier: ReplayPages;
  readonly prompts: PromptRunner;
  readonly processWatch: ProcessWatch | undefined;
  /** For the user. */
  readonly notes: readonly StatusEvent[];
};

export class AcpSession {
  readonly options: AcpSessionOptions;
  readonly id: string;
  /** Working folder, absolute. */
  readonly cwd: string;
  readonly model: SessionModel;
  /** For many updates at once. */
  readonly updates: ClientUpdates;
  readonly #callbacks: Updates;
  #parts: SessionParts | undefined;
  #isAnnouncing: boolean = false;
  /** Aborted by the first prompt. */
  readonly #warming = new AbortController();
  /** Resolves with the first request to a model. */
  readonly #asked = Promise.withResolvers<void>();
  #notesSent: boolean = false;
  #turns = 0;
  /** Open questions to the user. */
  #questions = 0;
  #mode: ApprovalMode;
  #isTrusted: boolean;

  constructor(options: AcpSessionOptions) {
    const { client, identity, params, id, stored, configured, directory, model } = options;
    this.options = options;
    this.id = id;
    this.cwd = params.cwd;
    this.#mode = modeOf(stored?.mode ?? "") ?? DEFAULT_MODE;
    this.#isTrusted = params.trusted;
    this.updates = new ClientUpdates(client, id, identity.capabilities);
    this.#callbacks = updateCallbacks({
      send: (update) => this.send(update),
      costUsd: () => this.agent.setup.ledger.sum.costUsd,
    });
    this.model = new SessionModel({
      directory,
      starting: model,
      agent: () => this.#parts?.agent,
      makeAgent: () => this.agent,
      isRecorded: stored !== undefined,
      configuredEffort: configured.options.sampling?.reasoningEffort,
      record: (entry) => this.#made.journal.append(entry),
      onChange: () => this.#sendOptions(),
    });
  }

  get agent(): AIAgent {
    return this.#made.agent;
  }

  get restores(): RestorePoints {
    return this.#made.restores;
  }

  get earlier(): ReplayPages {
    return this.#made.earlier;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  get configOptions(): SessionConfigOption[] {
    return [modeOption(this.#mode), ...this.model.options];
  }

  /** The user trusts the workspace from now on. */
  trust(): void {
    this.#isTrusted = true;
    this.agent.setup.extensions.trust();
  }

  /** Sends an update. A closed connection drops it. */
  send(update: SessionUpdate): void {
    void this.updates.send(update);
    if (update.sessionUpdate === "session_info_update" && update.title != null) this.options.titled();
  }

  /** Shows how full the window is, before the first answer of this process. An empty session shows nothing. */
  sendUsage(): void {
    if (this.agent.messages.length > 0) this.#callbacks.callbacks.contextPressure(this.agent.context.pressure);
  }

  /**
   * Sends the slash commands and the list of extensions, after the current response: a client drops updates of a session it
   * does not know yet.
   */
  announceExtensions(): void {
    if (this.#isAnnouncing) return;
    this.#isAnnouncing = true;
    afterResponse(async () => {
      await this.agent.setup.skills?.loaded(); // avoids a second list right after this one
      this.#isAnnouncing = false;
      const { extensions } = this.agent.setup;
      const availableCommands = commandList(extensions.commands());
      this.send({ sessionUpdate: "available_commands_update", availableCommands });
      const { client, identity } = this.options;
      if (identity.ours.extensions !== true) return;
      notify(client, extensionMethods.changed, { sessionId: this.id, items: extensions.items() });
    });
  }

  setMode(mode: ApprovalMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#made.journal.append({ type: "mode", mode });
    this.agent.setup.policy.changed();
    this.send({ sessionUpdate: "current_mode_update", currentModeId: mode });
    this.#sendOptions();
  }

  /**
   * Sends the notes, and prepares the first request and the first tool call while the user types. After an earlier prompt its request comes first:
   * the processor has little to do before the answer.
   */
  warmUp(hasSandbox: boolean): void {
    afterResponse(() => this.#sendNotes());
    const { signal } = this.#warming;
    const prepare = async (): Promise<void> => {
      if (!signal.aborted) await warmUpModel(this.agent.setup.models.current, signal);
      if (signal.aborted) await this.#asked.promise.then(() => delay(WARM_UP_DELAY_MS, undefined, { ref: false }));
      if (hasSandbox) void prepareSandbox();
      await this.agent.warmUp();
    };
    setTimeout(prepare, WARM_UP_DELAY_MS).unref();
  }

  get prompts(): PromptRunner {
    return this.#made.prompts;
  }

  cancel(): void {
    this.#parts?.prompts.cancel();
  }

  /** Lines that are not in the journal yet. */
  get unsaved(): Buffer | undefined {
    return this.#parts?.journal.unsaved;
  }

  /** Stores a new session without messages, for a client that keeps its id. */
  keep(): void {
    const { stored, identity } = this.options;
    // Our extension lists no session without messages.
    if (stored === undefined && identity.ours.sessionIndex !== true && this.agent.transcript.length === 0)
      this.#made.journal.append({ type: "mode", mode: this.#mode });
  }

  /** Resolves to the journal if it has lines that could not be saved. */
  async close(): Promise<Journal | undefined> {
    this.#parts?.prompts.cancel(new Error("the session ended"));
    this.#warming.abort();
    this.model.dispose();
    if (this.#parts === undefined) return undefined;
    const { agent, journal, prompts, processWatch } = this.#parts;
    processWatch?.dispose();
    await Promise.all([prompts.idle(), agent.close()]);
    journal.close();
    return journal.unsaved === undefined ? undefined : journal;
  }

  get #made(): SessionParts {
    this.#parts ??= this.#makeParts();
    return this.#parts;
  }

  #makeParts(): SessionParts {
    const { options } = this;
    const { callbacks, endTurn } = this.#callbacks;
    const { client, identity, id, stored, log, notes, beginTurn } = options;
    const { status } = callbacks;
    const { ours } = identity;
    const showsCompactions = identity.capabilities.session?.compaction != null;
    const send = (update: SessionUpdate): void => this.send(update);
    const trusted = (): boolean => this.#isTrusted;
    const { agent, journal, ...own } = sessionAgent(options, {
      trusted,
      approvalMode: () => this.#mode,
      asking: (count) => this.#showState(0, count),
      status,
      callbacks: {
        ...callbacks,
        thinking: (event) => {
          this.#asked.resolve();
          callbacks.thinking(event);
        },
        compressed: (event) => {
          this.#sendCompression(event);
          if (showsCompactions) this.send(compactionUpdate(this.agent.session.conversation.compression));
          else if (ours.compressions !== true) status({ severity: "info", message: compressionNotice(event) });
        },
        status: (event) => {
          status(event);
          this.model.announce(); // a fallback to another model announces itself by a status
        },
      },
    });
    this.model.attach(agent);
    agent.setup.extensions.onChange(() => this.announceExtensions());
    const goal = new Goal({ agent, stored: stored?.goal, record: (entry) => journal.append(entry), send });
    const forCommands = (signal: AbortSignal): CommandSession => ({ ...this.#forCommands(signal), goal });
    return {
      agent,
      journal,
      restores: new RestorePoints({ agent, send, trusted, readStored: () => options.readStored(id) }),
      earlier: new ReplayPages(() => agent.transcript, stored),
      prompts: new PromptRunner({
        agent,
        journal,
        session: options,
        prompted: () => {
          this.#warming.abort();
          this.#sendNotes();
        },
        status,
        endTurn,
        forCommands,
        goal,
        beginTurn: () => {
          this.#showState(1, 0);
          const end = beginTurn();
          return () => {
            this.#showState(-1, 0);
            end();
          };
        },
        model: this.model,
        saveTrajectory: options.configured.config.agent.saveTrajectories
          ? (completed) => this.#saveTrajectory(completed)
          : undefined,
      }),
      processWatch: ours.processes === true ? watchProcesses(agent, client, id, log) : undefined,
      notes: [...notes.map((message) => ({ severity: "warning" as const, message })), ...own.notes],
    };
  }

  /** Shows lists in this and in other processes what the session does. */
  #showState(turns: number, questions: number): void {
    this.#turns += turns;
    this.#questions += questions;
    const state: HermesSessionState = this.#questions > 0 ? "asks" : "working";
    this.#made.journal.note(this.#turns > 0 ? state : undefined);
  }

  #forCommands(signal: AbortSignal): Omit<CommandSession, "goal"> {
    const { params, sessions, readStored, learning, jobs, configured } = this.options;
    const { agent, model, mode, restores, id } = this;
    return {
      id,
      agent,
      model,
      mode,
      restores,
      cwd: params.cwd,
      worktrees: configured.config.worktrees,
      signal,
      sessions,
      readStored,
      learning,
      jobs,
      send: (update) => this.send(update),
      setMode: (next) => this.setMode(next),
    };
  }

  /** A folder that cannot be written is reported, and costs no answer. */
  async #saveTrajectory(completed: boolean): Promise<void> {
    const { keepTrajectory } = await import("../sessions/trajectory.ts");
    const message = await keepTrajectory(this.cwd, this.agent, completed);
    if (message !== undefined) this.#callbacks.callbacks.status({ severity: "warning", message });
  }

  #sendCompression(event: CompressedEvent): void {
    const { transcript, compression } = this.agent.session.conversation;
    if (compression !== undefined) this.send(compressionUpdate(transcript, compression, event));
  }

  #sendNotes(): void {
    if (this.#notesSent) return;
    this.#notesSent = true;
    for (const note of this.#made.notes) this.#callbacks.callbacks.status(note);
  }

  #sendOptions(): void {
    this.send({ sessionUpdate: "config_option_update", configOptions: this.configOptions });
  }
}

function compressionNotice({ messages, tokensBefore, tokensAfter }: CompressedEvent): string {
  const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en"));
  return `Compressed ${messages} messages (${before} → ${after} tokens).`;
}

function watchProcesses(
  { shell: { processes } }: AIAgent,
  client: AgentContext,
  sessionId: string,
  log: (line: string) => void,
): ProcessWatch {
  return new ProcessWatch({
    processes,
    onChange: (views) => notify(client, processMethods.changed, { sessionId, processes: views }),
    onDefect: log,
  });
}

/**
 * Runs the work once the current response has left: a client drops updates of a session that it does not know yet. The
 * response is written in the next round of the event loop, and the work must not delay it.
 */
function afterResponse(work: () => unknown): void {
  setImmediate(() => setImmediate(work));
}
