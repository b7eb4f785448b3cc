/** Browser of a session. It starts with the first call, has one call at a time, and ends with the session. */
import { sectionDefault } from "../config/section-defaults.ts";
import { messageOf } from "../platform/errors.ts";
import type { Browser } from "./browser.ts";
import type { BrowserSettings } from "./find-browser.ts";

export class SessionBrowser {
  readonly #settings: BrowserSettings;
  readonly #folder: () => string;
  #browser: Promise<Browser> | undefined;
  #running: Browser | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #isClosed: boolean = false;

  /** `folder`: returns the session's folder for downloads and long snapshots, absolute. */
  constructor(settings: BrowserSettings, folder: () => string) {
    this.#settings = settings;
    this.#folder = folder;
  }

  /** Address of the open page; undefined without one. */
  get address(): string | undefined {
    return this.#running?.url;
  }

  /**
   * Runs `work` after all earlier work. Starts the browser when `canStart`. Rejects with an error for the model. A crash or a
   * page that does not respond ends the browser.
   */
  async use<Value>(work: (browser: Browser) => Promise<Value>, canStart = false): Promise<Value> {
    const turn = this.#last.then(() => this.#use(work, canStart));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Ends the browser. Resolves with false when none ran. */
  async end(): Promise<boolean> {
    clearTimeout(this.#idle);
    const starting = this.#browser;
    this.#browser = undefined;
    this.#running = undefined;
    const browser = await starting?.catch(() => undefined); // a failed start has ended by itself
    await browser?.end();
    return browser !== undefined;
  }

  /** Ends the browser with the session. No later call starts one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end();
  }

  async #use<Value>(work: (browser: Browser) => Promise<Value>, canStart: boolean): Promise<Value> {
    clearTimeout(this.#idle);
    if (!canStart && this.#browser === undefined) throw new Error("No page is open. Call browser_navigate first.");
    const browser = await this.#started();
    try {
      return await work(browser);
    } catch (error) {
      if (browser.isUsable(error)) throw error;
      await this.end();
      throw new Error(`${messageOf(error)}. The browser was closed; browser_navigate starts a new one.`);
    } finally {
      const { inactivityTimeout = sectionDefault("browser").inactivityTimeout } = this.#settings;
      this.#idle = setTimeout(() => void this.end(), inactivityTimeout * 1_000).unref();
    }
  }

  async #started(): Promise<Browser> {
    if (this.#isClosed) throw new Error("The session has ended.");
    this.#browser ??= this.#start();
    try {
      this.#running = await this.#browser;
      return this.#running;
    } catch (error) {
      this.#browser = undefined;
      throw error;
    }
  }

  async #start(): Promise<Browser> {
    const { Browser } = await import("./browser.ts");
    return Browser.start(this.#settings, this.#folder());
  }
}
