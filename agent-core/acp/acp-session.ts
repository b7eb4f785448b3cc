/** A session as an ACP client has it open: the agent, its mode, and the prompts waiting for their turn. */
import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
} from "@zed-industries/agent-client-protocol";
import type { AIAgentOptions } from "../agent/agent-setup.ts";
import { AIAgent, type RunOptions } from "../agent/ai-agent.ts";
import type { CompressedEvent, StatusEvent } from "../agent/callbacks.ts";
import type { ConfiguredAgent } from "../agent/configured-agent.ts";
import type { ModelDirectory } from "../agent/model-directory.ts";
import type { ApprovalMode } from "../approval/policy.ts";
import { sessionsFolder, spaceReserveFile } from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { settingsOf } from "../providers/choice.ts";
import { warmUpModel } from "../providers/stream-model.ts";
import type { SessionIndex } from "../sessions/index/session-index.ts";
import { Journal } from "../sessions/journal.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { journalPath } from "../sessions/session-files.ts";
import { SpaceReserve } from "../sessions/space-reserve.ts";
import { sessionHost } from "./acp-host.ts";
import { askPermission, askQuestion } from "./ask-user.ts";
import type { CommandSession } from "./commands/command.ts";
import { availableCommands, runCommand } from "./commands/slash-commands.ts";
import { DEFAULT_MODE, modeOf, modeOption } from "./config-options.ts";
import { type ConnectedClient, hermesCapabilities } from "./connected-client.ts";
import { compressionUpdate, userUpdates } from "./conversation-updates.ts";
import { userMessage } from "./prompt-content.ts";
import { ReplayPages } from "./replay-pages.ts";
import { faultError, sessionUnusable } from "./request-errors.ts";
import { RestorePoints } from "./restore-points.ts";
import { SessionModel, type StartingModel } from "./session-model.ts";
import type { SessionParams } from "./session-params.ts";
import { SessionProcesses } from "./session-processes.ts";
import { type Updates, updateCallbacks } from "./update-callbacks.ts";

/** Updates of a replay that are on their way at the same time. */
const SENT_AT_ONCE = 64;
/** A client that prompts at once does not wait for the preparation; one whose user types gives it more time than it takes. */
const WARM_UP_DELAY_MS = 20;
/** What a command that was cancelled gives instead of an answer. */
const CANCELLED = "";

export type AcpSessionOptions = {
  readonly client: AgentContext;
  readonly identity: ConnectedClient;
  readonly params: SessionParams;
  readonly id: string;
  readonly stored: StoredSession | undefined;
  /** What the session was written to when it was closed here with something that could not be saved. */
  readonly journal: Journal | undefined;
  /** What the user must know of it, one line each. */
  readonly notes: readonly string[];
  readonly configured: ConfiguredAgent;
  readonly directory: ModelDirectory;
  readonly model: StartingModel;
  /** Every stored session. */
  readonly index: SessionIndex;
  /** What is stored of a session; rejects with an error of the protocol. */
  readonly readStored: (id: string) => Promise<StoredSession>;
  readonly importSessions: CommandSession["importSessions"];
  /** Told when the session has another title. */
  readonly titled: () => void;
  /** Hermes' home folder. */
  readonly home: string;
  /** This machine. */
  readonly local: Host;
  readonly log: (line: string) => void;
};

export class AcpSession {
  readonly id: string;
  readonly agent: AIAgent;
  readonly model: SessionModel;
  readonly restores: RestorePoints;
  readonly processes: SessionProcesses;
  readonly earlier: ReplayPages;
  readonly cwd: string;
  readonly #client: AgentContext;
  readonly #journal: Journal;
  readonly #updates: Updates;
  readonly #sessions: Pick<AcpSessionOptions, "index" | "readStored" | "importSessions" | "titled">;
  #mode: ApprovalMode;
  #isTrusted: boolean;
  /** Settles when the last prompt that was sent is over. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Prompts that run or wait. */
  #prompts = 0;
  /** Aborted by the first prompt. */
  readonly #warming = new AbortController();
  /** Aborted by cancel: ends the running prompt and those that wait behind it. */
  #cancellation = new AbortController();

  constructor(options: AcpSessionOptions) {
    const { client, identity, params, id, stored, configured, directory, model, local, home, log } = options;
    const { capabilities, title } = identity;
    this.id = id;
    this.cwd = params.cwd;
    this.#client = client;
    this.#sessions = options;
    this.#mode = modeOf(stored?.mode ?? "") ?? DEFAULT_MODE;
    this.#isTrusted = params.trusted;
    this.#updates = updateCallbacks({
      send: (update) => this.send(update),
      showsNotices: capabilities.session?.notices != null,
      costUsd: () => this.agent.usage.costUsd,
    });
    const { status } = this.#updates.callbacks;
    this.#journal = sessionJournal(options, status);
    const questions = { client, sessionId: id, hasForms: capabilities.elicitation?.form != null };
    const { host, problems } = sessionHost(configured, params, { client, capabilities, sessionId: id, local, home });
    this.agent = new AIAgent({
      ...configured.options,
      ...settingsOf(model.resolved),
      ...(identity.models && { editorModels: identity.models }),
      modelFacts: (resolved) => directory.facts(resolved),
      sessionId: id,
      cwd: params.cwd,
      otherFolders: params.otherFolders,
      trusted: () => this.#isTrusted,
      onDefect: log,
      ...(title !== undefined && { platform: title }),
      ...restored(stored),
      host,
      journal: this.#journal,
      sessionIndex: options.index,
      approvalMode: () => this.#mode,
      callbacks: {
        ...this.#updates.callbacks,
        compressed: (event) => this.#tellCompression(event, hermesCapabilities(capabilities).compressions === true),
        status: (event) => {
          this.#updates.callbacks.status(event);
          this.model.announce(); // a stand-in says so by a status
        },
        clarify: (question, signal) => askQuestion(questions, question, signal),
        approval: (request, signal) => askPermission(client, id, request, signal),
      },
    });
    this.restores = new RestorePoints({
      agent: this.agent,
      send: (update) => this.send(update),
      trusted: () => this.#isTrusted,
    });
    this.processes = new SessionProcesses({ agent: this.agent, client, capabilities, sessionId: id, log });
    this.earlier = new ReplayPages(() => this.agent.said, stored);
    this.model = new SessionModel({
      directory,
      agent: this.agent,
      chosen: model.chosen,
      isRecorded: stored !== undefined,
      effort: model.effort,
      configuredEffort: configured.options.sampling?.reasoningEffort,
      record: (entry) => this.#journal.append(entry),
      onChange: () => this.#sendOptions(),
    });
    this.#warn([...options.notes, ...configured.warnings, ...problems, ...model.warnings, ...interruption(this.agent)]);
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  get configOptions(): SessionConfigOption[] {
    return [modeOption(this.#mode), ...this.model.options];
  }

  /** The user has come to trust the workspace. */
  trust(): void {
    this.#isTrusted = true;
  }

  /** Sends an update; what a closed connection cannot take is dropped. */
  send(update: SessionUpdate): void {
    void this.#deliver(update);
    if (update.sessionUpdate === "session_info_update" && update.title != null) this.#sessions.titled();
  }

  /** Sends many, no faster than the client takes them. */
  async sendAll(updates: Iterable<SessionUpdate>): Promise<void> {
    let count = 0;
    for (const update of updates) {
      const sent = this.#deliver(update);
      count += 1;
      if (count % SENT_AT_ONCE === 0) await sent;
    }
  }

  /** Sends the slash commands after the current response: a client drops updates of a session it does not know yet. */
  announceCommands(): void {
    setImmediate(() =>
      this.send({ sessionUpdate: "available_commands_update", availableCommands: availableCommands() }),
    );
  }

  setMode(mode: ApprovalMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#journal.append({ type: "mode", mode });
    this.send({ sessionUpdate: "current_mode_update", currentModeId: mode });
    this.#sendOptions();
  }

  /** Prepares the first request while the user types; a prompt that comes earlier ends the preparation. */
  warmUp(): void {
    const { signal } = this.#warming;
    const prepare = (): void => void (signal.aborted || warmUpModel(this.agent.model, signal));
    setTimeout(prepare, WARM_UP_DELAY_MS).unref();
  }

  /** Runs a prompt to its end, after those before it. Throws a `RequestError` when the model cannot be used. */
  prompt(blocks: readonly ContentBlock[], requestSignal: AbortSignal): Promise<PromptResponse> {
    const signal = AbortSignal.any([requestSignal, this.#cancellation.signal]);
    this.#prompts += 1;
    this.#warming.abort();
    const turn = this.#queue
      .then(() => this.#runPrompt(blocks, signal))
      .finally(() => {
        this.#prompts -= 1;
      });
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Does something that no turn may run beside. Throws the protocol's error when one runs or waits. */
  betweenTurns<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#prompts > 0) throw new RequestError(-32600, "A turn is running; stop it before anything is taken back.");
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => undefined);
    return done;
  }

  cancel(): void {
    this.#cancellation.abort(new DOMException("The turn was cancelled.", "AbortError"));
    this.#cancellation = new AbortController();
  }

  /** What is not in its journal yet. */
  get unsaved(): Buffer | undefined {
    return this.#journal.unsaved;
  }

  /** Gives the journal when something could not be saved. */
  async close(): Promise<Journal | undefined> {
    this.cancel();
    this.#warming.abort();
    this.model.dispose();
    this.processes.dispose();
    await Promise.all([this.#queue, this.agent.close()]);
    this.#journal.close();
    return this.#journal.unsaved === undefined ? undefined : this.#journal;
  }

  /** Settles when it has left; never rejects. */
  #deliver(update: SessionUpdate): Promise<void> {
    return this.#client.notify(methods.client.session.update, { sessionId: this.id, update }).catch(() => undefined);
  }

  async #runPrompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (signal.aborted) return { stopReason: "cancelled" };
    const message = userMessage(blocks);
    const answer = typeof message === "string" ? await this.#runCommand(message, signal) : undefined;
    if (signal.aborted && answer === CANCELLED) return { stopReason: "cancelled" };
    if (answer === undefined) return this.#runTurn(message, signal);
    if (typeof answer === "object") {
      for (const update of userUpdates({ role: "user", content: answer.ask }, undefined)) this.send(update);
      return this.#runTurn(answer.ask, signal);
    }
    this.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } });
    return { stopReason: "end_turn" };
  }

  async #runCommand(text: string, signal: AbortSignal): ReturnType<typeof runCommand> {
    try {
      return await runCommand(text, this.#forCommands(signal));
    } catch (error) {
      if (signal.aborted) return CANCELLED;
      throw error;
    }
  }

  async #runTurn(message: RunOptions["userMessage"], signal: AbortSignal): Promise<PromptResponse> {
    const problem = this.#journal.claim();
    if (problem !== undefined) throw sessionUnusable(this.id, problem);
    this.model.record();
    try {
      const { stopReason, fault } = await this.agent.runConversation({ userMessage: message, signal });
      if (stopReason !== "error") return { stopReason };
      if (fault !== undefined) throw faultError(fault);
      throw new Error("A turn ended in an error without its cause.");
    } finally {
      this.#updates.endTurn();
      this.model.announce();
    }
  }

  #forCommands(signal: AbortSignal): CommandSession {
    const { agent, model, mode, restores, cwd, id } = this;
    const { index, readStored, importSessions } = this.#sessions;
    return {
      ...{ id, agent, model, mode, restores, cwd, signal, index, readStored, importSessions },
      send: (update) => this.send(update),
      setMode: (next) => this.setMode(next),
    };
  }

  /** After the response that is being made now: a client drops updates of a session it does not know yet. */
  #warn(warnings: readonly string[]): void {
    const { status } = this.#updates.callbacks;
    setImmediate(() => {
      for (const message of warnings) status({ severity: "warning", message });
    });
  }

  #tellCompression(event: CompressedEvent, isShown: boolean): void {
    const { said, compression } = this.agent;
    if (compression !== undefined) this.send(compressionUpdate(said, compression, event));
    if (isShown) return;
    const [before, after] = [event.tokensBefore, event.tokensAfter].map((tokens) => tokens.toLocaleString("en"));
    const message = `Compressed ${event.messages} messages (${before} → ${after} tokens).`;
    this.#updates.callbacks.status({ severity: "info", message });
  }

  #sendOptions(): void {
    this.send({ sessionUpdate: "config_option_update", configOptions: this.configOptions });
  }
}

function interruption({ checkpoints }: AIAgent): readonly string[] {
  if (checkpoints?.interrupted === undefined) return [];
  return ["Restoring files to an earlier message was cut off. Restore to the same message again to finish it."];
}

/** What an agent goes on with. */
function restored(stored: StoredSession | undefined): Partial<AIAgentOptions> {
  if (stored === undefined) return {};
  const { conversation, todos, records, title, systemPrompt } = stored;
  return {
    conversation,
    todos,
    entries: records,
    ...(title !== undefined && { title }),
    ...(systemPrompt !== undefined && { systemPrompt }),
  };
}

function sessionJournal(
  { home, params: { cwd }, id, stored, journal }: AcpSessionOptions,
  tell: (event: StatusEvent) => void,
): Journal {
  const told = {
    onFailure: (message: string) => tell({ severity: "error", message }),
    onRecovery: (message: string) => tell({ severity: "info", message }),
    onFullDisk: (message: string) => tell({ severity: "warning", message }),
  };
  if (journal !== undefined) {
    setImmediate(() => journal.setListeners(told)); // as other warnings: after the response that is being made now
    return journal;
  }
  const path = journalPath(sessionsFolder(home), id);
  if (path === undefined) throw new Error(`${id} is not the id of a session.`);
  return new Journal({
    ...{ path, sessionId: id, cwd, now: Date.now },
    ...(stored && { knownSize: stored.size }),
    reserve: new SpaceReserve(spaceReserveFile(home)),
    ...told,
  });
}
