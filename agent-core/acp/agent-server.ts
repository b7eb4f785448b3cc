/** One connection's worth of agent: who the client is, and the sessions it has open. */
import { isAbsolute } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AgentContext, RequestError } from "@zed-industries/agent-client-protocol";
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import { collectGarbage, forgetSession, hashesIn } from "../checkpoints/collect-garbage.ts";
import { ObjectStore } from "../checkpoints/object-store.ts";
import {
  checkpointsFolder,
  type Environment,
  homeFolder,
  sessionIndexFile,
  sessionsFolder,
  spillFolder,
} from "../config/home.ts";
import type { Host } from "../host/host.ts";
import { Deadline } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { lockHolder } from "../platform/locks/file-lock.ts";
import type { HermesImport, HermesImported } from "../protocol/sessions.ts";
import { discoverEditorModels } from "../providers/catalogue/discovered-models.ts";
import { deployments } from "../providers/deployments.ts";
import { forkSession } from "../sessions/fork-session.ts";
import { SessionIndex } from "../sessions/index/session-index.ts";
import type { Journal } from "../sessions/journal.ts";
import { readJournal, type StoredSession } from "../sessions/read-journal.ts";
import { journalPath, newSessionId } from "../sessions/session-files.ts";
import { deleteSession, renameSession } from "../sessions/stored-session.ts";
import { forkTitle } from "../sessions/titles.ts";
import { AcpSession } from "./acp-session.ts";
import { ConnectedClient } from "./connected-client.ts";
import { importWords } from "./import-words.ts";
import { notWritten, sessionUnusable } from "./request-errors.ts";
import { startingModel } from "./session-model.ts";
import type { SessionParams } from "./session-params.ts";
import { storedNotes } from "./stored-notes.ts";

/** Key of `platform_toolsets` that says which toolsets an editor gets. */
const PLATFORM = "acp";
/** A window that is reloaded opens its session again while its former process may still be ending. */
const LOCK_WAIT_MS = 2_000;
/** The sweep starts when the first prompt is no longer waiting for this process. */
const SWEEP_DELAY_MS = 1_000;
const LOCK_POLL_MS = 50;

export type AgentServerOptions = {
  readonly version: string;
  readonly environment: Environment;
  /** This machine. */
  readonly local: Host;
  /** One line for the log. */
  readonly log: (line: string) => void;
};

export class AgentServer {
  readonly options: AgentServerOptions;
  readonly home: string;
  readonly directory: ModelDirectory;
  /** Every stored session of the home. */
  readonly index: SessionIndex;
  /** What files held before they were changed. */
  readonly #objects: ObjectStore;
  /** The sweep of what nothing needs any more, once it has begun. */
  #sweep: Promise<void> | undefined;
  /** Settles when the last import is over. */
  #importing: Promise<unknown> = Promise.resolve();
  readonly #closed = new AbortController();
  readonly #sessions = new Map<string, AcpSession>();
  /** One session is opened, closed or deleted at a time. */
  readonly #sessionQueue = new KeyedQueue();
  /** Of sessions that were closed while something of them could not be saved. */
  readonly #unsaved = new Map<string, Journal>();
  #client = new ConnectedClient({}, undefined, undefined);
  /** What the process was given, with what the client has changed since. */
  #environment: Environment;

  constructor(options: AgentServerOptions) {
    this.options = options;
    this.home = homeFolder(options.environment);
    this.index = new SessionIndex({
      journals: sessionsFolder(this.home),
      file: sessionIndexFile(this.home),
      log: options.log,
      building: (building) => this.#client.notifyBuilding(building),
    });
    this.#objects = new ObjectStore(checkpointsFolder(this.home));
    this.#environment = options.environment;
    this.directory = new ModelDirectory({
      home: this.home,
      log: options.log,
      editorModels: async () => (this.#client.models ? discoverEditorModels(this.#client.models) : []),
    });
  }

  get client(): ConnectedClient {
    return this.#client;
  }

  /** Keeps the client's answer to `initialize`. */
  identify(client: ConnectedClient): void {
    this.#client = client;
  }

  /** The open session with this id; throws the protocol's error when there is none. */
  session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw sessionUnusable(id, "it is not open; use session/new or session/load");
    return session;
  }

  /** The same without the error, for notifications. */
  findSession(id: string): AcpSession | undefined {
    return this.#sessions.get(id);
  }

  async newSession(client: AgentContext, place: SessionParams): Promise<AcpSession> {
    await this.#checkFolder(place.cwd);
    return this.#open(client, place, newSessionId(Date.now()));
  }

  /** Opens a stored session again. The journal keeps its first working folder; `place` is where it goes on. */
  async loadSession(
    client: AgentContext,
    place: SessionParams,
    id: string,
  ): Promise<{ readonly session: AcpSession; readonly stored: StoredSession }> {
    if (!isAbsolute(place.cwd)) throw invalidFolder(place.cwd, "is not an absolute path");
    return this.#sessionQueue.run(id, async () => {
      await this.#close(id);
      await this.#checkLock(id);
      const stored = await this.readStored(id);
      const notes = storedNotes(stored, place.cwd, await this.#folderProblem(place.cwd));
      return { session: await this.#open(client, place, id, { stored, notes }), stored };
    });
  }

  /** What is stored of a session. */
  async readStored(id: string): Promise<StoredSession> {
    const path = journalPath(sessionsFolder(this.home), id);
    if (path === undefined) throw sessionUnusable(id, "this is not the id of a session");
    const { unsaved } = this.#sessions.get(id) ?? this.#unsaved.get(id) ?? {};
    const read = await readJournal(path, unsaved);
    if (!read.ok) throw sessionUnusable(id, read.message);
    return read.session;
  }

  /** Names a stored session that is not open here. Rejects with an Error in one line when it cannot be written. */
  async renameStored(id: string, title: string): Promise<void> {
    await renameSession(await this.readStored(id), title);
    this.#client.notifySessionsChanged();
  }

  /** Opens a new session that begins with what the stored session `id` has come to, or what it was before `position`. */
  async forkSession(
    client: AgentContext,
    place: SessionParams,
    { id, position }: { readonly id: string; readonly position?: number },
  ): Promise<AcpSession> {
    await this.#checkFolder(place.cwd);
    const now = Date.now();
    const fork = newSessionId(now);
    const [from, to] = [id, fork].map((name) => journalPath(sessionsFolder(this.home), name));
    if (from === undefined || to === undefined) throw sessionUnusable(id, "this is not the id of a session");
    const read = await readJournal(from);
    if (!read.ok) throw sessionUnusable(id, read.message);
    const title = forkTitle(read.session.title, await this.#relatedTitles(id));
    await forkSession(from, to, id, { id: fork, cwd: place.cwd, at: now, position, title }).catch((error: unknown) => {
      throw notWritten(`The fork of session ${id} cannot be stored`, error);
    });
    this.#client.notifySessionsChanged();
    return (await this.loadSession(client, place, fork)).session;
  }

  /** Reads the configuration, as it is now. */
  async configure(): Promise<ConfiguredAgent> {
    const configured = await configuredAgent(this.#environment, PLATFORM);
    this.directory.configure(configured);
    // A key that the client has set since is newer than the one that a session began with.
    const refreshEnvironment = async (): Promise<Environment> =>
      (await configuredAgent(this.#environment, PLATFORM)).options.environment ?? this.#environment;
    return { ...configured, options: { ...configured.options, refreshEnvironment } };
  }

  /** Sets variables, or takes them away (null); open sessions go on with what they now lead to. */
  async changeEnvironment(changes: Readonly<Record<string, string | null>>): Promise<void> {
    const entries = Object.entries(changes).map(([name, value]) => [name, value ?? undefined] as const);
    this.#environment = { ...this.#environment, ...Object.fromEntries(entries) };
    for (const { name, keyVariable = "", urlVariable = "" } of deployments) {
      if (keyVariable in changes || urlVariable in changes) this.directory.forget(name);
    }
    await this.reconfigure();
  }

  /** The user has come to trust the workspace. */
  trust(): void {
    for (const session of this.#sessions.values()) session.trust();
  }

  /** Reads the configuration again, for the open sessions too. */
  async reconfigure(): Promise<void> {
    await this.configure();
    for (const session of this.#sessions.values()) await session.model.reconfigure();
  }

  /** The user saved this file in the editor. */
  userSaved(path: string): void {
    for (const { agent } of this.#sessions.values()) agent.checkpoints?.userSaved(path);
  }

  closeSession(id: string): Promise<void> {
    return this.#sessionQueue.run(id, () => this.#close(id));
  }

  async #close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    const unsaved = await session?.close();
    if (unsaved !== undefined) this.#unsaved.set(id, unsaved);
  }

  /** Removes a stored session and what its tools wrote aside; one that is not there is deleted already. */
  async deleteSession(id: string): Promise<void> {
    const path = journalPath(sessionsFolder(this.home), id);
    if (path === undefined) throw sessionUnusable(id, "this is not the id of a session");
    await this.#sessionQueue.run(id, () => this.#delete(id, path));
  }

  async #delete(id: string, path: string): Promise<void> {
    await this.#close(id);
    this.#unsaved.delete(id);
    const hashes = await hashesIn(path);
    const writer = await deleteSession(path, spillFolder(this.home, id)).catch((error: unknown) => {
      throw notWritten(`Session ${id} cannot be deleted`, error);
    });
    if (writer === undefined) await forgetSession(hashes, this.#objects, sessionsFolder(this.home));
    this.#client.notifySessionsChanged();
    if (writer) throw sessionUnusable(id, `another Hermes (process ${writer.pid}) is writing it; close it there first`);
  }

  /** Brings sessions over, one import at a time. Rejects with an Error in one line. */
  async importSessions(
    { path = this.home, again = false }: HermesImport,
    signal: AbortSignal,
  ): Promise<HermesImported> {
    if (!isAbsolute(path)) throw new Error(`path: ${JSON.stringify(path)} is not an absolute path`);
    const progress = (done: number, total: number): void => this.#client.notifyImporting({ done, total });
    const open = [...this.#sessions.keys()];
    const importing = this.#importing.then(() => this.index.import({ from: path, open, again, progress, signal }));
    this.#importing = importing.catch(() => undefined); // whoever asked for it is told
    const report = await importing;
    this.#client.notifySessionsChanged();
    return { ...report, summary: importWords(report) };
  }

  /** Ends every session and what it runs. */
  async dispose(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.closeSession(id)));
    this.#closed.abort();
    await this.#sweep;
    await this.index.close();
  }

  async #open(
    client: AgentContext,
    place: SessionParams,
    id: string,
    { stored, notes = [] }: { readonly stored?: StoredSession; readonly notes?: readonly string[] } = {},
  ): Promise<AcpSession> {
    const configured = await this.configure();
    const model = await startingModel(this.directory, stored ?? { model: place.model, reasoningEffort: undefined });
    const session = createSession(
      () =>
        new AcpSession({
          client,
          identity: this.#client,
          place,
          id,
          stored,
          journal: this.#unsaved.get(id),
          notes,
          configured,
          directory: this.directory,
          editorModels: this.#client.models,
          model,
          home: this.home,
          index: this.index,
          readStored: (stored) => this.readStored(stored),
          importSessions: (request, signal) => this.importSessions(request, signal),
          titled: () => this.#client.notifySessionsChanged(),
          local: this.options.local,
          log: this.options.log,
        }),
    );
    this.#sessions.set(id, session);
    this.#unsaved.delete(id);
    session.model.refresh();
    session.warmUp();
    this.#sweep ??= this.#collectGarbage();
    return session;
  }

  /** Goes on beside the sessions: nobody waits for it. */
  async #collectGarbage(): Promise<void> {
    const { signal } = this.#closed;
    try {
      await delay(SWEEP_DELAY_MS, undefined, { signal, ref: false });
      await collectGarbage({ store: this.#objects, journals: sessionsFolder(this.home), now: Date.now(), signal });
    } catch (error) {
      if (!signal.aborted) this.options.log(`The checkpoints could not be swept: ${String(error)}`);
    }
  }

  /** Without an index a fork is not called off for its name. */
  async #relatedTitles(id: string): Promise<readonly string[]> {
    try {
      return (await this.index.ask("related", id)).value;
    } catch (error) {
      this.options.log(`The titles of other forks are not known: ${String(error)}`);
      return [];
    }
  }

  async #checkFolder(cwd: string): Promise<void> {
    if (!isAbsolute(cwd)) throw invalidFolder(cwd, "is not an absolute path");
    const problem = await this.#folderProblem(cwd);
    if (problem !== undefined) throw invalidFolder(cwd, problem);
  }

  async #folderProblem(cwd: string): Promise<string | undefined> {
    const stat = await this.options.local.files.stat(cwd);
    if (stat === undefined) return "does not exist";
    return stat.kind === "directory" ? undefined : "is not a folder";
  }

  /** Two that go on with one session would not know of each other's words. */
  async #checkLock(id: string): Promise<void> {
    const path = journalPath(sessionsFolder(this.home), id);
    if (path === undefined) return;
    const deadline = new Deadline(LOCK_WAIT_MS);
    let holder = lockHolder(`${path}.lock`);
    while (holder !== undefined && !deadline.hasPassed()) {
      await delay(LOCK_POLL_MS);
      holder = lockHolder(`${path}.lock`);
    }
    if (holder === undefined) return;
    const who = `another Hermes (process ${holder.pid}) has it open`;
    throw sessionUnusable(id, `${who}; close it there first, or fork it to go on with a copy`);
  }
}

/** A configuration that cannot be met is the user's to mend: its one line goes to the client. */
function createSession(create: () => AcpSession): AcpSession {
  try {
    return create();
  } catch (error) {
    throw RequestError.internalError(undefined, messageOf(error));
  }
}

function invalidFolder(cwd: string, problem: string): RequestError {
  return RequestError.invalidParams({ field: "cwd", value: cwd }, `cwd: ${JSON.stringify(cwd)} ${problem}`);
}
