/** The agent of one connection: its client, its configuration and its open sessions. */
import { setTimeout as delay } from "node:timers/promises";
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { withLostResults } from "../agent/stored-agent.ts";
import { type Environment, homeFolder } from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { folderProblem } from "../host/node-files.ts";
import { prepareSandbox } from "../host/terminals/sandbox/find-sandbox.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import type { HermesSettled } from "../protocol/files.ts";
import { failure } from "../protocol/handle.ts";
import type { HermesShelf } from "../protocol/sessions.ts";
import { choiceId } from "../providers/model-choice.ts";
import type { Journal } from "../sessions/journal.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { newSessionId } from "../sessions/session-files.ts";
import { titleLine } from "../sessions/titles.ts";
import type { TaskOptions } from "./acp-host.ts";
import { AcpSession } from "./acp-session.ts";
import { Background } from "./background-learning.ts";
import { ConnectedClient } from "./connected-client.ts";
import { LiveConfiguration } from "./live-configuration.ts";
import { type JobAgent, type JobAgentOptions, PlannedJobs } from "./planned-jobs.ts";
import { authRequired, sessionUnusable } from "./request-errors.ts";
import { startingModel } from "./session-model.ts";
import { checkAbsolute, checkFolders, type SessionParams } from "./session-params.ts";
import { type ForkSource, StoredSessions, storedNotes } from "./stored-sessions.ts";

export type AgentServerOptions = {
  readonly version: string;
  readonly environment: Environment;
  /** This machine. */
  readonly local: Host;
  readonly log: (line: string) => void;
  /** Time of sessions, journals, memory and skills. Default: the system's. */
  readonly clock?: Clock;
  /** Serves the session of a planned job: without background work, and without the right to plan jobs. Default: a user's. */
  readonly job?: JobAgentOptions["job"];
  /** Serves the session of a batch's task, which nobody reads along. Default: a user's. */
  readonly task?: TaskOptions;
};

/** Longest wait of a task for the prices in the list of models. Milliseconds. */
const PRICES_MS = 2_000;

export class AgentServer {
  readonly options: AgentServerOptions;
  readonly configuration: LiveConfiguration;
  readonly stored: StoredSessions;
  /** The loops that learn. */
  readonly background: Background;
  readonly jobs: PlannedJobs;
  /** New sessions need `authenticate` first. */
  isLoggedOut: boolean = false;
  /** Hermes' home folder. */
  readonly home: string;
  readonly #sessions = new Map<string, AcpSession>();
  /** One session is opened, closed or deleted at a time. */
  readonly #sessionQueue = new KeyedQueue();
  /** Journals of closed sessions with lines that could not be saved. */
  readonly #unsaved = new Map<string, Journal>();
  /** Lines about what was learnt, for the next prompt of an editor that shows no notifications of ours. */
  readonly #learnt: string[] = [];
  #client = new ConnectedClient({}, undefined, undefined);

  /** `makeAgent`: makes the agent for the session of a job. */
  constructor(options: AgentServerOptions, makeAgent: (options: AgentServerOptions) => JobAgent) {
    const { environment, log, version, clock = systemClock } = options;
    this.options = options;
    this.home = homeFolder(environment);
    const client = (): ConnectedClient => this.#client;
    this.stored = new StoredSessions({ home: this.home, client, log, now: () => clock.now() });
    this.configuration = new LiveConfiguration({
      home: options.task?.modelsHome ?? this.home,
      environment,
      client,
      log,
      clock,
    });
    const notify = (message: string | undefined, items: readonly string[]): void => {
      if (!this.#client.notifyLearnt(message, items) && message !== undefined) this.#learnt.push(message);
    };
    const isOpen = (id: string): boolean => this.#sessions.has(id);
    this.background = new Background({
      home: this.home,
      models: this,
      index: this.stored.index,
      clock,
      isOpen,
      log,
      notify,
    });
    this.jobs = new PlannedJobs({
      home: this.home,
      version,
      models: this,
      background: this.background,
      clock,
      log,
      makeAgent: (differences) => makeAgent({ ...options, ...differences }),
    });
  }

  get client(): ConnectedClient {
    return this.#client;
  }

  /** Keeps the client that `initialize` describes. */
  identify(client: ConnectedClient): void {
    this.#client = client;
    const { job, task } = this.options;
    if (client.platform !== "cli" && job === undefined && task === undefined) this.jobs.start();
  }

  /** Choice of the model that a session used last; undefined before the first session. */
  get lastModel(): string | undefined {
    const last = [...this.#sessions.values()].at(-1);
    return last && choiceId(last.model.current);
  }

  /** The open session with this id; throws the protocol's error when there is none. */
  session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw sessionUnusable(id, "it is not open; use session/new or session/load");
    return session;
  }

  findSession(id: string): AcpSession | undefined {
    return this.#sessions.get(id);
  }

  async newSession(client: AgentContext, params: SessionParams): Promise<AcpSession> {
    checkFolders(params);
    return this.#open(client, params, newSessionId((this.options.clock ?? systemClock).now()));
  }

  /** Opens a stored session again, in the folder of `asked`. `staysInWorktree`: see `inWorktree` of HermesLoadMeta. */
  async loadSession(
    client: AgentContext,
    asked: SessionParams,
    id: string,
    staysInWorktree = false,
  ): Promise<{ readonly session: AcpSession; readonly stored: StoredSession }> {
    checkAbsolute(asked);
    return this.#sessionQueue.run(id, async () => {
      await this.#close(id);
      this.stored.checkId(id);
      await this.stored.waitUntilFree(id);
      const stored = await withLostResults(() => this.readStored(id), this.options.log);
      const requests = staysInWorktree ? await import("./worktree-requests.ts") : undefined;
      const params = (await requests?.inWorktree(stored.cwd, asked)) ?? asked;
      const notes = storedNotes(stored, params.cwd, folderProblem(params.cwd));
      const problems = params.otherFolders.map(folderProblem);
      const otherFolders = params.otherFolders.filter((_, index) => problems[index] === undefined);
      const missing = params.otherFolders.flatMap((folder, index) =>
        problems[index] === undefined ? [] : [`The folder ${folder} ${problems[index]} and was left out.`],
      );
      const opening = { stored, notes: [...notes, ...missing] };
      return { session: await this.#open(client, { ...params, otherFolders }, id, opening), stored };
    });
  }

  /** Opens a new session with the messages of another one. */
  async forkSession(client: AgentContext, params: SessionParams, source: ForkSource): Promise<AcpSession> {
    checkFolders(params);
    const fork = await this.stored.fork(source, params);
    return (await this.loadSession(client, params, fork, source.inWorktree)).session;
  }

  /** Reads a session, including the lines that are not in its journal yet. */
  readStored(id: string): Promise<StoredSession> {
    const { unsaved } = this.#sessions.get(id) ?? this.#unsaved.get(id) ?? {};
    return this.stored.read(id, unsaved);
  }

  /** Rejects with an Error in one line when the title cannot be written. */
  async renameSession(id: string, title: string): Promise<void> {
    const open = this.#sessions.get(id);
    if (open !== undefined) open.agent.session.setTitle(title);
    else await this.stored.change(await this.readStored(id), { type: "title", title: titleLine(title) });
  }

  async shelveSession(id: string, shelf: HermesShelf | null): Promise<void> {
    const open = this.#sessions.get(id);
    if (open === undefined) return this.stored.change(await this.readStored(id), { type: "shelf", shelf });
    open.agent.session.journal({ type: "shelf", shelf });
    this.client.notifySessionsChanged();
  }

  closeSession(id: string): Promise<void> {
    return this.#sessionQueue.run(id, () => this.#close(id));
  }

  /** Closes and deletes a session. An unknown session counts as deleted. */
  async deleteSession(id: string): Promise<void> {
    this.stored.checkId(id);
    await this.#sessionQueue.run(id, async () => {
      await this.#close(id);
      this.#unsaved.delete(id);
      await this.stored.delete(id);
    });
  }

  /** Applies changed variables to the open sessions; null unsets one. */
  async changeEnvironment(changes: Readonly<Record<string, string | null>>): Promise<void> {
    this.configuration.change(changes);
    await this.reconfigure();
  }

  /** Reads the configuration again, for the open sessions too. */
  async reconfigure(): Promise<void> {
    await this.configuration.read();
    for (const session of this.#sessions.values()) await session.model.reconfigure();
  }

  /** The user trusts the workspace from now on. */
  trust(): void {
    for (const session of this.#sessions.values()) session.trust();
  }

  userSaved(path: string): void {
    for (const { agent } of this.#sessions.values()) agent.checkpoints?.userSaved(path);
  }

  /** Records the decision in the session that edited the file; with several, in the last one opened. */
  userReviewed(outcome: ReviewOutcome): void {
    [...this.#sessions.values()].findLast(({ agent }) => agent.recordReview(outcome));
  }

  /** Keeps the decision about a file in every session that edited it. */
  userSettled(decision: HermesSettled): void {
    for (const { agent } of this.#sessions.values()) agent.recordSettled(decision);
  }

  /**
   * Ends every session with its processes. Stores unprompted sessions, so that the client can load them in its next connection.
   */
  async dispose(): Promise<void> {
    for (const session of this.#sessions.values()) session.keep();
    await Promise.all([this.background.dispose(), this.jobs.dispose()]);
    await Promise.all([...this.#sessions.keys()].map((id) => this.closeSession(id)));
    await this.stored.dispose();
  }

  async #close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    const unsaved = await session?.close();
    if (unsaved !== undefined) this.#unsaved.set(id, unsaved);
  }

  async #open(
    client: AgentContext,
    params: SessionParams,
    id: string,
    { stored, notes = [] }: { readonly stored?: StoredSession; readonly notes?: readonly string[] } = {},
  ): Promise<AcpSession> {
    if (this.isLoggedOut) throw authRequired({ message: "You are logged out; log in first." }, this.#client.keyHint);
    const configured = await this.configuration.read();
    const { directory } = this.configuration;
    const choices = stored ?? { model: params.model, reasoningEffort: undefined };
    const model = await startingModel(directory, choices, this.#client.keyHint);
    const { local, log, job, task } = this.options;
    if (task !== undefined) await Promise.race([directory.refresh(), delay(PRICES_MS, undefined, { ref: false })]);
    const hasSandbox = configured.config.terminal.sandbox !== "off";
    // A client that shows the sandbox waits for its test. For other clients the test runs while the user types.
    if (hasSandbox && this.#client.ours.sandbox === true) await prepareSandbox();
    const session = createSession(() => {
      const made = new AcpSession({
        client,
        params,
        id,
        stored,
        configured,
        directory,
        model,
        local,
        log,
        notes,
        identity: this.#client,
        journal: this.#unsaved.get(id),
        home: this.home,
        sessions: this.stored,
        readStored: (other) => this.readStored(other),
        learning: this.background,
        jobs: job === undefined && task === undefined ? this.jobs : undefined,
        task,
        titled: () => this.#client.notifySessionsChanged(),
        beginTurn: () => this.background.beginTurn(),
        takeLearnt: () => this.#learnt.splice(0),
      });
      // An unknown toolset in the configuration becomes the error of the response.
      const { enabledToolsets, disabledToolsets = [] } = configured.options;
      if (stored !== undefined || enabledToolsets !== undefined || disabledToolsets.length > 0) void made.agent;
      return made;
    });
    this.#sessions.set(id, session);
    this.#unsaved.delete(id);
    session.model.refresh();
    session.warmUp(hasSandbox);
    this.stored.startCleanup();
    if (job === undefined && task === undefined) this.background.start();
    return session;
  }
}

/** Passes an invalid configuration on to the client: the user can correct it. */
function createSession(create: () => AcpSession): AcpSession {
  try {
    return create();
  } catch (error) {
    throw failure(`config.yaml: ${messageOf(error)}`);
  }
}
