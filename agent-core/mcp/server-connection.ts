/** Connection to one server, shared by the sessions that use it: start, lists, calls, crash and restart. */
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { AuthProvider, CreateMessageRequest, ElicitRequest } from "@modelcontextprotocol/client";
import type { Confine } from "../host/terminals/terminals.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { abortable } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import { visibleText } from "../platform/visible-text.ts";
import type { OpenClient, ServerPorts } from "./open-client.ts";
import type { ToolAnswer } from "./server-answers.ts";
import type { SignInNeeded } from "./server-auth.ts";
import type { ServerConfig } from "./server-config.ts";
import { type Listing, listingOf, NOTHING } from "./server-listing.ts";

/** Delays before the restarts after crashes within a minute. After the next crash the server stays down. Milliseconds. */
const RESTART_DELAYS_MS = [1_000, 5_000, 30_000];
const CRASH_WINDOW_MS = 60_000;
/** A call waits for a restart that is at most this far away; otherwise it fails at once. Milliseconds. */
const AWAITED_RESTART_MS = 1_000;

export type ServerState =
  /** `error`: the server is connected, and its tools are late. */
  | { readonly kind: "starting"; readonly error?: string }
  | { readonly kind: "on" }
  | { readonly kind: "needs-sign-in"; readonly error: string }
  /** `willRestart`: the connection restarts the server by itself. */
  | { readonly kind: "failed"; readonly error: string; readonly willRestart: boolean };

/** Handlers of a session for the requests that a server sends during a call. */
export type RequestHandlers = Pick<ServerPorts, "sample" | "elicit">;

export type ServerCallOptions = {
  readonly signal: AbortSignal;
  readonly handlers: RequestHandlers;
  /** One line about the progress of the call. */
  readonly onProgress?: (line: string) => void;
};

export type ConnectionOptions = {
  readonly config: ServerConfig;
  /** Working folder of a program; absolute. */
  readonly folder: string;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Credentials for an HTTP server, read at each start. Default: none. */
  readonly authProvider?: (config: ServerConfig) => Promise<AuthProvider | undefined>;
  /** False when the program has changed since the user allowed it: then the server does not restart by itself. Default: true. */
  readonly mayRestart?: () => boolean;
  /** See `HostTerminals.confine`: a server of the workspace starts in it. Default: with the user's rights. */
  readonly confine?: Confine | undefined;
  /** Receives the server's log messages, one line each. Default: they are dropped. */
  readonly log?: (line: string) => void;
};

/** Time for the answer to the first request for the tools, before the user is told. Milliseconds. */
const LATE_MS = 10_000;
const LATE = "it does not answer tools/list. Its tools come when it does";
/** Minimum time between two requests for the lists. Milliseconds. */
const RELOAD_INTERVAL_MS = 250;
/** Longest such time: some servers announce a change at each request. Milliseconds. */
const MAX_RELOAD_INTERVAL_MS = 60_000;
/** Time for the answers to the requests of a reload: one that never comes would block all later ones. Milliseconds. */
const RELOAD_LIMIT_MS = 60_000;
/** Words of a server that no longer knows a connection, in an error of HTTP or of the protocol. */
const FORGOTTEN = /\bsession\b|\binitiali[sz]/i;
/** Statuses that say that the connection itself is refused, or its server is not there yet. No call ran. */
const isRefusal = (status: unknown): boolean =>
  typeof status === "number" && ((status >= 400 && status < 500 && status !== 429) || status === 502 || status === 503);

/** Log messages of one start, and their length in characters: a server may send thousands a second. */
const MAX_LOG_LINES = 200;
const LOG_CHARS = 500;

type ServerRequest<Value> = (client: OpenClient, options: Parameters<OpenClient["readResource"]>[1]) => Promise<Value>;

type RunningCall = {
  readonly handlers: RequestHandlers;
  /** Restarts the idle timeout. */
  touch(): void;
  /** Stops the idle timeout, while the user is asked. */
  pause(): void;
};

export class ServerConnection {
  readonly config: ServerConfig;
  readonly #options: ConnectionOptions;
  readonly #listeners = new Set<() => void>();
  /** Folders of the sessions that use the server, absolute; each list belongs to one session. */
  readonly #folders = new Set<readonly string[]>();
  readonly #running = new Set<RunningCall>();
  readonly #crashes: number[] = [];
  #state: ServerState = { kind: "starting" };
  #listing = NOTHING;
  #client: OpenClient | undefined;
  /** Settles when the current start has succeeded or failed. */
  #started: Promise<void> = Promise.resolve();
  /** Ends the wait before a restart. */
  #restart: AbortController | undefined;
  /** Time of the clock at which the server restarts by itself. */
  #restartsAt = 0;
  #isClosed: boolean = false;
  /** The server announced another list since the last reading. */
  #isStale: boolean = false;
  #isReloading: boolean = false;
  /** Log messages since the start. */
  #logged = 0;
  /** Number of starts. Reports of an earlier start are ignored. */
  #generation = 0;

  constructor(options: ConnectionOptions) {
    this.config = options.config;
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The same object as long as nothing changed. */
  get listing(): Listing {
    return this.#listing;
  }

  /** Settles when the current start has succeeded or failed. Never rejects. */
  get started(): Promise<void> {
    return this.#started;
  }

  /** Calls `listener` after each change of the state or the lists. Returns its removal. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Adds the folders of a session to the server's roots. Returns their removal. */
  addRoots(folders: readonly string[]): () => void {
    this.#folders.add(folders);
    this.#announceRoots();
    return () => {
      if (this.#folders.delete(folders)) this.#announceRoots();
    };
  }

  /** Starts the server, or starts it again; without effect once it is closed. Settles as `started`. */
  start(): Promise<void> {
    if (this.#isClosed) return this.#started;
    this.#generation += 1;
    this.#restart?.abort();
    this.#started = this.#open(this.#generation);
    return this.#started;
  }

  /** Ends the server for good: a sign-in that ends later does not start it. Resolves when no process of it is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#generation += 1;
    this.#restart?.abort();
    const client = this.#client;
    this.#client = undefined;
    await client?.close().catch(() => undefined);
  }

  call(tool: string, args: unknown, options: ServerCallOptions): Promise<ToolAnswer> {
    return this.run(options, (client, running) => client.call(tool, args, running));
  }

  async #open(generation: number): Promise<void> {
    const previous = this.#client;
    this.#client = undefined;
    this.#logged = 0;
    this.#set({ kind: "starting" });
    await previous?.close().catch(() => undefined);
    const { config, folder, authProvider } = this.#options;
    try {
      const { openClient } = await import("./open-client.ts");
      if (generation !== this.#generation) return;
      const client = await openClient(config, folder, this.#ports(generation, await authProvider?.(config)));
      if (generation !== this.#generation) return void (await client.close().catch(() => undefined));
      this.#client = client;
      const listed = new AbortController();
      const { clock = systemClock } = this.#options;
      const late = (): void => this.#set({ kind: "starting", error: LATE });
      clock.wait(LATE_MS, listed.signal).then(late, () => undefined); // the list is there
      this.#listing = await this.#list(client).finally(() => listed.abort());
      if (generation === this.#generation && this.#client !== undefined) this.#set({ kind: "on" });
    } catch (error) {
      if (generation !== this.#generation || this.#state.kind !== "starting") return; // its end is reported already
      const client = this.#client;
      this.#client = undefined;
      this.#generation += 1; // the close below is no crash
      const message = messageOf(error);
      if (isSignInNeeded(error)) this.#set({ kind: "needs-sign-in", error: message });
      else if (this.#crashes.length > 0) this.#crashed(message);
      else this.#set({ kind: "failed", error: message, willRestart: false });
      await client?.close().catch(() => undefined);
    }
  }

  #ports(generation: number, authProvider: ServerPorts["authProvider"]): ServerPorts {
    return {
      authProvider,
      confine: this.#options.confine,
      roots: () => rootsOf([...this.#folders].flat()),
      sample: (params: CreateMessageRequest["params"], signal) =>
        this.#handleRequest((handlers) => handlers.sample(params, signal), "sampling"),
      elicit: (params: ElicitRequest["params"], signal) =>
        this.#handleRequest((handlers) => handlers.elicit(params, signal), "elicitation"),
      onListChanged: () => void this.#reload(),
      onLog: (line) => this.#log(line),
      onClose: () => {
        if (generation !== this.#generation || this.#isClosed) return;
        const log = this.#client?.log;
        this.#client = undefined;
        this.#crashed(log ? `it ended (${log})` : "the connection ended");
      },
    };
  }

  /** The session of the newest call handles the request: a server sends requests while it runs a call. */
  async #handleRequest<Value>(handle: (handlers: RequestHandlers) => Promise<Value>, kind: string): Promise<Value> {
    const running = [...this.#running].at(-1);
    if (running === undefined) throw new Error(`${kind} is possible only during a call`);
    running.pause();
    try {
      return await handle(running.handlers);
    } finally {
      running.touch();
    }
  }

  #log(line: string): void {
    this.#logged += 1;
    if (this.#logged > MAX_LOG_LINES) return;
    const text = visibleText(line.slice(0, LOG_CHARS)).replaceAll("\n", " ");
    const end = this.#logged === MAX_LOG_LINES ? " (further messages are left out)" : "";
    this.#options.log?.(`MCP server ${this.config.name}: ${text}${end}`);
  }

  #crashed(error: string): void {
    const { clock = systemClock } = this.#options;
    const now = clock.now();
    this.#crashes.push(now);
    const recent = this.#crashes.filter((time) => now - time < CRASH_WINDOW_MS);
    const willRestart = recent.length <= RESTART_DELAYS_MS.length;
    const { name } = this.config;
    const advice = `It ended ${recent.length} times within a minute. Type \`/mcp restart ${name}\` to start it again.`;
    this.#set({ kind: "failed", error: willRestart ? error : `${error}. ${advice}`, willRestart });
    if (!willRestart) return;
    const delayMs = RESTART_DELAYS_MS[recent.length - 1] ?? 0;
    this.#restart = new AbortController();
    this.#restartsAt = now + delayMs;
    this.#started = clock.wait(delayMs, this.#restart.signal).then(
      () => this.#startAgain(),
      () => undefined, // the server was closed, or started by the user
    );
  }

  async #startAgain(): Promise<void> {
    if (this.#options.mayRestart?.() !== false) return this.start();
    const error = `its program changed since you allowed it. Type \`/mcp allow ${this.config.name}\` to start it again`;
    this.#set({ kind: "failed", error, willRestart: false });
  }

  /** Reads the lists again. Notices that arrive meanwhile share the next reading. */
  async #reload(): Promise<void> {
    this.#isStale = true;
    if (this.#isReloading) return;
    this.#isReloading = true;
    const { clock = systemClock } = this.#options;
    let intervalMs = RELOAD_INTERVAL_MS;
    for (let client = this.#client; this.#isStale && client !== undefined; client = this.#client) {
      this.#isStale = false;
      const limit = new AbortController();
      const end = (): void => limit.abort();
      clock.wait(RELOAD_LIMIT_MS, limit.signal).then(end, end);
      const listing = await this.#list(client, limit).catch(() => undefined);
      end();
      const isNew = listing !== undefined && JSON.stringify(listing) !== JSON.stringify(this.#listing);
      if (isNew && client === this.#client) {
        this.#listing = listing;
        this.#notify();
      }
      intervalMs = isNew ? RELOAD_INTERVAL_MS : Math.min(intervalMs * 2, MAX_RELOAD_INTERVAL_MS);
      await delay(intervalMs, undefined, { ref: false });
    }
    this.#isReloading = false;
  }

  /** Asks a server again that is not ready yet, after three longer and longer waits. */
  async #list(client: OpenClient, limit?: AbortController, waitMs = RELOAD_INTERVAL_MS): Promise<Listing> {
    return listingOf(client, this.#listing, limit).catch((error: unknown) => {
      const isLast = waitMs > RELOAD_INTERVAL_MS * 4 || limit?.signal.aborted;
      if (isLast || client !== this.#client) throw error;
      return delay(waitMs, undefined, { ref: false }).then(() => this.#list(client, limit, waitMs * 2));
    });
  }

  #announceRoots(): void {
    this.#client?.rootsChanged().catch(() => undefined);
  }

  #set(state: ServerState): void {
    this.#state = state;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  async #connected(signal: AbortSignal): Promise<OpenClient> {
    const { clock = systemClock } = this.#options;
    const failed = this.#state;
    const waitMs = failed.kind === "failed" && failed.willRestart ? this.#restartsAt - clock.now() : 0;
    if (failed.kind === "failed" && waitMs > AWAITED_RESTART_MS) {
      const advice = `It restarts by itself; try again in ${Math.ceil(waitMs / 1_000)} s`;
      throw new Error(`the MCP server ${this.config.name} is not available: ${failed.error}. ${advice}`);
    }
    if (this.#client === undefined) await abortable(this.#started, signal);
    const client = this.#client;
    if (client !== undefined) return client;
    const state = this.#state;
    throw new Error(`the MCP server ${this.config.name} is not available${"error" in state ? `: ${state.error}` : ""}`);
  }

  /** Runs one request; once more over a new connection when a restarted server no longer knows this one. */
  async run<Value>(options: ServerCallOptions, request: ServerRequest<Value>): Promise<Value> {
    const client = await this.#connected(options.signal);
    try {
      return await this.#attempt(client, options, request);
    } catch (error) {
      options.signal.throwIfAborted();
      const isForgotten =
        error instanceof Error &&
        (("status" in error && isRefusal(error.status)) || FORGOTTEN.test(error.message) || isSignInNeeded(error));
      if (!isForgotten || this.config.settings.kind === "stdio") throw error;
      if (this.#client === client) await abortable(this.start(), options.signal);
      return this.#attempt(await this.#connected(options.signal), options, request).catch((again: unknown) => {
        if (isSignInNeeded(again)) this.#set({ kind: "needs-sign-in", error: again.message });
        throw again;
      });
    }
  }

  /** Runs one request with the idle timeout of the settings. Rejects with an Error in one line. */
  async #attempt<Value>(
    client: OpenClient,
    { signal, handlers, onProgress }: ServerCallOptions,
    request: ServerRequest<Value>,
  ): Promise<Value> {
    const { name, timeoutMs } = this.config;
    const timeout = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const pause = (): void => clearTimeout(timer);
    const touch = (): void => {
      pause();
      timer = setTimeout(() => timeout.abort(), timeoutMs);
    };
    const running: RunningCall = { handlers, touch, pause };
    this.#running.add(running);
    touch();
    try {
      return await request(client, {
        signal: AbortSignal.any([signal, timeout.signal]),
        onProgress: ({ progress, total, message }) => {
          touch();
          const amount = total === undefined ? `${progress}` : `${progress}/${total}`;
          onProgress?.(message === undefined ? amount : `${amount} ${message}`);
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.signal.aborted) {
        throw new Error(`the MCP server ${name} sent nothing for ${timeoutMs / 1_000} s; the call was cancelled`);
      }
      if (this.#client !== client)
        throw new Error(`the MCP server ${name} ended during the call${client.log === "" ? "" : `: ${client.log}`}`);
      throw error;
    } finally {
      pause();
      this.#running.delete(running);
    }
  }
}

/** The class itself would load the library with this module. */
function isSignInNeeded(error: unknown): error is SignInNeeded {
  return error instanceof Error && error.name === "SignInNeeded";
}

function rootsOf(folders: readonly string[]) {
  return [...new Set(folders)].map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) }));
}
