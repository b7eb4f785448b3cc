/** The process of one adapter, seen from the gateway: starts it, calls it, and starts it again when it ends. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../agent-core/platform/clock.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { Sender } from "../outbox/outbox.ts";
import type { PlatformSettings } from "../settings.ts";
import { failed, type Incoming, incoming, type Limits, type OutgoingFile, type Sent } from "./adapter.ts";
import type { AdapterMethod, FromAdapter, ToAdapter } from "./adapter-messages.ts";

/** Longest time of a call. Milliseconds. */
const CALL_MS = 90_000;
/** Pauses before a start, which double; after `MAX_PAUSE_MS` the status says why. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;
/** Longest time for the end of the process. Milliseconds. */
const STOP_MS = 3_000;

export type LinkState =
  | { readonly kind: "starting" | "connected" }
  | { readonly kind: "waiting" | "failed"; readonly reason: string };

export type AdapterLinkOptions = {
  readonly platform: PlatformSettings;
  readonly clock: Clock;
  readonly saved: () => string | undefined;
  readonly receives: boolean;
  /** Stores an event. Throws when it cannot be stored: the platform keeps it then. */
  readonly onEvent: (event: Incoming) => void;
  readonly onSave: (state: string) => void;
  readonly onState: (state: LinkState) => void;
  readonly log: (line: string) => void;
};

/** Path of the process's script in the bundle, relative to this module's chunk; absent when the sources run. */
declare const __ADAPTER_PROCESS__: string | undefined;

type Result = Extract<FromAdapter, { type: "result" }>["value"];

export class AdapterLink {
  readonly #options: AdapterLinkOptions;
  readonly #calls = new Map<number, { resolve(value: Result): void; reject(error: Error): void }>();
  readonly #made = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #limits: Limits | undefined;
  #methods: readonly AdapterMethod[] = [];
  #state: LinkState = { kind: "starting" };
  #count = 0;
  #pauseMs = FIRST_PAUSE_MS;
  readonly #ended = new AbortController();

  constructor(options: AdapterLinkOptions) {
    this.#options = options;
    this.#start();
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Settles when the adapter was made, or failed for good. */
  get made(): Promise<void> {
    return this.#made.promise;
  }

  /** Undefined before the adapter can send. */
  get sender(): Sender | undefined {
    const limits = this.#limits;
    const isReady = this.#options.receives ? this.#state.kind === "connected" : limits !== undefined;
    if (limits === undefined || !isReady) return undefined;
    return {
      limits,
      send: (chat, message) => this.#sent("send", chat, message),
      edit: (chat, id, message) => this.#sent("edit", chat, id, message),
      ...(this.#methods.includes("stream") && {
        stream: (chat, id, message) => this.#sent("stream", chat, id, message),
      }),
      sendFile: (chat, file: OutgoingFile) => this.#sent("sendFile", chat, file),
    };
  }

  canEdit(): boolean {
    return this.#limits?.editMs !== undefined && this.#methods.includes("edit");
  }

  get limits(): Limits | undefined {
    return this.#limits;
  }

  /** Rejects with an Error in one line. */
  async fetchFile(ref: string): Promise<Uint8Array> {
    const bytes = await this.#call("fetchFile", [ref]);
    if (bytes instanceof Uint8Array) return bytes;
    throw new Error("the adapter gave no file");
  }

  typing(chat: string): void {
    if (this.#methods.includes("typing")) this.#call("typing", [chat]).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#ended.abort(new Error("the gateway ended"));
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once("exit", resolve));
    this.#post({ type: "stop" });
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exit;
    clearTimeout(timer);
  }

  #start(): void {
    const { platform, saved, receives, log } = this.#options;
    const script = typeof __ADAPTER_PROCESS__ === "string" ? __ADAPTER_PROCESS__ : "./adapter-process.ts";
    const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
      env: environmentOf(process.env),
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child = child;
    this.#change({ kind: "starting" });
    // A library's warning may hold a user's text or the token.
    child.stderr?.resume();
    child.on("message", (message: FromAdapter) => this.#receive(message));
    child.once("error", (error) => log(`${platform.name}: its process could not be started (${messageOf(error)})`));
    child.once("exit", (code, signal) => this.#exited(`its process ended (${signal ?? `exit code ${code}`})`));
    const { name, module, adapter } = platform;
    const which = module === undefined ? { name } : { module };
    this.#post({ type: "start", adapter: which, settings: adapter, saved: saved(), receives });
  }

  #receive(message: FromAdapter): void {
    const { onSave, onEvent, log, platform } = this.#options;
    if (this.#state.kind === "failed") return;
    switch (message.type) {
      case "made":
        this.#limits = message.limits;
        this.#methods = message.methods;
        this.#made.resolve();
        return;
      case "connected":
        this.#pauseMs = FIRST_PAUSE_MS;
        this.#change({ kind: "connected" });
        return;
      case "failed":
        this.#failed(message.kind, message.reason);
        return;
      case "event": {
        const parsed = incoming.safeParse(message.event);
        try {
          if (parsed.success) onEvent(parsed.data);
          else log(`${platform.name}: an event of the adapter has another form and was left out`);
        } catch (error) {
          log(`${platform.name}: an event could not be stored (${messageOf(error)})`);
          this.#child?.kill("SIGKILL"); // the next process asks the platform for it again
          return;
        }
        this.#post({ type: "stored", id: message.id });
        return;
      }
      case "save":
        onSave(message.state);
        return;
      case "log":
        log(`${platform.name}: ${message.line}`);
        return;
      case "result":
        this.#calls.get(message.id)?.resolve(message.value);
        return;
      case "error":
        this.#calls.get(message.id)?.reject(new Error(message.reason));
        return;
    }
  }

  #failed(kind: "unauthorized" | "conflict" | "unusable" | "unreachable", reason: string): void {
    this.#made.resolve();
    if (kind === "unreachable") {
      this.#child?.kill("SIGKILL");
      this.#change({ kind: "waiting", reason });
      return;
    }
    this.#ended.abort(new Error(reason));
    this.#child?.kill("SIGKILL");
    this.#change({ kind: "failed", reason: kind === "unauthorized" ? `the token does not count (${reason})` : reason });
  }

  #exited(reason: string): void {
    for (const { reject } of this.#calls.values()) reject(new Error(reason));
    this.#calls.clear();
    if (this.#ended.signal.aborted) return;
    const known = this.#state.kind === "waiting" ? this.#state.reason : reason;
    this.#change({ kind: "waiting", reason: known });
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(pause * 2, MAX_PAUSE_MS);
    this.#options.clock.wait(pause, this.#ended.signal).then(
      () => this.#start(),
      () => undefined, // the gateway ends
    );
  }

  #change(state: LinkState): void {
    this.#state = state;
    this.#options.onState(state);
  }

  async #sent(method: AdapterMethod, ...args: readonly unknown[]): Promise<Sent> {
    if (method !== "send" && !this.#methods.includes(method)) return failed("refused", `the platform has no ${method}`);
    try {
      return (await this.#call(method, args)) as Sent; // of the same version of the contract
    } catch (error) {
      return failed("unknown", messageOf(error));
    }
  }

  #call(method: AdapterMethod, args: readonly unknown[]): Promise<Result> {
    this.#count += 1;
    const id = this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#calls.set(id, { resolve, reject });
    const timer = setTimeout(() => {
      reject(new Error(`${method} did not end within ${CALL_MS / 1_000} s`));
      this.#child?.kill("SIGKILL");
    }, CALL_MS);
    this.#post({ type: "call", id, method, args });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#calls.delete(id);
    });
  }

  #post(message: ToAdapter): void {
    if (this.#child?.connected === true) this.#child.send(message, () => undefined); // its exit is handled
  }
}

/** Variables of the system and of proxies; an adapter gets those of its own platform with its settings. */
function environmentOf(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const shared =
    /^(?:PATH|HOME|TMPDIR|TEMP|TMP|LANG|LC_\w+|TZ|SystemRoot|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:https?|all|no)_proxy)$/i;
  const own = Object.fromEntries(Object.entries(all).filter(([name]) => shared.test(name)));
  return { ...own, NODE_USE_ENV_PROXY: "1" };
}
