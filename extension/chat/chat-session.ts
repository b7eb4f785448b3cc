/** The session in the panel: its prompts, their queue, and what the panel is shown of them. */
import { randomUUID } from "node:crypto";
import {
  type ClientContext,
  type ContentBlock,
  methods,
  type NewSessionResponse,
  RequestError,
  type SessionConfigOption,
  type SessionNotification,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { waitForEvent } from "../../agent-core/platform/waiting.ts";
import { steerMethod } from "../../agent-core/protocol/conversation.ts";
import { call } from "../../agent-core/protocol/method.ts";
import {
  forkMethod,
  type HermesLoadMeta,
  type HermesRewind,
  sessionMethods,
} from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ModelMemory } from "../models/model-memory.ts";
import { EarlierMessages } from "./earlier-messages.ts";
import type { EventLog } from "./event-log.ts";
import { leaveSession } from "./leave-session.ts";
import type { PanelConnection } from "./panel-connection.ts";
import { PromptQueue } from "./prompt-queue.ts";
import { type SelectedOption, SessionOptions } from "./session-options.ts";
import { type SessionPlace, sessionPlace } from "./session-place.ts";
import { takenBackPrompt } from "./taken-back.ts";

/** Where the window remembers which session it showed. */
const MEMENTO_KEY = "hermes.sessionId";

/** A message that chooses a model, as the picker would. */
const CHOOSES_MODEL = /^\s*\/model\s+\S/;

/** A cancelled turn has ended within this time, its commands with it; one that has not is left to itself. Milliseconds. */
const TURN_END_MS = 5_000;

export type ChatState = "idle" | "running";

type SessionOutputs = { readonly log: EventLog; readonly panel: PanelConnection };

export class ChatSession implements vscode.Disposable {
  readonly #worker: AgentWorker;
  readonly #log: EventLog;
  readonly #panel: PanelConnection;
  readonly #memory: vscode.Memento;
  readonly #models: ModelMemory;
  readonly #options = new SessionOptions();
  readonly #began = new vscode.EventEmitter<void>();
  readonly #changed = new vscode.EventEmitter<ChatState>();
  readonly #subscription: vscode.Disposable;
  #sessionId: string | undefined;
  #opening: Promise<string> | undefined;
  /** Settles when the panel has the session that it is to have: what the user says meanwhile is meant for that one. */
  #changing: Promise<unknown> = Promise.resolve();
  /** Why the last session that was to be loaded could not be. */
  #notLoaded: string | undefined;
  #running = false as boolean;
  /** The last message chose a model. */
  #isChoosing = false as boolean;
  /** The turn is being stopped so that the next message can be sent. */
  #sendsNext = false as boolean;
  /** The last turn came to its own end: what waits may be sent. */
  #isDone = false as boolean;

  readonly queue: PromptQueue;
  /** What the panel does not show yet of a long session. */
  readonly earlier: EarlierMessages;

  readonly onDidChange = this.#changed.event;
  /** Mode, model and reasoning effort may be others. */
  readonly onDidChangeOptions = this.#options.onDidChange;
  /** Another session has the panel. */
  readonly onDidBegin = this.#began.event;

  constructor(worker: AgentWorker, { log, panel }: SessionOutputs, memory: vscode.Memento, models: ModelMemory) {
    this.#worker = worker;
    this.#log = log;
    this.#panel = panel;
    this.#memory = memory;
    this.#models = models;
    this.earlier = new EarlierMessages(worker, log);
    this.queue = new PromptQueue((prompts) => log.push({ kind: "queue", prompts }));
    this.#subscription = worker.onDidChange(({ state, message }) => {
      panel.setFacts({ agent: { state, ...(message !== undefined && { message }) } });
      // Background processes end with the worker.
      if (state === "restarting" || state === "failed") panel.setFacts({ processes: [] });
      if (state === "restarting") this.#reopen();
    });
  }

  /** The session in the panel; undefined until it is open. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Makes a session ready to type into: the one this window had, else a new one. */
  async open(): Promise<void> {
    await this.#session().catch((error: unknown) => this.#fail(error));
  }

  async prompt(text: string): Promise<void> {
    await this.#changing;
    if (this.#running) {
      this.queue.add(text);
      return;
    }
    this.#setRunning(true);
    this.#isChoosing = CHOOSES_MODEL.test(text);
    // A session that opens clears the panel: the message must come after that. The turn tells why it could not be opened.
    await this.#session().catch(() => undefined);
    this.#log.push({ kind: "prompt", id: randomUUID(), text });
    // After a stop or an error what waits is the user's to send, unless the stop was made for it.
    this.#isDone = (await this.#runTurn(text)) || this.#sendsNext;
    this.#sendsNext = false;
    this.#setRunning(false);
    await this.sendHeldUp();
  }

  /** Says something in the running turn; without one it begins a turn. */
  async promptNow(text: string): Promise<void> {
    await this.#changing;
    return this.#running ? this.sendQueued(this.queue.add(text)) : this.prompt(text);
  }

  /** Sends the next message of the queue, when the last turn came to its own end and nobody changes that message. */
  async sendHeldUp(): Promise<void> {
    if (this.#running || !this.#isDone) return;
    const next = this.queue.take();
    if (next !== undefined) await this.prompt(next.text);
  }

  /** Takes the user's message at this position back, with all that followed, and says `text` instead. */
  async resend(position: number, text: string): Promise<void> {
    if (this.#sessionId === undefined) return;
    if (this.#running) return this.#notice("warning", "Stop the running turn before you change what was said.");
    try {
      const agent = await this.#worker.agent();
      const rewind: HermesRewind = { sessionId: this.#sessionId, position };
      await call(agent, sessionMethods.rewind, rewind);
    } catch (error) {
      return this.#notice("error", `The message cannot be taken back. ${messageOf(error)}`);
    }
    this.#log.push({ kind: "rewind", position });
    await this.prompt(text);
  }

  /** Gives a queued message to the model in the middle of the running turn; without one it begins a turn. */
  async sendQueued(id: string): Promise<void> {
    if (!this.#running || this.#sessionId === undefined) {
      this.queue.move(id, 0);
      const next = this.queue.take();
      return next && this.prompt(next.text);
    }
    const text = this.queue.steer(id);
    if (text === undefined) return;
    try {
      const agent = await this.#worker.agent();
      await call(agent, steerMethod, { sessionId: this.#sessionId, prompt: [{ type: "text", text }] });
    } catch (error) {
      this.queue.unsteer(id);
      // The turn came to its end while the message was on its way.
      if (!this.#running && this.#isDone) return this.sendHeldUp();
      const what = "The message could not be sent into the running turn and waits in the queue.";
      this.#notice("warning", `${what} ${messageOf(error)}`);
    }
  }

  /** Stops the running turn and begins another with this queued message. */
  async interruptWith(id: string): Promise<void> {
    this.queue.move(id, 0);
    if (!this.#running) return this.sendQueued(id);
    this.#sendsNext = true;
    await this.cancel();
  }

  /** Stops the running turn; prompts that wait are kept for the user to send or remove. */
  async cancel(): Promise<void> {
    if (!this.#running || this.#sessionId === undefined) return;
    const agent = await this.#worker.agent();
    await agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId });
  }

  newSession(): Promise<void> {
    return this.#change(undefined);
  }

  /** Goes on with a stored session; when it cannot be opened, a new one is begun and the panel says why. */
  async openStored(sessionId: string): Promise<void> {
    if (sessionId === this.#sessionId) return;
    await this.#change(sessionId);
  }

  /** Stores a new session with the messages of `sessionId` before `position` (default: all); resolves to its id. */
  async fork(sessionId: string, position?: number): Promise<string> {
    const agent = await this.#worker.agent();
    const { _meta, ...place } = sessionPlace(this.#models.chosen);
    const hermes = { ..._meta.hermes, ...(position !== undefined && { position }) };
    const forked = await call(agent, forkMethod, { sessionId, ...place, _meta: { hermes } });
    return forked.sessionId;
  }

  /** Tells the panel whether the workspace is trusted. */
  showTrust(): void {
    this.#panel.setFacts({ isTrusted: vscode.workspace.isTrusted });
  }

  /** The option of this category; undefined when the session has none. */
  option(category: string): SelectedOption | undefined {
    return this.#options.get(category);
  }

  /** Sets an option of the session; a model is remembered for new ones. A refusal is shown in the panel. */
  async setConfig(configId: string, value: string): Promise<void> {
    try {
      const sessionId = await this.#session();
      const agent = await this.#worker.agent();
      const response = await agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
      this.#showOptions(response.configOptions);
      if (configId === this.#options.get("model")?.id) this.#rememberModel();
    } catch (error) {
      this.#notice("error", messageOf(error));
    }
  }

  /** Shows what the agent sent, as it came. */
  show({ sessionId, update }: SessionNotification): void {
    if (sessionId !== this.#sessionId && this.#sessionId !== undefined) return;
    if (update.sessionUpdate === "config_option_update") {
      this.#options.set(update.configOptions);
      if (this.#isChoosing) this.#rememberModel();
    }
    if (this.#running && update.sessionUpdate === "user_message_chunk") this.queue.arrived();
    this.#log.push({ kind: "update", update });
    const takenBack = takenBackPrompt(update);
    if (takenBack !== undefined) this.#panel.command({ kind: "compose", text: takenBack });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    this.#began.dispose();
    this.#options.dispose();
  }

  /** True when the turn came to its own end. */
  async #runTurn(text: string): Promise<boolean> {
    try {
      const sessionId = await this.#session();
      const agent = await this.#worker.agent();
      const prompt: ContentBlock[] = [{ type: "text", text }];
      const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
      this.#log.push({ kind: "turn-end", stopReason });
      return stopReason !== "cancelled";
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Lets go of the session in the panel and opens another one, or a new one. */
  async #change(sessionId: string | undefined): Promise<void> {
    const changed = this.#changing.then(() => this.#goTo(sessionId));
    this.#changing = changed.catch(() => undefined); // whoever asked for it is told
    const left = await changed;
    if (left !== undefined && left !== this.#sessionId) {
      await leaveSession(this.#worker, left).then(
        (isClosed) => isClosed && this.#panel.setProcesses({ sessionId: left, processes: [] }),
        (error: unknown) => this.#fail(error),
      );
    }
    if (sessionId === undefined || this.#sessionId === sessionId || this.#notLoaded === undefined) return;
    this.#notice("error", `The session cannot be opened: ${this.#notLoaded}`);
  }

  /** Gives the session that the panel had. What its turn still says must not run into the next one. */
  async #goTo(sessionId: string | undefined): Promise<string | undefined> {
    const left = this.#sessionId;
    const unsaid = this.queue.clear();
    await this.cancel();
    await this.#turnEnd();
    this.#sessionId = undefined;
    this.#opening = undefined;
    await this.#memory.update(MEMENTO_KEY, sessionId);
    await this.open();
    // What the user wrote is not lost with the session that it was written for.
    if (unsaid.length > 0) this.#panel.command({ kind: "compose", text: unsaid.join("\n\n") });
    return left;
  }

  /** Resolves when no turn runs, or when one does not end although it was cancelled. */
  async #turnEnd(): Promise<void> {
    if (!this.#running) return;
    await waitForEvent(TURN_END_MS, (done) => [this.onDidChange((state) => state === "idle" && done())]);
  }

  #session(): Promise<string> {
    this.#opening ??= this.#openSession().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openSession(): Promise<string> {
    const place = sessionPlace(this.#models.chosen);
    const agent = await this.#worker.agent();
    const remembered = this.#memory.get<string>(MEMENTO_KEY);
    if (remembered !== undefined && (await this.#load(agent, remembered, place))) return remembered;
    this.#sessionId = undefined;
    const created = await agent.request(methods.agent.session.new, place);
    this.#begin(created.sessionId, place.cwd, created.configOptions ?? []);
    return created.sessionId;
  }

  async #load(agent: ClientContext, sessionId: string, place: SessionPlace): Promise<boolean> {
    // The panel shows the end of a long session at once, instead of the whole of it running past.
    this.#log.hold();
    try {
      this.#begin(sessionId, place.cwd, []);
      const hermes: HermesLoadMeta = { ...place._meta.hermes, ...this.earlier.tailOf(sessionId) };
      const load = { sessionId, ...place, _meta: { hermes } };
      const { configOptions } = await agent.request(methods.agent.session.load, load);
      this.#showOptions(configOptions ?? []);
      return true;
    } catch (error) {
      this.#notLoaded = error instanceof RequestError ? error.message : undefined;
      if (error instanceof RequestError) return false; // nothing was stored, or it is gone: a new one is begun
      throw error;
    } finally {
      this.#log.release();
    }
  }

  #begin(sessionId: NewSessionResponse["sessionId"], cwd: string, configOptions: readonly SessionConfigOption[]): void {
    this.#sessionId = sessionId;
    this.#memory.update(MEMENTO_KEY, sessionId).then(undefined, () => undefined); // forgotten at the next start, no more
    this.#log.clear();
    this.earlier.begin(sessionId);
    this.#options.set(configOptions);
    this.#log.push({ kind: "session", sessionId, cwd, agentName: "Hermes", configOptions, commands: [] });
    this.#panel.setFacts({ agent: { state: "ready" } });
    this.#log.push({ kind: "queue", prompts: this.queue.prompts });
    this.#began.fire();
  }

  #rememberModel(): void {
    const choice = this.#options.get("model")?.currentValue;
    // Forgotten at the next start, no more.
    if (choice !== undefined) this.#models.remember(choice).then(undefined, () => undefined);
  }

  #showOptions(configOptions: SessionConfigOption[]): void {
    this.#options.set(configOptions);
    this.#log.push({ kind: "update", update: { sessionUpdate: "config_option_update", configOptions } });
  }

  /** After the worker died: the session goes on from its journal. */
  #reopen(): void {
    this.#opening = undefined;
    this.queue.unsteerAll();
    setImmediate(() => void this.open());
  }

  #fail(error: unknown): void {
    this.#log.push({ kind: "turn-end", error: messageOf(error) });
  }

  #notice(severity: "warning" | "error", text: string): void {
    this.#log.push({ kind: "notice", severity, text });
  }

  #setRunning(running: boolean): void {
    this.#running = running;
    this.#changed.fire(running ? "running" : "idle");
  }
}
