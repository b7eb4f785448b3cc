/** A page of the browser: its loading, dialogs, console and crash, and the refs of its elements. */
import { setTimeout as delay } from "node:timers/promises";
import type { Protocol } from "devtools-protocol";
import { oneLine } from "../platform/one-line.ts";
import {
  type CommandName,
  type CommandParams,
  type CommandResult,
  type DevTools,
  type EventName,
  type EventParams,
  Lost,
} from "./devtools.ts";

/** A page counts as settled after this time without a request. Milliseconds. */
const IDLE_MS = 150;
const POLL_MS = 15;
/** Limit of waiting for requests after the page has loaded: some pages poll for ever. Milliseconds. */
const REQUESTS_MS = 3_000;
/** A page that opens more dialogs in one call is ended. */
const MAX_DIALOGS = 10;
/** Console lines that are kept, and the most of one page: a page can print without end. */
const CONSOLE_LINES = 200;
const MAX_CONSOLE_EVENTS = 5_000;
const LINE_CHARS = 500;
/** Requests without an end. */
const ENDLESS: readonly Protocol.Network.ResourceType[] = ["EventSource", "WebSocket", "Ping", "Media", "Prefetch"];

/** `answer`: `accept`, or the text for a prompt; default: dismissed. `isLeaving`: the call leaves the page in any case. */
export type DialogAnswers = { readonly answer?: string | undefined; readonly isLeaving: boolean };

export class Page {
  readonly session: string;
  readonly targetId: string;
  readonly #devtools: DevTools;
  readonly #note: (text: string) => void;
  /** Reason why the page has ended. */
  #ended: Error | undefined;
  /** Each rejects one wait that the end of the page ends. */
  readonly #waits = new Set<(reason: Error) => void>();
  /** Address of the page. */
  url = "about:blank";
  /** Answers to the dialogs of the running call. */
  #answers: DialogAnswers = { isLeaving: false };
  #dialogs = 0;
  #isLoading: boolean;
  readonly #requests = new Set<string>();
  #lastActivity = 0;
  #console: string[] = [];
  #consoleEvents = 0;
  /** Elements by ref, and refs by the browser's id. A navigation does not restart the numbers, so an old ref is never reused. */
  readonly #elements = new Map<string, number>();
  readonly #refs = new Map<number, string>();
  #refCount: number;

  /**
   * `firstRef`: number of the first ref, so that the refs of several pages differ. `isLoading`: the page has an address to
   * load. The browser reports only the end of this first load.
   */
  constructor(
    devtools: DevTools,
    target: {
      readonly session: string;
      readonly targetId: string;
      readonly firstRef: number;
      readonly isLoading: boolean;
    },
    note: (text: string) => void,
  ) {
    this.#devtools = devtools;
    this.session = target.session;
    this.targetId = target.targetId;
    this.#refCount = target.firstRef;
    this.#isLoading = target.isLoading;
    this.#note = note;
    this.#listen();
  }

  /** Rejects like `DevTools.send`, and when the page has crashed or was closed. */
  send<Name extends CommandName>(
    method: Name,
    params?: CommandParams<Name>,
    timeoutMs?: number,
  ): Promise<CommandResult<Name>> {
    return this.#whileOpen(this.#devtools.send(method, params, { session: this.session, timeoutMs }));
  }

  /** Settles as `work`, or rejects at the end of the page. A race with one promise of the page would keep every answer in memory. */
  async #whileOpen<Value>(work: Promise<Value>): Promise<Value> {
    work.catch(() => undefined); // after the end of the page, nobody waits for it
    if (this.#ended !== undefined) throw this.#ended;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#waits.add(reject);
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#waits.delete(reject);
    }
  }

  /** Prepares a new page, and lets it run. A waiting page answers some commands only then, so all are sent at once. */
  async open(): Promise<void> {
    const buffers = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };
    await Promise.all([
      this.send("Inspector.enable"),
      this.send("Page.enable"),
      this.send("Runtime.enable"),
      this.send("Log.enable"),
      this.send("Network.enable", buffers),
      this.send("Page.setInterceptFileChooserDialog", { enabled: true }),
      this.send("Runtime.runIfWaitingForDebugger"),
    ]);
  }

  /** Asks an address that wants a user. The browser keeps the answer, also for its other pages. */
  async signIn(url: string, user: { readonly username: string; readonly password: string }): Promise<void> {
    const ignore = (): void => undefined; // the page has ended, and the request with it
    this.#on("Fetch.requestPaused", ({ requestId }) => {
      this.send("Fetch.continueRequest", { requestId }).catch(ignore);
    });
    this.#on("Fetch.authRequired", ({ requestId }) => {
      const authChallengeResponse = { response: "ProvideCredentials", ...user } as const;
      this.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(ignore);
    });
    await this.send("Fetch.enable", { handleAuthRequests: true });
    const expression = `fetch(${JSON.stringify(url)}, { mode: "no-cors" })`;
    const { exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true });
    if (exceptionDetails !== undefined) throw new Error("the sign-in to the proxy failed");
    await this.send("Fetch.disable");
  }

  /** Rejects all running and later commands with `reason`. */
  end(reason: Error): void {
    this.#ended ??= reason;
    for (const reject of this.#waits) reject(this.#ended);
    this.#devtools.forget(this.session);
  }

  /** Begins a call of a tool. */
  begin(answers: DialogAnswers): void {
    this.#answers = answers;
    this.#dialogs = 0;
  }

  /**
   * Waits until the page has loaded and sends no requests for a moment. Call it after an action: on a busy machine what a
   * click begins comes later than the click's own answer. Resolves with false after `limitMs`.
   */
  async settle(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const start = performance.now();
    let loadedAt = start;
    this.#lastActivity = start;
    for (;;) {
      const now = performance.now();
      if (this.#isLoading) loadedAt = now;
      const isIdle = this.#requests.size === 0 && now - this.#lastActivity >= IDLE_MS;
      if (!this.#isLoading && (isIdle || now - loadedAt >= REQUESTS_MS)) return true;
      if (now - start >= limitMs) return false;
      await this.#whileOpen(delay(POLL_MS, undefined, { signal }));
    }
  }

  get refCount(): number {
    return this.#refCount;
  }

  refOf(backendId: number): string {
    const known = this.#refs.get(backendId);
    if (known !== undefined) return known;
    this.#refCount += 1;
    const ref = `@e${this.#refCount}`;
    this.#refs.set(backendId, ref);
    this.#elements.set(ref, backendId);
    return ref;
  }

  /** The browser's id of the element; undefined for a ref of no snapshot of this document. */
  elementOf(ref: string): number | undefined {
    return this.#elements.get(ref.startsWith("@") ? ref : `@${ref}`);
  }

  takeConsole(isCleared: boolean): readonly string[] {
    const lines = this.#console;
    if (isCleared) this.#console = [];
    return lines;
  }

  #on<Name extends EventName>(event: Name, listener: (params: EventParams<Name>) => void): void {
    this.#devtools.on(event, listener, this.session);
  }

  #listen(): void {
    this.#on("Inspector.targetCrashed", () => this.end(new Lost("the page crashed")));
    this.#on("Page.javascriptDialogOpening", (dialog) => this.#answerDialog(dialog));
    this.#on("Page.fileChooserOpened", () =>
      this.#note("The page asked for a file. Nothing was chosen: these tools upload no files."),
    );
    this.#on("Page.frameStartedLoading", ({ frameId }) => this.#setLoading(frameId, true));
    this.#on("Page.frameStoppedLoading", ({ frameId }) => this.#setLoading(frameId, false));
    this.#on("Page.frameNavigated", ({ frame }) => {
      if (frame.parentId === undefined) this.#navigated(frame.url);
    });
    this.#on("Page.navigatedWithinDocument", ({ frameId, url }) => {
      if (frameId === this.targetId) this.url = url;
    });
    this.#on("Network.requestWillBeSent", ({ requestId, type = "Other", frameId, request }) => {
      // A frame of another site reports the end of its document elsewhere.
      const isForeign = type === "Document" && frameId !== this.targetId;
      if (isForeign || ENDLESS.includes(type) || !/^https?:/.test(request.url)) return;
      this.#requests.add(requestId);
      this.#lastActivity = performance.now();
    });
    this.#on("Network.loadingFinished", ({ requestId }) => this.#finished(requestId));
    this.#on("Network.loadingFailed", ({ requestId }) => this.#finished(requestId));
    this.#on("Runtime.consoleAPICalled", ({ type, args }) => {
      const texts = args.map(({ value, description, unserializableValue }) =>
        value === undefined ? (description ?? unserializableValue ?? "undefined") : textOf(value),
      );
      this.#log(type, texts.join(" "));
    });
    this.#on("Runtime.exceptionThrown", ({ exceptionDetails: { text, exception } }) =>
      this.#log("exception", exception?.description ?? text),
    );
    this.#on("Log.entryAdded", ({ entry: { level, text, url } }) => this.#log(level, [text, url].join(" ").trim()));
  }

  #answerDialog({ type, message, defaultPrompt = "" }: Protocol.Page.JavascriptDialogOpeningEvent): void {
    this.#dialogs += 1;
    this.#lastActivity = performance.now();
    const { answer, isLeaving } = this.#answers;
    const isAccepted = type === "beforeunload" ? isLeaving || answer !== undefined : answer !== undefined;
    const promptText = answer === undefined || answer === "accept" ? defaultPrompt : answer;
    this.send("Page.handleJavaScriptDialog", { accept: isAccepted, promptText }).catch(() => undefined); // closed by itself
    this.#note(dialogNote(type, message, { isAccepted, promptText }));
    if (this.#dialogs > MAX_DIALOGS) this.end(new Lost("the page opens dialogs without end"));
  }

  #setLoading(frameId: string, isLoading: boolean): void {
    if (frameId !== this.targetId) return;
    this.#isLoading = isLoading;
    this.#lastActivity = performance.now();
  }

  #navigated(url: string): void {
    this.url = url;
    this.#elements.clear();
    this.#refs.clear();
    this.#requests.clear();
    this.#lastActivity = performance.now();
    if (this.#consoleEvents >= MAX_CONSOLE_EVENTS) void this.#recordConsole();
    this.#consoleEvents = 0;
    this.#console = [];
  }

  #finished(requestId: string): void {
    if (this.#requests.delete(requestId)) this.#lastActivity = performance.now();
  }

  #log(level: string, text: string): void {
    this.#consoleEvents += 1;
    if (this.#consoleEvents > MAX_CONSOLE_EVENTS) return;
    this.#console.push(`[${level}] ${oneLine(text.slice(0, LINE_CHARS * 2), LINE_CHARS)}`);
    if (this.#console.length > CONSOLE_LINES) this.#console.shift();
    if (this.#consoleEvents < MAX_CONSOLE_EVENTS) return;
    this.#console.push("[…] The page prints without end: later lines are not recorded.");
    for (const method of ["Runtime.disable", "Log.disable"] as const) this.send(method).catch(() => undefined);
  }

  async #recordConsole(): Promise<void> {
    await Promise.all([this.send("Runtime.enable"), this.send("Log.enable")]).catch(() => undefined); // the page has ended
  }
}

function dialogNote(
  type: string,
  message: string,
  { isAccepted, promptText }: { readonly isAccepted: boolean; readonly promptText: string },
): string {
  const text = `Dialog (${type}): ${JSON.stringify(oneLine(message, LINE_CHARS))}`;
  if (type === "alert") return `${text}. It was closed.`;
  if (!isAccepted) return `${text}. It was dismissed; to accept it, repeat the action with \`dialog\`.`;
  return type === "prompt" ? `${text}. Answered: ${JSON.stringify(promptText)}.` : `${text}. It was accepted.`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
