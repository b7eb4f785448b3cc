/** One session of the agent: its log for the panel, and the effects of its state. */
import { randomUUID } from "node:crypto";
import {
  type ClientContext,
  type ContentBlock,
  type McpServer,
  methods,
  RequestError,
  type SessionUpdate,
  type ToolCallUpdate,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import {
  changesSetting,
  HermesFaultData,
  type PromptBlock,
  steerMethod,
  waitsMethod,
} from "../../agent-core/protocol/conversation.ts";
import { call, notify, readMeta } from "../../agent-core/protocol/method.ts";
import { processMethods } from "../../agent-core/protocol/processes.ts";
import {
  type HermesLoadMeta,
  HermesOpenedMeta,
  type HermesSessionMeta,
  sessionMethods,
} from "../../agent-core/protocol/sessions.ts";
import { checkedRecord } from "../../agent-core/protocol/update-meta.ts";
import {
  type AgentConnection,
  AUTH_REQUIRED,
  blocksFor,
  needsSignIn,
  placeFor,
  withSignIn,
} from "../agent/agent-connection.ts";
import { asContent } from "../attachments/prompt-blocks.ts";
import { EarlierMessages } from "./earlier-messages.ts";
import { EventLog } from "./event-log.ts";
import { contentOf, next, type PromptContent } from "./prompt-queue.ts";
import { type SelectedOption, SessionOptions } from "./session-options.ts";
import { closedSession, type Failure, reduceSession, type SessionEffect, type SessionEvent } from "./session-state.ts";
import { type MakeWorktree, SessionWorktree } from "./session-worktree.ts";

/** Folders of the session and the facts that a new session starts with. */
export type SessionPlace = {
  readonly cwd: string;
  readonly additionalDirectories: string[];
  readonly mcpServers: McpServer[];
  readonly _meta: { readonly hermes: HermesSessionMeta };
};

export type SessionPorts = {
  /** Edits on the disk, of agents other than Hermes. */
  readonly diskEdits: { begin(): Promise<void>; collect(): Promise<void>; end(): Promise<void> };
  /** `folder`: the session's only one; default: those of the window. Rejects with an Error in one line without any. */
  readonly place: (folder?: string) => Promise<SessionPlace>;
  readonly worktree: MakeWorktree;
  /** Warnings about the configuration that no session has shown yet, one line each. */
  readonly warnings: () => readonly string[];
  /** Content blocks of a message, with its attachments as they are now. `report` gets lines for the user. */
  readonly promptBlocks: (content: PromptContent, report: (problem: string) => void) => Promise<PromptBlock[]>;
  /** Puts a message into the composer of the session's panel. */
  readonly compose: (session: ChatSession, content: PromptContent) => void;
  /** New sessions start with this model. */
  readonly rememberModel: (choice: string) => void;
  /** Called after the agent has opened a session. Other agents than Hermes give no facts about it. */
  readonly opened: (opened: HermesOpenedMeta | undefined) => void;
  /** Called when the session has an id and an empty log, after each opening. Another opening may give another id. */
  readonly began: (session: ChatSession) => void;
  /** A turn started or ended, or options or the title have changed. */
  readonly changed: (session: ChatSession) => void;
  /** The session has edited these files; absolute paths. */
  readonly edited: (session: ChatSession, paths: readonly string[]) => void;
  /** A running turn has called another tool. */
  readonly stepped: () => void;
  readonly observed: (session: ChatSession, event: SessionEvent) => unknown;
  /** Called before a session without a turn closes. */
  readonly closing: (session: ChatSession) => void;
  /** `isOpen`: background processes keep it open in the agent. */
  readonly closed: (session: ChatSession, isOpen: boolean) => void;
};

export type StoredSession = {
  readonly sessionId: string;
  /** The user chose it: the panel reports a failure to load it. */
  readonly isChosen: boolean;
};

export class ChatSession {
  readonly log = new EventLog();
  /** The part of a long session that the panel does not have. */
  readonly earlier: EarlierMessages;
  readonly #ports: SessionPorts;
  #stored: StoredSession | undefined;
  #state = closedSession;
  #sessionId: string | undefined;
  readonly #options = new SessionOptions();
  #opening: Promise<void> = Promise.resolve();
  readonly #ready: Promise<unknown> | undefined;
  #title: string | undefined;
  #busyInputMode: HermesOpenedMeta["busyInputMode"];
  #step: string | undefined;
  readonly agent: AgentConnection;
  readonly worktree: SessionWorktree;

  /** `stored`: the session to load; default: a new one. `open` opens it, after `ready` has settled. */
  constructor(ports: SessionPorts, agent: AgentConnection, stored?: StoredSession, ready?: Promise<unknown>) {
    this.#ports = ports;
    this.agent = agent;
    this.#stored = stored;
    this.#ready = ready;
    this.worktree = new SessionWorktree(ports.worktree);
    this.earlier = new EarlierMessages(() => agent.agent(), this.log);
  }

  /** Undefined until the session has begun. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Id of the session, also while a stored one is about to load. */
  get targetId(): string | undefined {
    return this.#sessionId ?? this.#stored?.sessionId;
  }

  get isRunning(): boolean {
    return ["starting", "running"].includes(this.#state.turn.kind);
  }

  /** Undefined until the agent has named the session. */
  get title(): string | undefined {
    return this.#title;
  }

  /** Title of the latest tool call. */
  get step(): string | undefined {
    return this.#step;
  }

  /** Resolves when the session is open. After a failure the log holds the reason. */
  async open(): Promise<void> {
    this.dispatch({ type: "open" });
    await this.#opening;
  }

  /** Starts a turn, or queues the prompt. `now` sends it into the running turn. `isTask`: it may begin in a worktree. */
  prompt(content: PromptContent, { now = false, isTask = false } = {}): void {
    if (this.agent.offers.hermes && this.#state.turn.kind === "running" && changesSetting(content.text)) {
      void this.#changeSetting(content);
      return;
    }
    if (!this.isRunning && this.worktree.begin(isTask)) this.dispatch({ type: "agent-ended" }); // it opens again
    this.dispatch({ type: "prompt", id: randomUUID(), ...content, now: now && this.agent.offers.hermes });
  }

  dispatch(event: SessionEvent): void {
    const wasRunning = this.isRunning;
    const [next, effects] = reduceSession(this.#state, event);
    this.#state = next;
    for (const effect of effects) this.#run(effect);
    if (this.isRunning !== wasRunning) this.#ports.changed(this);
    this.#ports.observed(this, event);
  }

  receive(sent: SessionUpdate): void {
    const update = checkedRecord(sent);
    if (update.sessionUpdate === "config_option_update") {
      this.#options.replace(update.configOptions);
      this.#ports.changed(this);
    }
    if (update.sessionUpdate === "current_mode_update" && this.#options.modeChanged(update.currentModeId)) {
      this.#showOptions();
    }
    const isEnd = update.sessionUpdate === "tool_call_update" && update.status === "completed";
    if (isEnd && !this.agent.offers.hermes) void this.#ports.diskEdits.collect();
    this.worktree.receive(update);
    if (update.sessionUpdate === "session_info_update" && update.title != null) {
      this.#title = update.title;
      this.#ports.changed(this);
    }
    if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") this.#noteCall(update);
    this.dispatch({ type: "update", update });
  }

  /** The option of an ACP category: `mode`, `model`, `thought_level`. */
  option(category: string): SelectedOption | undefined {
    return this.#options.find(category);
  }

  /** Sets an option. New sessions start with the same model. The panel shows a refusal. */
  async setConfig(configId: string, value: string): Promise<void> {
    await this.open();
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return;
    try {
      await this.#options.set(await this.agent.agent(), { sessionId, configId, value });
      this.#showOptions();
      if (configId === this.option("model")?.id) this.#rememberModel();
    } catch (error) {
      this.#note("error", [await this.agent.explain(error)]);
    }
  }

  /** Keeps what lists show of a tool call. */
  #noteCall({ title, content }: Pick<ToolCallUpdate, "title" | "content">): void {
    const paths = (content ?? []).flatMap((part) => (part.type === "diff" ? part.path : []));
    // A replay names edits that other sessions may have followed.
    if (paths.length > 0 && this.isRunning) this.#ports.edited(this, paths);
    if (title == null || title === this.#step) return;
    this.#step = title;
    if (this.isRunning) this.#ports.stepped();
  }

  #run(effect: SessionEffect): void {
    switch (effect.type) {
      case "open":
        this.#opening = this.#open(effect.attempt);
        break;
      case "emit":
        this.log.push(effect.event);
        if (effect.event.kind === "queue") this.#announceQueue().catch(() => undefined);
        break;
      case "send-prompt":
        void this.#sendPrompt(effect);
        break;
      case "steer":
        void this.#steer(effect.id, effect);
        break;
      case "rewind":
        void this.#rewind(effect);
        break;
      case "cancel":
        void this.#cancel();
        break;
      case "compose":
        this.#ports.compose(this, contentOf(effect));
        break;
      case "remember-model":
        this.#rememberModel();
        break;
      case "close":
        void this.#close();
        break;
    }
  }

  async #open(attempt: number): Promise<void> {
    // The panel shows the earlier session until this one is complete.
    this.log.hold();
    try {
      const place = await this.#ports.place(this.worktree.folder);
      const agent = await this.agent.agent();
      const task = (): string | undefined => this.worktree.taskIn(this.#state.turn);
      const open = () => withSignIn(this.agent, () => this.#loadOrCreate(agent, place));
      const loadError = task() === undefined ? await open() : undefined;
      const first = task();
      if (first !== undefined) await this.#moveToWorktree(agent, place, first);
      this.dispatch({ type: "opened", attempt, loadError, busyInputMode: this.#busyInputMode });
      this.#note("warning", this.#ports.warnings());
    } catch (error) {
      this.dispatch({ type: "open-failed", attempt, message: await this.agent.explain(error), ...faultOf(error) });
    } finally {
      this.log.release();
    }
  }

  /** Begins again in a new worktree, with the options that the user chose before the first message. */
  async #moveToWorktree(agent: ClientContext, { cwd }: SessionPlace, task: string): Promise<void> {
    this.dispatch({ type: "show-start", now: true });
    this.log.release(); // the panel shows the message and its Stop meanwhile
    const problems = await this.worktree.make(cwd, task);
    this.log.hold();
    if (this.#sessionId !== undefined) await this.#closeInAgent();
    const chosen = this.#options.all;
    this.#stored = undefined;
    await this.#loadOrCreate(agent, await this.#ports.place(this.worktree.folder));
    if (this.#sessionId !== undefined) await this.#options.repeat(agent, this.#sessionId, chosen);
    this.#showOptions();
    this.#note("warning", problems);
  }

  #readOpened(meta: unknown): void {
    const opened = readMeta(HermesOpenedMeta, meta);
    this.worktree.opened(opened);
    this.#busyInputMode = opened?.busyInputMode;
    this.#ports.opened(opened);
  }

  /** Resolves to the reason why a session that the user chose could not be loaded; a new one is open then. */
  async #loadOrCreate(agent: ClientContext, place: SessionPlace): Promise<string | undefined> {
    const stored = this.#stored;
    await this.#ready;
    const failure = stored && (await this.#load(agent, stored.sessionId, place));
    if (stored === undefined || failure !== undefined) {
      const created = await agent.request(methods.agent.session.new, placeFor(this.agent.offers, place));
      if (this.agent.offers.hermes) this.#readOpened(created._meta);
      this.#options.open(created);
      this.#begin(created.sessionId);
    }
    this.worktree.show(this.log);
    return stored?.isChosen ? failure : undefined;
  }

  /** Resolves to the agent's reason when it cannot load the session. */
  async #load(agent: ClientContext, sessionId: string, place: SessionPlace): Promise<string | undefined> {
    const { offers, title } = this.agent;
    if (!offers.load) return vscode.l10n.t("{0} does not load earlier sessions.", title);
    this.#options.replace([]);
    this.#begin(sessionId);
    try {
      const hermes: HermesLoadMeta = { ...place._meta.hermes, ...this.earlier.tail, inWorktree: true };
      const loaded = await agent.request(methods.agent.session.load, {
        sessionId,
        ...placeFor(offers, { ...place, _meta: { hermes } }),
      });
      if (offers.hermes) this.#readOpened(loaded._meta);
      this.#options.open(loaded);
      this.#showOptions();
      return undefined;
    } catch (error) {
      if (!(error instanceof RequestError) || needsSignIn(this.agent, error)) throw error;
      const why: unknown = Object(error.data).why;
      return typeof why === "string" ? why : this.agent.explain(error);
    }
  }

  /** Starts the log again: the replay of the agent follows. */
  #begin(sessionId: string): void {
    this.#sessionId = sessionId;
    // After a restart of the agent this session is loaded again.
    this.#stored = { sessionId, isChosen: false };
    this.log.clear();
    this.dispatch({ type: "show-start", now: false });
    this.earlier.begin(sessionId);
    const { title: agentName, offers } = this.agent;
    const facts = { agentName, ...(!offers.hermes && { isForeign: true }), commands: [] };
    this.log.push({ kind: "session", sessionId, configOptions: this.#options.all, ...facts });
    this.log.push({ kind: "queue", prompts: this.#state.queue });
    this.#ports.began(this);
    this.#ports.changed(this);
  }

  /** Goes on in the folders of the window: its worktree is gone. */
  leaveFolder(): void {
    this.worktree.folder = undefined;
    this.dispatch({ type: "agent-ended" }); // it opens again
  }

  async #sendPrompt(content: PromptContent): Promise<void> {
    try {
      if (!this.worktree.isCommand(content.text)) this.worktree.check();
      const { offers } = this.agent;
      const blocks = await this.#blocksOf(content);
      const sent = offers.remoteCwd === undefined ? blocks : await asContent(blocks);
      const prompt: ContentBlock[] = offers.hermes ? blocks : blocksFor(offers, sent);
      const { stopReason } = await this.#watched(() =>
        this.#request((agent, sessionId) => agent.request(methods.agent.session.prompt, { sessionId, prompt })),
      );
      this.dispatch({ type: "turn-ended", stopReason });
    } catch (error) {
      this.dispatch({ type: "turn-failed", message: await this.agent.explain(error), ...faultOf(error) });
    }
  }

  /** Sends a command that the agent runs beside the turn. */
  async #changeSetting(content: PromptContent): Promise<void> {
    const before = this.option("model")?.currentValue;
    try {
      const prompt = await this.#blocksOf(content);
      await this.#request((agent, sessionId) => agent.request(methods.agent.session.prompt, { sessionId, prompt }));
      if (this.option("model")?.currentValue !== before) this.#rememberModel();
    } catch (error) {
      this.#note("error", [await this.agent.explain(error)]);
    }
  }

  #blocksOf(content: PromptContent): Promise<PromptBlock[]> {
    return this.#ports.promptBlocks(content, (text) => this.#note("warning", [text]));
  }

  /** Runs a turn. Files that another agent writes during it come up for review. */
  async #watched<Result>(turn: () => Promise<Result>): Promise<Result> {
    // The files of another machine are not reviewed here.
    if (this.agent.offers.hermes || this.agent.offers.remoteCwd !== undefined) return turn();
    const { diskEdits } = this.#ports;
    await diskEdits.begin();
    try {
      return await turn();
    } finally {
      await diskEdits.end();
    }
  }

  /** The next turn of a goal comes after the messages of the queue. */
  async #announceQueue(): Promise<void> {
    const waits = next(this.#state.queue) !== undefined;
    if (!this.agent.offers.hermes || this.#sessionId === undefined) return;
    notify(await this.agent.agent(), waitsMethod, { sessionId: this.#sessionId, waits });
  }

  async #steer(id: string, content: PromptContent): Promise<void> {
    try {
      const prompt = await this.#blocksOf(content);
      await this.#request((agent, sessionId) => call(agent, steerMethod, { sessionId, prompt }));
    } catch (error) {
      this.dispatch({ type: "steer-failed", id, message: messageOf(error) });
    }
  }

  async #rewind(effect: Extract<SessionEffect, { type: "rewind" }>): Promise<void> {
    const { type: _, ...resend } = effect;
    const { position } = resend;
    try {
      this.worktree.check();
      await this.#request((agent, sessionId) => call(agent, sessionMethods.rewind, { sessionId, position }));
      this.dispatch({ type: "rewound", id: randomUUID(), ...resend });
    } catch (error) {
      this.dispatch({ type: "rewind-failed", message: messageOf(error), ...resend });
    }
  }

  async #cancel(): Promise<void> {
    if (this.#state.turn.kind === "starting") return this.worktree.stop();
    const sent = this.#request((agent, sessionId) => agent.notify(methods.agent.session.cancel, { sessionId }));
    await sent.catch((error: unknown) =>
      this.#note("error", [vscode.l10n.t("The turn could not be stopped. {0}", messageOf(error))]),
    );
  }

  /** Closes the session in the agent, unless it has background processes, which would end with it. */
  async #close(): Promise<void> {
    this.#ports.closing(this);
    const isOpen = this.#sessionId !== undefined && (await this.#closeInAgent().catch(() => false));
    this.#ports.closed(this, isOpen);
  }

  /** True when the session stays open. */
  async #closeInAgent(): Promise<boolean> {
    const { hermes, close } = this.agent.offers;
    if (hermes) return this.#request(closeUnlessBusy);
    if (close) await this.#request((agent, sessionId) => agent.request(methods.agent.session.close, { sessionId }));
    return false;
  }

  async #request<Result>(send: (agent: ClientContext, sessionId: string) => Promise<Result>): Promise<Result> {
    if (this.#sessionId === undefined) throw new Error(vscode.l10n.t("The session is not open."));
    return send(await this.agent.agent(), this.#sessionId);
  }

  #note(severity: "info" | "warning" | "error", texts: readonly string[]): void {
    for (const text of texts) this.log.push({ kind: "notice", severity, text });
  }

  #showOptions(): void {
    this.#ports.changed(this);
    const update = { sessionUpdate: "config_option_update", configOptions: this.#options.all } as const;
    this.log.push({ kind: "update", update });
  }

  #rememberModel(): void {
    const choice = this.option("model")?.currentValue;
    if (this.agent.offers.hermes && choice !== undefined) this.#ports.rememberModel(choice);
  }
}

/** Kind of the fault, and its provider where a key is missing. */
function faultOf(error: unknown): Omit<Failure, "message"> {
  if (!(error instanceof RequestError)) return {};
  const known = HermesFaultData.safeParse(error.data).data;
  const fault = known?.kind ?? (error.code === AUTH_REQUIRED ? "authentication" : undefined);
  return { fault, keyFor: known?.keyFor };
}

async function closeUnlessBusy(agent: ClientContext, sessionId: string): Promise<boolean> {
  const { processes } = await call(agent, processMethods.list, { sessionId });
  const isBusy = processes.some(({ state }) => state !== "ended");
  if (!isBusy) await agent.request(methods.agent.session.close, { sessionId });
  return isBusy;
}
