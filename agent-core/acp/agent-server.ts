/** The agent of one connection: its client, its configuration and its open sessions. */
import { setTimeout as delay } from "node:timers/promises";
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import { withLostResults } from "../agent/stored-agent.ts";
import { type Environment, homeFolder } from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { folderProblem } from "../host/node-files.ts";
import { prepareSandbox } from "../host/terminals/sandbox/find-sandbox.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { useNetwork } from "../platform/http/connections.ts";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { failure } from "../protocol/handle.ts";
import type { HermesImport, HermesImported, HermesShelf } from "../protocol/sessions.ts";
import { discoverEditorModels } from "../providers/catalogue/discovered-models.ts";
import { deployments } from "../providers/deployments.ts";
import { choiceId } from "../providers/model-choice.ts";
import type { Journal } from "../sessions/journal.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { StoredSession } from "../sessions/read-journal.ts";
import { newSessionId } from "../sessions/session-files.ts";
import { writeProblem } from "../sessions/write-fault.ts";
import { AcpSession } from "./acp-session.ts";
import { Background } from "./background.ts";
import { ConnectedClient, hermesCapabilities } from "./connected-client.ts";
import { type JobAgent, type JobAgentOptions, PlannedJobs } from "./planned-jobs.ts";
import { authRequired, sessionUnusable } from "./request-errors.ts";
import { startingModel } from "./session-model.ts";
import { checkAbsolute, checkFolders, type SessionParams } from "./session-params.ts";
import { type ForkSource, StoredSessions } from "./stored-sessions.ts";

export type AgentServerOptions = {
  readonly version: string;
  readonly environment: Environment;
  /** This machine. */
  readonly local: Host;
  /** One line for the log. */
  readonly log: (line: string) => void;
  /** Time of sessions, journals, memory and skills. Default: the system's. */
  readonly clock?: Clock;
  /** Serves the session of a planned job: without background work, and without the right to plan jobs. Default: a user's. */
  readonly job?: JobAgentOptions["job"];
  /** Serves the session of a batch's task, which nobody reads along. Default: a user's. */
  readonly task?: TaskOptions;
};

/** Without background work, planned jobs, slash commands, and the project's files of instructions. */
export type TaskOptions = {
  /** Added to the system prompt. */
  readonly systemMessage: string | undefined;
  /** Home whose lists of models the tasks share. */
  readonly modelsHome: string;
};

/** Longest wait of a task for the prices in the list of models. Milliseconds. */
const PRICES_MS = 2_000;

/** Delay of the sandbox test, so that an immediate prompt sends its request first. Milliseconds. */
const SANDBOX_DELAY_MS = 50;

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

  /** Opens a stored session again, in the folder of `params`. */
  async loadSession(
    client: AgentContext,
    params: SessionParams,
    id: string,
  ): Promise<{ readonly session: AcpSession; readonly stored: StoredSession }> {
    checkAbsolute(params);
    return this.#sessionQueue.run(id, async () => {
      await this.#close(id);
      this.stored.checkId(id);
      await this.stored.waitUntilFree(id);
      const stored = await withLostResults(() => this.readStored(id), this.options.log);
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
    return (await this.loadSession(client, params, fork)).session;
  }

  /** Reads a session, including the lines that are not in its journal yet. */
  readStored(id: string): Promise<StoredSession> {
    const { unsaved } = this.#sessions.get(id) ?? this.#unsaved.get(id) ?? {};
    return this.stored.read(id, unsaved);
  }

  /** Rejects with an Error in one line when the title cannot be written. */
  async renameSession(id: string, title: string): Promise<void> {
    const open = this.#sessions.get(id);
    if (open !== undefined) open.agent.setTitle(title);
    else await this.stored.rename(await this.readStored(id), title);
  }

  async shelveSession(id: string, shelf: HermesShelf | null): Promise<void> {
    const open = this.#sessions.get(id);
    if (open === undefined) return this.stored.shelve(await this.readStored(id), shelf);
    open.agent.shelve(shelf);
    this.client.notifySessionsChanged();
  }

  importSessions(request: HermesImport, signal: AbortSignal): Promise<HermesImported> {
    return this.stored.import(request, [...this.#sessions.keys()], signal);
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

  /** The user saved this file in the editor. */
  userSaved(path: string): void {
    for (const { agent } of this.#sessions.values()) agent.checkpoints?.userSaved(path);
  }

  /** Records the decision in the session that edited the file; with several, in the last one opened. */
  userReviewed(outcome: ReviewOutcome): void {
    [...this.#sessions.values()].findLast(({ agent }) => agent.recordReview(outcome));
  }

  /**
   * Ends every session with its processes. Stores unprompted sessions, so that the client can load them in its next
   * connection.
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
    if (configured.config.terminal.sandbox !== "off") await this.#prepareSandbox();
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
        index: this.stored.index,
        readStored: (other) => this.readStored(other),
        importSessions: (request, signal) => this.importSessions(request, signal),
        learning: this.background,
        jobs: job === undefined && task === undefined ? this.jobs : undefined,
        task,
        titled: () => this.#client.notifySessionsChanged(),
        beginTurn: () => this.background.beginTurn(),
        takeLearnt: () => this.#learnt.splice(0),
      });
      // An unknown toolset in the configuration becomes the error of the response.
      if (stored !== undefined || namesToolsets(configured)) void made.agent;
      return made;
    });
    this.#sessions.set(id, session);
    this.#unsaved.delete(id);
    session.model.refresh();
    session.warmUp();
    this.stored.startCleanup();
    if (job === undefined && task === undefined) this.background.start();
    return session;
  }

  /** A client that shows the sandbox waits for its test. For other clients the test runs while the user types. */
  async #prepareSandbox(): Promise<void> {
    if (hermesCapabilities(this.#client.capabilities).sandbox === true) await prepareSandbox();
    else setTimeout(prepareSandbox, SANDBOX_DELAY_MS).unref();
  }
}

function namesToolsets({ options: { enabledToolsets, disabledToolsets = [] } }: ConfiguredAgent): boolean {
  return enabledToolsets !== undefined || disabledToolsets.length > 0;
}

/** Passes an invalid configuration on to the client: the user can correct it. */
function createSession(create: () => AcpSession): AcpSession {
  try {
    return create();
  } catch (error) {
    throw failure(`config.yaml: ${messageOf(error)}`);
  }
}

/** Warnings about a stored session, one line each. `folderProblem` ends a sentence about the folder. */
function storedNotes(
  { path, damagedLines, cwd: before }: StoredSession,
  cwd: string,
  folderProblem: string | undefined,
): readonly string[] {
  const fault = writeProblem(path);
  return [
    ...(damagedLines === 0 ? [] : [`${linesOf(damagedLines)} left out; the rest is complete (${path}).`]),
    ...(fault === undefined ? [] : [`This session can be read but not saved: ${fault}.`]),
    ...(before === "" || before === cwd ? [] : [`This session began in ${before}, and goes on in ${cwd}.`]),
    ...(folderProblem === undefined ? [] : [`The folder ${cwd} ${folderProblem}. ${WITHOUT_FOLDER}`]),
  ];
}

const WITHOUT_FOLDER = "The conversation is complete. Commands and file edits work again once the folder exists.";

function linesOf(count: number): string {
  return count === 1
    ? "1 line of this session's journal cannot be read and was"
    : `${count} lines of this session's journal cannot be read and were`;
}

/** Settings of sessions whose user is not at the machine: commands run in the sandbox or not at all, and only people approve. */
function forChats(configured: ConfiguredAgent): ConfiguredAgent {
  const { options, config } = configured;
  const terminal = { ...config.terminal, sandbox: "on" as const };
  return { ...configured, config: { ...config, terminal }, options: { ...options, approvals: "manual" } };
}

type LiveConfigurationOptions = {
  /** Home of the lists of models. */
  readonly home: string;
  readonly environment: Environment;
  /** The current client, which may offer models. */
  readonly client: () => ConnectedClient;
  /** One line for the log. */
  readonly log: (line: string) => void;
  readonly clock: Clock;
};

/** Configuration while the agent runs: the home's files, and variables that the client has changed since the start. */
class LiveConfiguration {
  readonly directory: ModelDirectory;
  readonly #client: () => ConnectedClient;
  readonly #clock: Clock;
  #environment: Environment;

  /** Variables of the process, with the client's changes. */
  get environment(): Environment {
    return this.#environment;
  }

  constructor({ home, environment, client, log, clock }: LiveConfigurationOptions) {
    this.#environment = environment;
    this.#clock = clock;
    this.#client = client;
    const editorModels = async () => {
      const { models } = client();
      return models === undefined ? [] : discoverEditorModels(models);
    };
    this.directory = new ModelDirectory({ home, log, editorModels });
  }

  /** Reads the configuration again. */
  async read(): Promise<ConfiguredAgent> {
    const { platform, isChat } = this.#client();
    const own = await configuredAgent(this.#environment, platform, this.#clock);
    const configured = isChat ? forChats(own) : own;
    this.directory.configure(configured);
    useNetwork(configured.options.environment);
    // A key of the client may be newer than the one that the session started with.
    const refreshEnvironment = async (): Promise<Environment> =>
      (await configuredAgent(this.#environment, platform)).options.environment;
    return { ...configured, options: { ...configured.options, refreshEnvironment } };
  }

  /** Sets variables for the next reading; null unsets one. */
  change(changes: Readonly<Record<string, string | null>>): void {
    const entries = Object.entries(changes).map(([name, value]) => [name, value ?? undefined] as const);
    this.#environment = { ...this.#environment, ...Object.fromEntries(entries) };
    for (const { name, keyVariable = "", urlVariable = "" } of deployments) {
      if (keyVariable in changes || urlVariable in changes) this.directory.forget(name);
    }
  }
}
