/** A page of the browser: its loading, dialogs, console and end, and the refs of its elements. */
import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Dialog, Page as Driver, Locator, Request } from "playwright-core";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";

/** A page counts as settled after this time without a request. Milliseconds. */
const IDLE_MS = 150;
const POLL_MS = 15;
/** Limit of waiting for requests after the page has loaded: some pages poll for ever. Milliseconds. */
const REQUESTS_MS = 3_000;
/** A page that is busy for longer does not respond to people either. Milliseconds. */
const RESPONSE_MS = 15_000;
/** A page that opens more dialogs in one call is ended. */
const MAX_DIALOGS = 10;
/** Console lines that are kept, and the most of one page: a page can print without end. */
const CONSOLE_LINES = 200;
const MAX_CONSOLE_EVENTS = 5_000;
const LINE_CHARS = 500;
/** Requests without an end. */
const ENDLESS = ["eventsource", "websocket", "ping", "media", "prefetch"];

/** The browser is no longer usable. */
export class Lost extends Error {}

/** The page did not answer in time. */
export class Unresponsive extends Lost {}

/** The tab was closed, or the browser with it. */
export class Closed extends Error {}

/** `answer`: `accept`, or the text for a prompt; default: dismissed. `isLeaving`: the call leaves the page in any case. */
export type DialogAnswers = { readonly answer?: string | undefined; readonly isLeaving: boolean };

/** Numbers for refs; shared by the pages of a browser, so that no ref ever names two elements. */
export type RefCounter = { last: number };

export class Page {
  readonly driver: Driver;
  #devtools: Promise<CDPSession> | undefined;
  readonly #note: (text: string) => void;
  readonly #counter: RefCounter;
  /** Reason why the page has ended. */
  #ended: Error | undefined;
  /** Each rejects one wait that the end of the page ends. */
  readonly #waits = new Set<(reason: Error) => void>();
  /** Answers to the dialogs of the running call. */
  #answers: DialogAnswers = { isLeaving: false };
  #dialogs = 0;
  readonly #requests = new Set<Request>();
  #lastActivity = 0;
  #console: string[] = [];
  #consoleEvents = 0;
  /** Playwright's refs by ours, and ours by Playwright's, which begin anew in each document. */
  readonly #elements = new Map<string, string>();
  readonly #refs = new Map<string, string>();

  constructor(driver: Driver, counter: RefCounter, note: (text: string) => void) {
    this.driver = driver;
    this.#counter = counter;
    this.#note = note;
    driver.setDefaultTimeout(RESPONSE_MS);
    this.#listen();
  }

  get url(): string {
    return this.driver.url();
  }

  /** The page's DevTools protocol, for what Playwright has no function. */
  devtools(): Promise<CDPSession> {
    this.#devtools ??= this.driver.context().newCDPSession(this.driver);
    return this.ask(this.#devtools);
  }

  /** Settles as `work`. Rejects when the page has ended, and with `Unresponsive` after the timeout. */
  async ask<Value>(work: Promise<Value>, timeoutMs: number = RESPONSE_MS): Promise<Value> {
    work.catch(() => undefined); // after the end of the page, nobody waits for it
    if (this.#ended !== undefined) throw this.#ended;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#waits.add(reject);
    const timer = setTimeout(
      () => reject(new Unresponsive(`the page does not respond within ${timeoutMs / 1_000} s`)),
      timeoutMs,
    );
    try {
      return await Promise.race([work, promise]);
    } catch (error) {
      if (/has been closed/.test(messageOf(error))) this.end(new Closed("the page was closed"));
      throw this.#ended ?? error;
    } finally {
      clearTimeout(timer);
      this.#waits.delete(reject);
    }
  }

  /** Rejects all running and later work with `reason`. */
  end(reason: Error): void {
    this.#ended ??= reason;
    for (const reject of this.#waits) reject(this.#ended);
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
    let loadedAt: number | undefined;
    this.#lastActivity = start;
    for (;;) {
      const now = performance.now();
      if (now - start >= limitMs) return false;
      const isLoaded = await this.#hasLoaded(limitMs - (now - start), signal);
      if (!isLoaded) return false;
      loadedAt ??= performance.now();
      const isIdle = this.#requests.size === 0 && performance.now() - this.#lastActivity >= IDLE_MS;
      if (isIdle || performance.now() - loadedAt >= REQUESTS_MS) return true;
      await this.ask(delay(POLL_MS, undefined, { signal }));
    }
  }

  async #hasLoaded(timeout: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.ask(this.driver.waitForLoadState("load", { timeout, signal }), timeout + RESPONSE_MS);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (/Timeout .* exceeded/.test(messageOf(error))) return false;
      throw error;
    }
  }

  /** Our ref of an element: `@e1`. `driverRef`: Playwright's. */
  refOf(driverRef: string): string {
    const known = this.#refs.get(driverRef);
    if (known !== undefined) return known;
    this.#counter.last += 1;
    const ref = `@e${this.#counter.last}`;
    this.#refs.set(driverRef, ref);
    this.#elements.set(ref, driverRef);
    return ref;
  }

  /** Undefined for a ref of no snapshot of this document. */
  elementOf(ref: string): Locator | undefined {
    const driverRef = this.#elements.get(ref.startsWith("@") ? ref : `@${ref}`);
    return driverRef === undefined ? undefined : this.driver.getByRef(driverRef);
  }

  takeConsole(isCleared: boolean): readonly string[] {
    const lines = this.#console;
    if (isCleared) this.#console = [];
    return lines;
  }

  #listen(): void {
    const { driver } = this;
    driver.on("crash", () => this.end(new Lost("the page crashed")));
    driver.on("dialog", (dialog) => this.#answerDialog(dialog));
    driver.on("filechooser", () =>
      this.#note("The page asked for a file. Nothing was chosen: these tools upload no files."),
    );
    driver.on("framenavigated", (frame) => {
      if (frame === driver.mainFrame()) this.#requests.clear();
      this.#lastActivity = performance.now();
    });
    driver.on("request", (request) => {
      if (ENDLESS.includes(request.resourceType()) || !/^https?:/.test(request.url())) return;
      if (request.isNavigationRequest()) this.#leave(request.frame() === driver.mainFrame());
      this.#requests.add(request);
      this.#lastActivity = performance.now();
    });
    driver.on("requestfinished", (request) => this.#finished(request));
    driver.on("requestfailed", (request) => this.#finished(request));
    driver.on("console", (message) => this.#log(message.type(), message.text()));
    driver.on("pageerror", (error) => this.#log("exception", error.stack ?? String(error)));
  }

  /** A new document begins: Playwright's refs may name other elements of it. */
  #leave(isMainFrame: boolean): void {
    for (const [driverRef, ref] of this.#refs) {
      if (!isMainFrame && !driverRef.startsWith("f")) continue;
      this.#refs.delete(driverRef);
      this.#elements.delete(ref);
    }
    if (!isMainFrame) return;
    this.#consoleEvents = 0;
    this.#console = [];
  }

  #answerDialog(dialog: Dialog): void {
    this.#dialogs += 1;
    this.#lastActivity = performance.now();
    const { answer, isLeaving } = this.#answers;
    const isAccepted = dialog.type() === "beforeunload" ? isLeaving || answer !== undefined : answer !== undefined;
    const promptText = answer === undefined || answer === "accept" ? dialog.defaultValue() : answer;
    const answering = isAccepted ? dialog.accept(promptText) : dialog.dismiss();
    answering.catch(() => undefined); // closed by itself
    this.#note(dialogNote(dialog, { isAccepted, promptText }));
    if (this.#dialogs > MAX_DIALOGS) this.end(new Lost("the page opens dialogs without end"));
  }

  #finished(request: Request): void {
    if (this.#requests.delete(request)) this.#lastActivity = performance.now();
  }

  #log(level: string, text: string): void {
    this.#consoleEvents += 1;
    if (this.#consoleEvents > MAX_CONSOLE_EVENTS) return;
    this.#console.push(`[${level}] ${oneLine(text.slice(0, LINE_CHARS * 2), LINE_CHARS)}`);
    if (this.#console.length > CONSOLE_LINES) this.#console.shift();
    if (this.#consoleEvents === MAX_CONSOLE_EVENTS) {
      this.#console.push("[…] The page prints without end: later lines are not recorded.");
    }
  }
}

function dialogNote(
  dialog: Dialog,
  { isAccepted, promptText }: { readonly isAccepted: boolean; readonly promptText: string },
): string {
  const text = `Dialog (${dialog.type()}): ${JSON.stringify(oneLine(dialog.message(), LINE_CHARS))}`;
  if (dialog.type() === "alert") return `${text}. It was closed.`;
  if (!isAccepted) return `${text}. It was dismissed; to accept it, repeat the action with \`dialog\`.`;
  return dialog.type() === "prompt" ? `${text}. Answered: ${JSON.stringify(promptText)}.` : `${text}. It was accepted.`;
}
