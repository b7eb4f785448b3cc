/** Connection to the process of one plugin: starts it, calls its handlers, and ends it when it does not answer. */
import { type ChildProcess, fork } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { guard } from "../platform/children/guard.ts";
import { killTree, MARKER_VARIABLE } from "../platform/children/process-tree.ts";
import { messageOf } from "../platform/errors.ts";
import type { CallFacts, FromPlugin, Registration, ToPlugin } from "./plugin-messages.ts";

/** Timeouts in milliseconds. */
export type PluginTimeouts = {
  /** From the start of the process to the end of `register`. */
  readonly start: number;
  /** Call of a tool without a timeout of its own. */
  readonly tool: number;
  readonly hook: number;
  /** Any other call. */
  readonly other: number;
  /** Acknowledgement of a cancel: only a thread in an endless loop sends none. */
  readonly cancel: number;
};

export const PLUGIN_TIMEOUTS: PluginTimeouts = {
  start: 10_000,
  tool: 120_000,
  hook: 10_000,
  other: 10_000,
  cancel: 2_000,
};

export type PluginConnectionOptions = {
  /** Path of the plugin's index.js, absolute. */
  readonly entry: string;
  /** The plugin's part of config.yaml. */
  readonly config: unknown;
  /** Whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeouts: PluginTimeouts;
  readonly log: (line: string) => void;
  /** Called once when the plugin ended by itself or had to be ended. `reason` continues "The plugin is off: …". */
  readonly onStopped: (reason: string) => void;
};

export type PluginCallRequest = {
  readonly handler: number;
  readonly input: unknown;
  readonly facts: CallFacts;
  /** Subject of the sentence "… did not answer": `the tool forecast`. */
  readonly subject: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onShow?: (text: string) => void;
};

type Running = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onShow: ((text: string) => void) | undefined;
  timer: NodeJS.Timeout;
};

export class PluginConnection {
  /** Registrations of the plugin. Rejects with a reason when it could not be started. */
  readonly registrations: Promise<readonly Registration[]>;
  readonly #options: PluginConnectionOptions;
  readonly #child: ChildProcess;
  readonly #marker = guard.mark();
  /** Settles when the programs that the plugin started have ended. */
  #programsEnded: Promise<void> = Promise.resolve();
  readonly #running = new Map<number, Running>();
  readonly #registered = Promise.withResolvers<readonly Registration[]>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #starting: NodeJS.Timeout;
  #calls = 0;
  #stopped: string | undefined;

  constructor(options: PluginConnectionOptions) {
    const { entry, config, environment, timeouts } = options;
    this.#options = options;
    this.registrations = this.#registered.promise;
    this.registrations.catch(() => undefined); // `onStopped` reports the reason
    this.#child = startProcess(dirname(entry), { ...environment, [MARKER_VARIABLE]: this.#marker });
    this.#child.on("message", (message: FromPlugin) => this.#receive(message));
    this.#child.once("error", (error) => this.#stop(`its process could not be started (${messageOf(error)})`));
    this.#child.once("exit", (code, signal) => {
      const ended = (): void => {
        this.#stop(`its process ended (${signal ?? `exit code ${code}`}), perhaps for lack of memory`);
        this.#ended.resolve();
      };
      // Its last message, which names the reason, may come after its exit.
      if (this.#child.connected) this.#child.once("disconnect", ended);
      else ended();
    });
    this.#starting = setTimeout(
      () => this.#stop(`register(ctx) did not end within ${timeouts.start / 1_000} s`),
      timeouts.start,
    );
    this.#send({ type: "start", entry, config });
    this.#child.unref();
  }

  /** Calls a handler. Rejects with an Error in one line when it throws, and with the signal's reason after a cancel. */
  async call({ handler, input, facts, subject, timeoutMs, signal, onShow }: PluginCallRequest): Promise<unknown> {
    signal.throwIfAborted();
    if (this.#stopped !== undefined) throw new Error(`The plugin is off: ${this.#stopped}.`);
    this.#calls += 1;
    const id = this.#calls;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const overdue = (): void => this.#stop(`${subject} did not answer within ${timeoutMs / 1_000} s`);
    this.#running.set(id, { resolve, reject, onShow, timer: setTimeout(overdue, timeoutMs) });
    this.#child.channel?.ref();
    const cancel = (): void => this.#cancel(id, subject, signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    this.#send({ type: "call", id, handler, input, facts });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Ends the process and the programs that it started. */
  async end(): Promise<void> {
    if (this.#stopped === undefined) {
      this.#stopped = "it was switched off";
      this.#close();
    }
    this.#child.ref(); // its exit settles the promise
    await Promise.all([this.#ended.promise, this.#programsEnded]);
  }

  /** The call is over for its caller at once; its entry stays until the thread acknowledges the cancel. */
  #cancel(id: number, subject: string, reason: unknown): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.reject(reason);
    clearTimeout(running.timer);
    const stuck = (): void => this.#stop(`${subject} did not react to its cancel`);
    running.timer = setTimeout(stuck, this.#options.timeouts.cancel);
    this.#send({ type: "cancel", id });
  }

  #receive(message: FromPlugin): void {
    switch (message.type) {
      case "registered":
        clearTimeout(this.#starting);
        if (this.#running.size === 0) this.#child.channel?.unref();
        this.#registered.resolve(message.registrations);
        return;
      case "result":
        this.#take(message.id)?.resolve(JSON.parse(message.json));
        return;
      case "failure":
        this.#take(message.id)?.reject(new Error(message.message));
        return;
      case "cancelled":
        this.#take(message.id);
        return;
      case "show":
        this.#running.get(message.id)?.onShow?.(message.text);
        return;
      case "log":
        this.#options.log(message.line);
        return;
      case "stopped":
        this.#stop(message.reason);
        return;
    }
  }

  #take(id: number): Running | undefined {
    const running = this.#running.get(id);
    clearTimeout(running?.timer);
    this.#running.delete(id);
    if (this.#running.size === 0) this.#child.channel?.unref();
    return running;
  }

  #stop(reason: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#close();
    this.#options.onStopped(reason);
  }

  #close(): void {
    const error = new Error(`The plugin is off: ${this.#stopped}.`);
    clearTimeout(this.#starting);
    this.#registered.reject(error);
    for (const id of [...this.#running.keys()]) this.#take(id)?.reject(error);
    const { pid } = this.#child;
    if (pid === undefined) {
      this.#ended.resolve();
      return;
    }
    endProcess(this.#child);
    this.#programsEnded = killTree({ pid, marker: this.#marker }); // those that left the group
  }

  #send(message: ToPlugin): void {
    this.#child.send(message, () => undefined); // the process may have ended; its exit is handled
  }
}

/** Use of a plugin's process by one session. */
export type PluginLease = {
  readonly connection: PluginConnection;
  /** Ends the process when no other session uses it. */
  leave(): Promise<void>;
};

type Shared = { readonly connection: PluginConnection; readonly users: Set<(reason: string) => void> };

/** Running plugins of this process. A process takes 20 MB, so sessions share those with the same code and settings. */
const shared = new Map<string, Shared>();

/** `isFresh`: the plugin may have changed, so a new process starts. */
export function leasePlugin(options: PluginConnectionOptions, isFresh: boolean): PluginLease {
  const { entry, config, environment, onStopped } = options;
  const key = JSON.stringify([entry, config, environment]);
  const used = (isFresh ? undefined : shared.get(key)) ?? share(key, options);
  const { connection, users } = used;
  const user = (reason: string): void => onStopped(reason);
  users.add(user);
  return {
    connection,
    async leave() {
      users.delete(user);
      if (users.size > 0) return;
      if (shared.get(key) === used) shared.delete(key);
      await connection.end();
    },
  };
}

function share(key: string, options: PluginConnectionOptions): Shared {
  const users: Shared["users"] = new Set();
  const stopped = (reason: string): void => {
    if (shared.get(key) === made) shared.delete(key);
    for (const user of users) user(reason);
  };
  const made: Shared = { users, connection: new PluginConnection({ ...options, onStopped: stopped }) };
  shared.set(key, made);
  return made;
}

/** Path of the process's script in the bundle, relative to this module's chunk; absent when the sources run. */
declare const __PLUGIN_PROCESS__: string | undefined;

function startProcess(cwd: string, environment: Readonly<Record<string, string>>): ChildProcess {
  const script = typeof __PLUGIN_PROCESS__ === "string" ? __PLUGIN_PROCESS__ : "./plugin-process.ts";
  const isElectron = process.versions["electron"] !== undefined;
  return fork(fileURLToPath(new URL(script, import.meta.url)), {
    cwd,
    env: { ...environment, ...(isElectron && { ELECTRON_RUN_AS_NODE: "1" }) },
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    detached: process.platform !== "win32", // a group of its own
  });
}

function endProcess(child: ChildProcess): void {
  try {
    if (process.platform !== "win32" && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // it has ended already
  }
}
